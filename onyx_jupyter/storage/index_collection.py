"""Defines the collections of the index, as tables of LanceDB."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from onyx_jupyter.storage.index_schema import cache_schema, chunk_schema
from onyx_jupyter.storage.lance_collection import LanceCollection


def chunk_collection(folder: Path, name: str, *, on_emptied: Callable[[str], None]) -> LanceCollection:
    """Chunks of one kind of source, searchable by words and by vector."""
    return LanceCollection(
        folder,
        f"{name}_chunk",
        lambda identity: chunk_schema(identity.dimension if identity else None),
        keys=("source", "path"),
        groups=("agent", "kind"),  # almost every search filters by these
        words="text",
        on_emptied=on_emptied,
    )


def cache_collection(folder: Path) -> LanceCollection:
    """The embedding cache."""
    return LanceCollection(folder, "embedding_cache", lambda _: cache_schema(), keys=("key",))
