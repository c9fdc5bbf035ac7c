"""Notebooks as files of a server: how their paths are spelled and how they are removed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onyx_jupyter.errors import NotebookError


async def _cannot_remove(path: str) -> None:
    raise NotebookError("not_removed", f"{path} cannot be removed from here.")


@dataclass(frozen=True)
class NotebookPlaces:
    """Notebooks as files: the canonical spelling of a path, and how a file is removed (NotebookError on failure).

    `path_now` maps a renamed notebook's former path to its current one.
    """

    canonical: Callable[[str], str] = str
    remove: Callable[[str], Awaitable[None]] = _cannot_remove
    path_now: Callable[[str], Awaitable[str]] | None = None
