"""How long a whole search takes, beside embedding alone, LanceDB's own queries, numpy and SQLite in the same run."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from benchmarks.figures import Figure, Group, percentile
from benchmarks.memory.natural_text import COMMON_WORDS, VOCABULARY, NaturalText
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.config.schema import Config
from onyx_jupyter.protocols.retrieval import Chunk, EmbedderIdentity, SearchFilter, Source
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.chunking import passage_context
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.selection import CANDIDATES_A_RESULT
from onyx_jupyter.retrieval.settings import search_settings
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.index_filter import where
from onyx_jupyter.storage.index_schema import FOUND_COLUMNS
from onyx_jupyter.storage.lance import LanceTable

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

T = TypeVar("T")
SIZES = (10_000, 100_000)
LIMITS_MS = {10_000: 25.0, 100_000: 40.0}
QUERIES = 100
WARM_UP = 5
LIMIT = 6
COUNT = LIMIT * CANDIDATES_A_RESULT
WORDS = 300
TOPICS = 400
CHUNKS_A_SOURCE = 20
AGENTS = ("main", "main", "", "work")
ONLY = SearchFilter(agents=frozenset({"main", ""}))
METHOD = (
    f"Chunks of {WORDS} words below headings of three, in sources of {CHUNKS_A_SOURCE}, of two agents and of what both "
    f"share. Words are drawn by Zipf's law from {VOCABULARY:,}, the most frequent {len(COMMON_WORDS)} of which are "
    f"English ones without a meaning of their own. {QUERIES} queries of eight such words, each asked once, one after "
    f"the other. A chunk's vector is that of one of {TOPICS} sentences, as the embedded embedder makes it, with noise. "
    "A search is the whole of it, as `memory_search` asks: the query is embedded with the embedded embedder, the "
    f"{COUNT} best of each leg that one agent may read are ranked, and {LIMIT} come with their snippets. CPU is the "
    "processor time of all threads. Beside it, with the same queries in the same run: the embedding alone; LanceDB's "
    "own two queries, one after the other, with that filter, texts and vectors; all cosines by numpy, in memory; "
    "SQLite's FTS5 with BM25, in a file. The share is of the nearest by numpy that the index found."
)


@dataclass
class _Times:
    """Milliseconds of each, by the clock and of the processor."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def of(self, work: Callable[[], T]) -> T:
        began = time.perf_counter(), time.process_time()
        result = work()
        self._add(began)
        return result

    async def of_async(self, work: Awaitable[T]) -> T:
        began = time.perf_counter(), time.process_time()
        result = await work
        self._add(began)
        return result

    def figures(self, name: str, limit_ms: float | None = None) -> list[Figure]:
        wall, cpu = (statistics.median(values[WARM_UP:]) for values in (self.wall_ms, self.cpu_ms))
        return [Figure(name, [wall], "ms", limit_ms, digits=1), Figure("    CPU", [cpu], "ms", digits=1)]

    @property
    def p50_ms(self) -> float:
        return statistics.median(self.wall_ms[WARM_UP:])

    def _add(self, began: tuple[float, float]) -> None:
        self.wall_ms.append(1000 * (time.perf_counter() - began[0]))
        self.cpu_ms.append(1000 * (time.process_time() - began[1]))


@dataclass
class _Taken:
    search: _Times = field(default_factory=_Times)
    everything: _Times = field(default_factory=_Times)
    embedding: _Times = field(default_factory=_Times)
    lance: _Times = field(default_factory=_Times)
    numpy: _Times = field(default_factory=_Times)
    sqlite: _Times = field(default_factory=_Times)
    share: list[float] = field(default_factory=list)
    put_s: float = 0.0
    settled_s: float = 0.0
    has_vector_index: bool = False


def measure() -> Group:
    figures: list[Figure] = []
    for size in SIZES:
        figures += _figures(size, asyncio.run(_measure(size)))
    return Group("Search in the index", METHOD, figures)


def _figures(size: int, taken: _Taken) -> list[Figure]:
    plain_ms = taken.embedding.p50_ms + taken.lance.p50_ms
    how = "an index of vectors" if taken.has_vector_index else "vectors in memory"
    return [
        *taken.search.figures(f"search of {size:,} chunks ({how}), p50", LIMITS_MS[size]),
        Figure("  p95", [percentile(taken.search.wall_ms[WARM_UP:], 0.95)], "ms", digits=1),
        *taken.everything.figures("  of all agents, p50"),
        *taken.embedding.figures("  embedding the query alone, p50"),
        *taken.lance.figures("  LanceDB's own two queries, p50"),
        Figure("  search ÷ (embedding + LanceDB's queries)", [taken.search.p50_ms / plain_ms], "×"),
        *taken.numpy.figures("  numpy brute force, p50"),
        *taken.sqlite.figures("  SQLite FTS5, p50"),
        Figure("  share of the nearest that is found", [100 * statistics.mean(taken.share)], "%", digits=1),
        Figure("  putting them, vectors given", [taken.put_s], "s", digits=1),
        Figure("  background until the indices are built", [taken.settled_s], "s", digits=1),
    ]


