"""The index of one collection: owners put sources in, searches find chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.protocols.retrieval import Candidate, Embeddings, SearchFilter, Source
from onyx_jupyter.retrieval.hybrid_query import HybridQuery
from onyx_jupyter.retrieval.index_maintenance import IDLE_S, REST_S, STEADY_S, IndexMaintenance, MaintenanceTimes
from onyx_jupyter.retrieval.index_vectors import IndexVectors
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_history import IndexHistory
from onyx_jupyter.storage.index_rows import (
    ChunkRow,
    as_table,
    original_text,
    rows_of,
    source_key,
    stored_text,
)
from onyx_jupyter.storage.lance import KEEP_VERSIONS_S
from onyx_jupyter.storage.table_view import NewestView
from onyx_jupyter.storage.thread_executor import SerialExecutor
from onyx_jupyter.storage.vector_matrix import MATRIX_BYTES

if TYPE_CHECKING:
    from onyx_jupyter.storage.lance import LanceTable
    from onyx_jupyter.storage.lance_collection import TableState

# Chunks per commit: small enough that a kill loses little of a first indexing, large enough to keep commits cheap.
_COMMIT_CHUNKS = 256


class LanceTextIndex:
    """A TextIndex in `folder`, which several processes may share.

    `chunking` identifies how chunks were cut: sources cut in an older way report the checksum "" until they are put
    again, and can be found meanwhile; what a newer Onyx on the same home has cut stays as it is. `on_emptied` is called
    in the event loop, with the reason, if the index was lost and has to be refilled. Up to `matrix_bytes` of vectors
    are held and searched in memory, until there was no search for `rest_s`.
    """

    def __init__(
        self,
        folder: Path,
        collection: str,
        embeddings: Embeddings,
        chunking: str,
        *,
        on_emptied: Callable[[str], None] = lambda why: None,
        clock: Clock | None = None,
        idle_s: float = IDLE_S,
        steady_s: float = STEADY_S,
        kept_s: float = KEEP_VERSIONS_S,
        rest_s: float = REST_S,
        matrix_bytes: int = MATRIX_BYTES,
    ) -> None:
        self._chunking = stored_text(chunking)
        self._on_emptied = on_emptied
        self._collection = chunk_collection(folder, collection, on_emptied=self._emptied)
        self._vectors = IndexVectors(embeddings)
        views = NewestView(matrix_bytes)
        self._legs = HybridQuery(self._collection, self._vectors, views)
        self._history = IndexHistory(folder, collection, clock or SystemClock())
        self._writer = SerialExecutor(f"onyx index {collection}")
        times = MaintenanceTimes(idle_s, steady_s, kept_s, rest_s)
        self._maintenance = IndexMaintenance(self._collection, self._vectors, self._history, self._writer, views, times)
        self._beginning = asyncio.Lock()
        self._has_begun = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        """(agent, path) → checksum, "" for sources that have to be cut again. Raises: IndexUnavailable."""
        if not await self._has_table():
            return {}
        only = "position = 0" if agent is None else f"position = 0 AND {among('agent', [agent])}"
        columns = ["agent", "path", "checksum", "chunking"]

        def known() -> Mapping[tuple[str, str], str]:
            well_cut = {self._chunking, *self._history.newer_than(self._chunking)}
            rows = self._collection.read(lambda table, _: table.rows(columns, only).to_pydict())
            return {
                (original_text(whose), original_text(path)): original_text(checksum) * (chunking in well_cut)
                for whose, path, checksum, chunking in zip(*(rows[name] for name in columns), strict=True)
            }

        return await asyncio.to_thread(known)

    async def put(self, sources: Sequence[Source]) -> None:
        """Replaces each source's chunks. Each commit holds whole sources. Raises: IndexUnavailable."""
        await self._begin()
        for group in _groups(sources):
            await self._put_together(group)
        self._maintenance.wrote()

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        """Removes sources. Raises: IndexUnavailable."""
        if not names or not await self._has_table():
            return
        gone = among("source", [source_key(agent, path) for agent, path in names])
        await self._writer.run(lambda: self._collection.write(lambda table, _: table.delete(gone)))
        self._maintenance.wrote()

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """At most `count` per leg; every candidate with a vector has its similarity, whichever leg found it.

        Raises: IndexUnavailable if neither leg could be searched.
        """
        if count < 1 or not query.strip():
            return [], None
        if not await self._has_table():
            await self._begin()
        try:
            candidates, note = await self._legs.search(query, count, only)
        finally:
            self._maintenance.on_search()  # what was loaded has to be released later, even after an error
        return candidates, " ".join(part for part in (note, self._maintenance.note) if part) or None

    async def count(self) -> int:
        """The number of chunks, at least one per source. Raises: IndexUnavailable."""
        if not await self._has_table():
            return 0
        return await asyncio.to_thread(self._collection.read, lambda table, _: table.count())

    async def settled(self) -> None:
        """Returns when no background work is left, without waiting for a quiet moment to do it."""
        await self._begin()
        await self._maintenance.settled()

    async def close(self) -> None:
        """Stops the background work; unfinished work continues next time."""
        await self._maintenance.close()

    async def _has_table(self) -> bool:
        """Finding the embedder takes seconds, and is needed only to create a table."""
        self._loop = asyncio.get_running_loop()
        is_known = self._has_begun or self._collection.identity is not None
        return is_known or await asyncio.to_thread(self._collection.has_table)

    async def _begin(self) -> None:
        async with self._beginning:
            self._loop = asyncio.get_running_loop()
            if not self._has_begun:
                self._collection.identity = await self._vectors.current()
                self._has_begun = True

    async def _put_together(self, sources: Sequence[Source]) -> None:
        rows, state = await asyncio.to_thread(self._rows_and_table, sources)
        vectors = await self._vectors.of_passages([row.embedded for row in rows], state.identity)
        gone = among("source", {row.columns["source"] for row in rows})

        def commit(table: LanceTable, now: TableState) -> None:
            fit = vectors if now.identity == state.identity else [None] * len(rows)
            dimension = now.identity.dimension if now.identity else None
            table.replace(as_table([row.columns for row in rows], fit, dimension), gone)

        await self._writer.run(lambda: self._collection.write(commit))

    def _rows_and_table(self, sources: Sequence[Source]) -> tuple[list[ChunkRow], TableState]:
        self._history.newer_than(self._chunking)  # recorded before another server sees rows cut so
        rows = [row for source in sources for row in rows_of(source, self._chunking)]
        return rows, self._collection.state().serving

    def _emptied(self, why: str) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._on_emptied, why)


def _groups(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Groups of sources for one commit; of two with the same name the later one counts."""
    group: list[Source] = []
    chunks = 0
    for source in {(source.agent, source.path): source for source in sources}.values():
        if group and chunks + len(source.chunks) > _COMMIT_CHUNKS:
            yield group
            group, chunks = [], 0
        group.append(source)
        chunks += max(len(source.chunks), 1)
    if group:
        yield group
