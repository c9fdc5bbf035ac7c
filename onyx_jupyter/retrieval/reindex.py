"""Rebuilds an index for another embedder while the old one serves; the caller decides when.

An interrupted rebuild is continued by any server that takes it up.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.retrieval.index_vectors import IndexVectors
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_rows import as_table
from onyx_jupyter.storage.index_schema import chunk_schema
from onyx_jupyter.storage.lance import VECTORS_BEFORE_INDEX
from onyx_jupyter.storage.table_view import NewestView
from onyx_jupyter.storage.thread_executor import SerialExecutor, in_thread

if TYPE_CHECKING:
    from onyx_jupyter.storage.lance import LanceTable
    from onyx_jupyter.storage.lance_collection import FollowingLock, LanceCollection, TableState

_COPIED_ROWS = 256
_log = logging.getLogger(__name__)


class Reindex:
    """`on_progress` gets a description of the work in progress, for the user."""

    def __init__(
        self,
        collection: LanceCollection,
        vectors: IndexVectors,
        writer: SerialExecutor,
        views: NewestView,
        on_progress: Callable[[str], None],
    ) -> None:
        self._collection = collection
        self._vectors = vectors
        self._writer = writer
        self._views = views
        self._on_progress = on_progress

    async def make(self, identity: EmbedderIdentity, lock: FollowingLock) -> bool:
        """Whether the rebuilt index serves now; False if another server has decided otherwise meanwhile.

        Requires the lock. Raises: IndexUnavailable, EmbeddingError.
        """
        following = await self._writer.run(self._collection.begin_following)
        _log.info("Rebuilding the index for the embedder %s/%s.", identity.provider, identity.model)
        while True:
            todo, gone = await asyncio.to_thread(self._differences, following)
            table = self._collection.table(following)
            if gone:
                await asyncio.to_thread(table.delete, among("source", gone))
            if todo:
                await self._copy(todo, following, identity)
            elif not gone:
                await asyncio.to_thread(table.optimise)
                if await asyncio.to_thread(wants_vector_index, table, self._views):
                    await index_vectors(table, lock)
                serves = await self._writer.run(lambda: self._finish(following))
                if serves is not None:
                    return serves

    def _differences(self, following: TableState) -> tuple[dict[str, int], set[str]]:
        """Sources still to be copied, with their row counts, and sources that are gone."""
        serving = self._collection.read(lambda table, _: _versions(table))
        copied = _versions(self._collection.table(following))
        todo = {source: version[2] for source, version in serving.items() if copied.get(source) != version}
        return todo, copied.keys() - serving.keys()

    async def _copy(self, todo: Mapping[str, int], following: TableState, identity: EmbedderIdentity) -> None:
        done, total = 0, sum(todo.values())
        for sources in _batches(todo):
            self._on_progress(f"The index is being rebuilt for another embedder ({done} of {total} passages).")
            where = among("source", sources)
            rows = await asyncio.to_thread(whole_rows, self._collection, where)
            vectors = await self._vectors.of_rows(rows, identity)
            table = self._collection.table(following)
            await asyncio.to_thread(_replace, table, rows, vectors, identity.dimension, where)
            done += len(rows)

    def _finish(self, following: TableState) -> bool | None:
        """None if something was written meanwhile."""
        with self._collection.locked():
            return None if any(self._differences(following)) else self._collection.swap(following)


async def index_vectors(table: LanceTable, lock: FollowingLock) -> None:
    """Builds the vector index under the lock, which is held until the thread ends even if the caller is cancelled."""
    await in_thread(lambda: lock.during(table.index_vectors), "onyx vector index")


def wants_vector_index(table: LanceTable, views: NewestView) -> bool:
    """Whether it has more vectors than are compared one by one, in memory or on disk."""
    if views.holds(table):
        return False
    return table.count("vector IS NOT NULL") > VECTORS_BEFORE_INDEX and not table.has_vector_index()


def whole_rows(collection: LanceCollection, where: str) -> list[dict[str, Any]]:
    """The matching rows of the serving table, without their vectors."""
    names = chunk_schema(None).names
    rows: list[dict[str, Any]] = collection.read(lambda table, _: table.rows(names, where).to_pylist())
    return rows


def _versions(table: LanceTable) -> dict[str, tuple[str, str, int]]:
    """Source → (checksum, chunking, number of rows)."""
    rows = table.rows(["source", "checksum", "chunking"]).to_pydict()
    counts = Counter(zip(rows["source"], rows["checksum"], rows["chunking"], strict=True))
    return {source: (checksum, chunking, count) for (source, checksum, chunking), count in counts.items()}


def _batches(sources: Mapping[str, int]) -> Iterator[list[str]]:
    """Groups of sources with enough rows for a few embedding batches."""
    batch: list[str] = []
    rows = 0
    for source, count in sources.items():
        batch.append(source)
        rows += count
        if rows >= _COPIED_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _replace(
    table: LanceTable, rows: Sequence[dict[str, Any]], vectors: Sequence[Any], dimension: int, where: str
) -> None:
    table.replace(as_table(rows, vectors, dimension), where)