class GivenPassages:
    """Embeddings that have each passage's vector at hand, and embed queries for real."""

    def __init__(self, choice: EmbedderChoice) -> None:
        self.problem: str | None = None
        self.vectors: dict[str, Vectors] = {}
        self._choice = choice

    async def current(self) -> EmbedderIdentity | None:
        return await self._choice.current()

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        if purpose == "query":
            return await self._choice.embed(texts, purpose, identity=identity)
        return np.stack([self.vectors[text] for text in texts])


async def _measure(size: int) -> _Taken:
    taken, clock, text = _Taken(), SystemClock(), NaturalText(size)
    local = LocalEmbedder(clock)
    embeddings = GivenPassages(EmbedderChoice([local], clock=clock, redact=str))
    vectors = await _passage_vectors(local, text, size)
    with tempfile.TemporaryDirectory() as name:
        index = LanceTextIndex(Path(name), "memory", embeddings, "bench")
        database = sqlite3.connect(Path(name) / "words.sqlite")
        database.execute("create virtual table chunk using fts5(text, tokenize='porter unicode61')")
        for first, sources in _sources(text, size):
            chunks = [chunk for source in sources for chunk in source.chunks]
            embeddings.vectors = {f"{one.context}\n{one.text}": vectors[first + n] for n, one in enumerate(chunks)}
            database.executemany("insert into chunk values (?)", [(one.text,) for one in chunks])
            began = time.perf_counter()
            await index.put(sources)
            taken.put_s += time.perf_counter() - began
        database.commit()
        began = time.perf_counter()
        await index.settled()
        taken.settled_s = time.perf_counter() - began
        queries = [text.words(8) for _ in range(QUERIES + WARM_UP)]
        await _ask(index, local, queries, vectors, taken, database, Path(name))
        database.close()
        await index.close()
    await local.close()
    return taken


async def _ask(
    index: LanceTextIndex,
    local: LocalEmbedder,
    queries: Sequence[str],
    vectors: Vectors,
    taken: _Taken,
    database: sqlite3.Connection,
    folder: Path,
) -> None:
    search = HybridSearch(index, lambda: search_settings(Config()), SystemClock())
    collection = chunk_collection(folder, "memory", on_emptied=lambda why: None)
    table = collection.table(collection.state().serving)
    taken.has_vector_index = table.has_vector_index()
    for query in queries:
        answer = await taken.search.of_async(search.search(query, only=ONLY, limit=LIMIT))
        if answer.note is not None or not answer.found:
            raise RuntimeError(f"{len(answer.found)} results: {answer.note}")
        (vector,) = await taken.embedding.of_async(local.embed([query], "query"))
        await taken.everything.of_async(search.search(query, limit=LIMIT))
        await asyncio.to_thread(taken.lance.of, lambda query=query, vector=vector: _two_queries(table, query, vector))
        # By `einsum`: the threads of `@` spin on for a while, in the time of the next search.
        nearest = taken.numpy.of(lambda vector=vector: np.argsort(-np.einsum("ij,j->i", vectors, vector))[:COUNT])
        matching = (" OR ".join(query.split()), COUNT)
        taken.sqlite.of(lambda matching=matching: database.execute(_BY_WORDS, matching).fetchall())
        candidates, _ = await index.candidates(query, COUNT, SearchFilter())
        found = {_number(one.path, one.chunk.start_line) for one in candidates}
        taken.share.append(len(set(nearest.tolist()) & found) / COUNT)


_BY_WORDS = "select rowid, text, bm25(chunk) from chunk where chunk match ? order by bm25(chunk) limit ?"


def _two_queries(table: LanceTable, query: str, vector: Vectors) -> None:
    columns = [*FOUND_COLUMNS, "vector"]
    table.matching(query, COUNT, columns, where(ONLY))
    table.nearest(vector, COUNT, columns, where(ONLY))


async def _passage_vectors(local: LocalEmbedder, text: NaturalText, size: int) -> Vectors:
    topics = await local.embed([text.words(12) for _ in range(TOPICS)], "passage")
    numbers = np.random.default_rng(size)
    noise = numbers.standard_normal((size, topics.shape[1]), dtype=np.float32) / np.sqrt(topics.shape[1])
    vectors = topics[numbers.integers(0, TOPICS, size)] + 0.6 * noise.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _sources(text: NaturalText, size: int) -> Iterator[tuple[int, list[Source]]]:
    """Fifty sources at a time, with the number of their first chunk."""
    step = 50 * CHUNKS_A_SOURCE
    for start in range(0, size, step):
        firsts = range(start, min(start + step, size), CHUNKS_A_SOURCE)
        yield start, [_source(text, first, min(CHUNKS_A_SOURCE, size - first)) for first in firsts]


def _source(text: NaturalText, first: int, count: int) -> Source:
    agent, path = AGENTS[first // CHUNKS_A_SOURCE % len(AGENTS)], f"notes/{first}.md"
    headings = [text.words(3) for _ in range(count)]
    chunks = [
        Chunk(f"## {heading}\n\n{text.words(WORDS)}", line, line, heading, passage_context(path, [heading]))
        for line, heading in enumerate(headings, 1)
    ]
    return Source("memory", agent, path, str(first), chunks)


def _number(path: str, line: int) -> int:
    """Of the chunk that lies there."""
    return int(Path(path).stem) + line - 1
