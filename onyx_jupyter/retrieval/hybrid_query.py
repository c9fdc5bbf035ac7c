"""Searches one state of the index by its two legs, meaning and words. It returns candidates without ranking them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import Candidate, EmbedderIdentity, SearchFilter
from onyx_jupyter.retrieval.snippet import significant_words
from onyx_jupyter.storage.index_rows import candidate, searched_words, stored_text
from onyx_jupyter.storage.table_view import NewestView, TableView

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors
    from onyx_jupyter.retrieval.index_vectors import IndexVectors
    from onyx_jupyter.storage.lance import LanceTable
    from onyx_jupyter.storage.lance_collection import LanceCollection, TableState

_QUERY_CHARS = 2_000
# A search is repeated if its table was replaced meanwhile.
_TRIES = 4


@dataclass(slots=True)
class _ByWords:
    """Row id → BM25 and the rows, with the table view and its embedder; `problem` says why there are none.

    The view is dropped when the search is over: asyncio keeps a thread's result alive until the next garbage
    collection, and the view holds all vectors of a table.
    """

    view: TableView | None = None
    identity: EmbedderIdentity | None = None
    scores: Mapping[int, float] = field(default_factory=dict)
    rows: Mapping[int, dict[str, Any]] = field(default_factory=dict)
    problem: IndexUnavailable | None = None


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The query's vector and its embedder; `note` says why there is none."""

    identity: EmbedderIdentity | None
    vector: Vectors | None = None
    note: str | None = None


class _Replaced(Exception):
    """The table that the search started with is no longer the serving one."""


class HybridQuery:
    """Both legs of one collection, on its newest view."""

    def __init__(self, collection: LanceCollection, vectors: IndexVectors, views: NewestView) -> None:
        self._collection = collection
        self._vectors = vectors
        self._views = views
        self._identity: EmbedderIdentity | None = None  # the embedder whose vectors served at the last check
        self._has_embedded = False

    async def search(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """Candidates, and why a leg is missing, if one is. Raises: IndexUnavailable if both are."""
        for _ in range(_TRIES):
            by_words, meaning = await self._asked(query, count, only)
            try:
                if by_words.problem is not None or by_words.identity == meaning.identity:
                    return await asyncio.to_thread(self._answer, by_words, meaning, count, only)
                self._identity = by_words.identity
            except _Replaced:
                continue
            finally:
                by_words.view = None
        if by_words.problem is not None:
            raise by_words.problem
        rows = [(row_id, by_words.rows[row_id]) for row_id in by_words.scores]
        note = "Only keywords were searched. The index kept being replaced during the search."
        return _candidates(rows, by_words.scores, None), note

    async def _asked(self, query: str, count: int, only: SearchFilter) -> tuple[_ByWords, _Meaning]:
        """Searches words while the query is embedded for the last known serving table."""
        matching = asyncio.create_task(asyncio.to_thread(self._matching, query, count, only))
        try:
            meaning = await self._meaning(query)
        except BaseException:
            matching.cancel()
            raise
        return await matching, meaning

    def _matching(self, query: str, count: int, only: SearchFilter) -> _ByWords:
        words = stored_text(searched_words(significant_words(query[:_QUERY_CHARS])))

        def work(table: LanceTable, state: TableState) -> _ByWords:
            view = self._view(table, state)
            scores = view.matching(words, count, only)
            return _ByWords(view, state.identity, scores, view.rows(list(scores)))

        try:
            return self._collection.read(work)
        except IndexUnavailable as error:
            return _ByWords(problem=error)

    async def _meaning(self, query: str) -> _Meaning:
        identity = self._identity
        try:
            if not self._has_embedded:
                identity = self._identity = (await asyncio.to_thread(self._collection.state)).serving.identity
                self._has_embedded = True
            if identity is None:
                return _Meaning(None, note=f"Only keywords were searched. {self._vectors.why_none()}")
            return _Meaning(identity, await self._vectors.of_query(query, identity))
        except (EmbeddingError, IndexUnavailable) as error:
            return _Meaning(identity, note=f"Only keywords were searched. {error}")

    def _answer(
        self, by_words: _ByWords, meaning: _Meaning, count: int, only: SearchFilter
    ) -> tuple[Sequence[Candidate], str | None]:
        view, note = by_words.view, meaning.note
        near: Sequence[int] = ()
        if meaning.vector is not None:
            try:
                view, near = self._nearest(by_words, meaning, meaning.vector, count, only)
            except IndexUnavailable as error:
                note = f"Only keywords were searched. {error}"
        if view is None:
            assert by_words.problem is not None
            raise by_words.problem
        if by_words.problem is not None:
            note = f"Only meaning was searched. {by_words.problem}"
        wanted = list(dict.fromkeys([*near, *by_words.scores]))
        missing = [row_id for row_id in near if row_id not in by_words.rows]
        rows = {**by_words.rows, **self._collection.read(lambda _, state: _served(view, state).rows(missing))}
        return _candidates([(row_id, rows[row_id]) for row_id in wanted], by_words.scores, meaning.vector), note

    def _nearest(
        self, by_words: _ByWords, meaning: _Meaning, vector: Vectors, count: int, only: SearchFilter
    ) -> tuple[TableView, Sequence[int]]:
        def work(table: LanceTable, state: TableState) -> tuple[TableView, Sequence[int]]:
            if state.identity != meaning.identity:
                self._identity = state.identity
                raise _Replaced
            view = _served(by_words.view, state) if by_words.view is not None else self._view(table, state)
            return view, view.nearest(vector, count, only)

        return self._collection.read(work)

    def _view(self, table: LanceTable, state: TableState) -> TableView:
        view = self._views.of(table)
        if view.dimension != (state.identity.dimension if state.identity else None):
            raise IndexUnavailable(f"The table {state.name} holds vectors of another size than it should.")
        return view


def _served(view: TableView, state: TableState) -> TableView:
    """The view. Raises: _Replaced if its table no longer serves."""
    if view.name != state.name:
        raise _Replaced
    return view


def _candidates(
    rows: Sequence[tuple[int, dict[str, Any]]], words: Mapping[int, float], query: Vectors | None
) -> list[Candidate]:
    similarities = _cosines([row["vector"] for _, row in rows], query)
    return [
        candidate(row, similarity, words.get(row_id))
        for (row_id, row), similarity in zip(rows, similarities, strict=True)
    ]


def _cosines(vectors: Sequence[Vectors | None], query: Vectors | None) -> Sequence[float | None]:
    """None without a vector. Each cosine depends only on its own two vectors, to the last bit."""
    places = [place for place, vector in enumerate(vectors) if vector is not None]
    cosines: list[float | None] = [None] * len(vectors)
    if query is None or not places:
        return cosines
    import numpy as np

    matrix = np.array([vectors[place] for place in places], np.float64)
    one = query.astype(np.float64)
    products = (matrix * one).sum(axis=1) / (np.sqrt((matrix * matrix).sum(axis=1)) * np.sqrt((one * one).sum()))
    for place, cosine in zip(places, products.tolist(), strict=True):
        cosines[place] = cosine
    return cosines
