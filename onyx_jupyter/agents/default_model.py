"""Picks the model that answers if neither the user nor the configuration chose one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes, recommended
from onyx_jupyter.providers.local_files.storage_folders import find_file

NO_MODEL = ""
"""The model id used when no model can answer."""


class DefaultModel:
    """Picks among this machine's models. Files come and go, so they are looked up each time.

    `free_bytes` is the memory that was free at the start: a running model must not, by the memory it takes, make a
    smaller one the default.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        free_bytes: int,
        *,
        is_allowed: bool = True,
        catalogue: Sequence[CatalogueModel] = CATALOGUE,
    ) -> None:
        """`is_allowed`: whether this server's administrator allows local models."""
        self._folders = folders
        self._catalogue = catalogue if is_allowed else ()
        self._recommended = recommended(free_bytes, self._catalogue)

    @property
    def id(self) -> str:
        """The recommended model if its file exists, else the best one whose file does, else `NO_MODEL`."""
        there = [model for model in self._catalogue if find_file(model, self._folders) is not None]
        if self._recommended in there:
            there = [self._recommended]
        return there[0].id if there else NO_MODEL

    def missing(self) -> ModelError:
        """The error that says in one line what works without a model, and how to get one."""
        ways = ["search", "run skills from their forms", "connect a provider and choose a model"]
        if self._recommended is not None:
            ways.append(f"download {_with_size(self._recommended)}")
        line = f"No model is set up yet. You can {', '.join(ways[:-1])}, or {ways[-1]}."
        return ModelError("no_model", line, permanent=True)


def _with_size(model: CatalogueModel) -> str:
    return f"{model.title} ({megabytes(model.size_bytes)})"
