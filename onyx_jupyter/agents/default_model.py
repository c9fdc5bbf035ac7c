"""Which model answers where neither a person nor the configuration chose one. It fetches nothing and opens nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel, megabytes, recommended
from onyx_jupyter.providers.local_files.places import find_file

NO_MODEL = ""
"""The id in place of a model where none can answer."""


class DefaultModel:
    """Of the models of this machine. Files come and go, so they are looked for each time.

    `free_bytes` is the memory that was free at the start: a model that runs must not, by what it takes, hand over to a
    smaller one.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        free_bytes: int,
        *,
        is_allowed: bool = True,
        catalogue: Sequence[CatalogueModel] = CATALOGUE,
    ) -> None:
        """`is_allowed`: whether this server's administrator allows models of this machine."""
        self._folders = folders
        self._catalogue = catalogue if is_allowed else ()
        self._recommended = recommended(free_bytes, self._catalogue)

    @property
    def id(self) -> str:
        """The recommended one where its file is there, else the best whose file is, else `NO_MODEL`."""
        there = [model for model in self._catalogue if find_file(model, self._folders) is not None]
        if self._recommended in there:
            there = [self._recommended]
        return there[0].id if there else NO_MODEL

    def missing(self) -> ModelError:
        """What can be done without a model, and how to get one, in one line."""
        ways = ["search", "run skills by form", "connect a provider and choose its model"]
        if self._recommended is not None:
            ways.append(f"fetch {_with_size(self._recommended)}")
        line = f"No model can answer yet: {', '.join(ways[:-1])}, or {ways[-1]}."
        return ModelError("no_model", line, permanent=True)


def _with_size(model: CatalogueModel) -> str:
    return f"{model.title} ({megabytes(model.size_bytes)})"
