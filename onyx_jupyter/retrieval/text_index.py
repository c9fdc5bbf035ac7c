"""The index of one collection: what owners put, what searches find. It never reads a source, and keeps nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import Candidate, Embeddings, SearchFilter, Source
from onyx_jupyter.retrieval.index_upkeep import IDLE_S, STEADY_S, IndexUpkeep
from onyx_jupyter.retrieval.index_vectors import IndexVectors
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.index_filter import among, where
from onyx_jupyter.storage.index_rows import (
    ChunkRow,
    as_table,
    candidate,
    original_text,
    rows_of,
    searched_words,
    source_key,
    stored_text,
)
from onyx_jupyter.storage.index_schema import FOUND_COLUMNS

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import EmbedderIdentity, Vectors
    from onyx_jupyter.storage.lance import LanceTable, Rows
    from onyx_jupyter.storage.lance_collection import TableState

# Chunks in one commit: what a kill loses of a first indexing, and what a commit costs, are both small.
_COMMIT_CHUNKS = 256
_QUERY_CHARS = 2_000


class LanceTextIndex:
    """A TextIndex in `folder`; several processes may have the same one.

    `chunking` names how the chunks were cut: sources that were cut in another way have the checksum "" until they are
    put again, and are found meanwhile. `on_emptied` is called, in the event loop, with the reason, where the index was
    lost and has to be filled again.
    """

    def __init__(
        self,
        folder: Path,
        collection: str,
        embeddings: Embeddings,
        chunking: str,
        *,
        on_emptied: Callable[[str], None] = lambda why: None,
        idle_s: float = IDLE_S,
        steady_s: float = STEADY_S,
    ) -> None:
        self._chunking = stored_text(chunking)
        self._on_emptied = on_emptied
        self._collection = chunk_collection(folder, collection, on_emptied=self._emptied)
        self._vectors = IndexVectors(embeddings)
        self._upkeep = IndexUpkeep(self._collection, self._vectors, idle_s=idle_s, steady_s=steady_s)
        self._beginning = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        """(agent, path) → checksum, "" for what has to be cut anew. Raises: IndexUnavailable."""
        await self._begin()
        only = "position = 0" if agent is None else f"position = 0 AND {among('agent', [agent])}"
        columns = ["agent", "path", "checksum", "chunking"]

        def read(table: LanceTable, _: TableState) -> Mapping[tuple[str, str], str]:
            rows = table.rows(columns, only).to_pydict()
            return {
                (original_text(whose), original_text(path)): original_text(checksum) * (chunking == self._chunking)
                for whose, path, checksum, chunking in zip(*(rows[name] for name in columns), strict=True)
            }

        return await asyncio.to_thread(self._collection.read, read)

    async def put(self, sources: Sequence[Source]) -> None:
        """Each source's new chunks in place of its old ones, in one commit. Raises: IndexUnavailable."""
        await self._begin()
        for group in _groups(sources):
            await self._put_together(group)
        self._upkeep.wrote()

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        """Takes sources out. Raises: IndexUnavailable."""
        if not names:
            return
        await self._begin()
        gone = among("source", [source_key(agent, path) for agent, path in names])
        await asyncio.to_thread(self._collection.write, lambda table, _: table.delete(gone))
        self._upkeep.wrote()

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """At most `count` of each leg; one that has a vector has its similarity too, whichever leg it comes from.

        Raises: IndexUnavailable where neither leg could be searched.
        """
        await self._begin()
        if count < 1 or not query.strip():
            return [], None
        condition, words = where(only), stored_text(searched_words(query[:_QUERY_CHARS]))

        def match(table: LanceTable, state: TableState) -> Rows:
            return table.matching(words, count, _found_columns(state), condition)

        matching = asyncio.create_task(asyncio.to_thread(self._collection.read, match))
        try:
            vector, near, note = await self._near(query, count, condition)
        except BaseException:
            matching.cancel()
            raise
        try:
            matched = await matching
        except IndexUnavailable as error:
            if near is None:
                raise
            matched, note = None, f"Meaning alone was searched: {error}"
        self._upkeep.looked()
        notes = [part for part in (note, self._upkeep.note) if part]
        return await asyncio.to_thread(_merged, near, matched, vector), " ".join(notes) or None

    async def count(self) -> int:
        """How many chunks there are, one at least for each source. Raises: IndexUnavailable."""
        await self._begin()
        return await asyncio.to_thread(self._collection.read, lambda table, _: table.count())

    async def settled(self) -> None:
        """Returns when nothing is left to do in the background, and does not wait for a quiet moment to do it."""
        await self._begin()
        await self._upkeep.settled()

    async def close(self) -> None:
        """Ends what goes on in the background; what is half done there is gone on with next time."""
        await self._upkeep.close()

    async def _begin(self) -> None:
        async with self._beginning:
            if self._loop is None:
                self._collection.identity = await self._vectors.current()
                self._loop = asyncio.get_running_loop()

    async def _put_together(self, sources: Sequence[Source]) -> None:
        rows, state = await asyncio.to_thread(self._rows_and_table, sources)
        vectors = await self._vectors.of_passages([row.embedded for row in rows], state.identity)
        gone = among("source", {row.columns["source"] for row in rows})

        def commit(table: LanceTable, now: TableState) -> None:
            fit = vectors if now.identity == state.identity else [None] * len(rows)
            dimension = now.identity.dimension if now.identity else None
            table.replace(as_table([row.columns for row in rows], fit, dimension), gone)

        await asyncio.to_thread(self._collection.write, commit)

    def _rows_and_table(self, sources: Sequence[Source]) -> tuple[list[ChunkRow], TableState]:
        rows = [row for source in sources for row in rows_of(source, self._chunking)]
        return rows, self._collection.state().serving

    async def _near(
        self, query: str, count: int, condition: str | None
    ) -> tuple[Vectors | None, Rows | None, str | None]:
        """The query's vector, the rows nearest to it, and why there are none."""
        try:
            state = (await asyncio.to_thread(self._collection.state)).serving
            if state.identity is None:
                return None, None, f"Words alone were searched. {self._vectors.why_none()}"
            vector = await self._vectors.of_query(query, state.identity)
            return vector, await self._nearest(vector, state.identity, count, condition), None
        except (EmbeddingError, IndexUnavailable) as error:
            return None, None, f"Words alone were searched. {error}"

    async def _nearest(self, vector: Vectors, identity: EmbedderIdentity, count: int, condition: str | None) -> Rows:
        def search(table: LanceTable, state: TableState) -> Rows:
            if state.identity != identity:
                raise IndexUnavailable("The index has just changed over to another embedder.")
            return table.nearest(vector, count, _found_columns(state), condition)

        return await asyncio.to_thread(self._collection.read, search)

    def _emptied(self, why: str) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._on_emptied, why)


def _groups(sources: Sequence[Source]) -> Iterator[list[Source]]:
    """Sources that are committed together; of two with the same name the later one counts."""
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


def _found_columns(state: TableState) -> list[str]:
    return [*FOUND_COLUMNS, "vector"] if state.identity else list(FOUND_COLUMNS)


def _merged(near: Rows | None, matched: Rows | None, vector: Vectors | None) -> list[Candidate]:
    """Each chunk once, those that are near first."""
    found: dict[str, Candidate] = {}
    words = {row["id"]: row for row in matched.to_pylist()} if matched is not None else {}
    for row in near.to_pylist() if near is not None else ():
        match = words.pop(row["id"], None)
        found[row["id"]] = candidate(row, 1 - row["_distance"], match and match["_score"])
    for row in words.values():
        found[row["id"]] = candidate(row, _cosine(vector, row.get("vector")), row["_score"])
    return list(found.values())


def _cosine(one: Vectors | None, other: Sequence[float] | None) -> float | None:
    if one is None or other is None:
        return None
    import numpy as np

    against = np.asarray(other, np.float32)
    return float(one @ against / (np.linalg.norm(one) * np.linalg.norm(against)))
