"""A search of the index on its two legs, by meaning and by words, of one state of it. It never ranks what it finds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import Candidate
from onyx_jupyter.retrieval.snippet import telling_words
from onyx_jupyter.storage.index_rows import candidate, searched_words, stored_text
from onyx_jupyter.storage.index_schema import FOUND_COLUMNS

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors
    from onyx_jupyter.retrieval.index_vectors import IndexVectors
    from onyx_jupyter.storage.lance import LanceTable, Rows
    from onyx_jupyter.storage.lance_collection import LanceCollection, TableState

_QUERY_CHARS = 2_000
# Legs that read before and after a commit are read again; who writes without a pause is not waited for.
_TRIES = 4


@dataclass(frozen=True, slots=True)
class _Leg:
    """What one leg found in which table; `note` is why it found nothing."""

    table: str | None = None
    rows: Rows | None = None
    note: str | None = None


class IndexLegs:
    """Both legs of one collection."""

    def __init__(self, collection: LanceCollection, vectors: IndexVectors) -> None:
        self._collection = collection
        self._vectors = vectors

    async def search(self, query: str, count: int, condition: str | None) -> tuple[Sequence[Candidate], str | None]:
        """Candidates, and what kept a leg away. Raises: IndexUnavailable where both were."""
        for _ in range(_TRIES):
            near, matched, vector = await self._both(query, count, condition)
            if _of_one_state(near, matched):
                break
        else:
            matched = _Leg(note="Meaning alone was searched, since much is being written.")
        notes = " ".join(leg.note for leg in (near, matched) if leg.note)
        return await asyncio.to_thread(_merged, near.rows, matched.rows, vector), notes or None

    async def _both(self, query: str, count: int, condition: str | None) -> tuple[_Leg, _Leg, Vectors | None]:
        """Words are searched while the query is embedded."""
        matching = asyncio.create_task(asyncio.to_thread(self._matching, query, count, condition))
        try:
            near, vector = await self._near(query, count, condition)
        except BaseException:
            matching.cancel()
            raise
        try:
            return near, await matching, vector
        except IndexUnavailable as error:
            if near.rows is None:
                raise
            return near, _Leg(note=f"Meaning alone was searched. {error}"), vector

    def _matching(self, query: str, count: int, condition: str | None) -> _Leg:
        words = stored_text(searched_words(telling_words(query[:_QUERY_CHARS])))

        def work(table: LanceTable, state: TableState) -> _Leg:
            return _Leg(state.name, table.matching(words, count, _columns(state), condition))

        return self._collection.read(work)

    async def _near(self, query: str, count: int, condition: str | None) -> tuple[_Leg, Vectors | None]:
        try:
            state = (await asyncio.to_thread(self._collection.state)).serving
            if state.identity is None:
                return _Leg(note=f"Words alone were searched. {self._vectors.why_none()}"), None
            vector = await self._vectors.of_query(query, state.identity)
            return await asyncio.to_thread(self._nearest, vector, state, count, condition), vector
        except (EmbeddingError, IndexUnavailable) as error:
            return _Leg(note=f"Words alone were searched. {error}"), None

    def _nearest(self, vector: Vectors, asked: TableState, count: int, condition: str | None) -> _Leg:
        def work(table: LanceTable, state: TableState) -> _Leg:
            if state.identity != asked.identity:  # changed over since the query was embedded
                return _Leg(asked.name, None, "Words alone were searched. The index changes over to another embedder.")
            return _Leg(state.name, table.nearest(vector, count, _columns(state), condition))

        return self._collection.read(work)


def _columns(state: TableState) -> list[str]:
    return [*FOUND_COLUMNS, "vector"] if state.identity else list(FOUND_COLUMNS)


def _of_one_state(near: _Leg, matched: _Leg) -> bool:
    """Whether no source was replaced between the two, so that old and new chunks of it never stand side by side."""
    if near.table is None:
        return True
    if near.rows is None or matched.rows is None or near.table != matched.table:
        return matched.table is None
    known = dict(_versions(near.rows))
    return all(known.get(source, version) == version for source, version in _versions(matched.rows))


def _versions(rows: Rows) -> Iterator[tuple[str, tuple[str, str]]]:
    columns = rows.select(["source", "checksum", "chunking"]).to_pydict()
    for source, checksum, chunking in zip(*columns.values(), strict=True):
        yield source, (checksum, chunking)


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
