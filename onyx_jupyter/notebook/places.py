"""Notebooks as files of a server: how a path is spelled, and how one is taken away."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onyx_jupyter.errors import NotebookError


async def _cannot_remove(path: str) -> None:
    raise NotebookError("not_removed", f"{path} cannot be removed from here.")


@dataclass(frozen=True)
class NotebookPlaces:
    """Notebooks as files: the one spelling of a path, and how a file is taken away (NotebookError where it is not).

    `path_now` leads from a former path of a renamed notebook to the one that it has.
    """

    canonical: Callable[[str], str] = str
    remove: Callable[[str], Awaitable[None]] = _cannot_remove
    path_now: Callable[[str], Awaitable[str]] | None = None
