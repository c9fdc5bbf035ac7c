"""How long a search of the index takes, beside brute force in numpy and SQLite's full text in the same run."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from benchmarks.figures import Figure, Group, percentile
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.protocols.retrieval import Chunk, EmbedderIdentity, SearchFilter, Source
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.text_index import LanceTextIndex

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

T = TypeVar("T")
SIZES = (10_000, 100_000)
LIMITS_MS = {10_000: 25.0, 100_000: 40.0}
QUERIES = 100
COUNT = 24
TOPICS = 400
CHUNKS_A_SOURCE = 20
_VOCABULARY = 20_000
METHOD = (
    f"Chunks of 80 words, drawn from {_VOCABULARY:,} by Zipf's law, in sources of {CHUNKS_A_SOURCE}. {QUERIES} queries "
    f"of eight such words, each asked once, one after the other. A chunk's vector is that of one of {TOPICS} "
    f"sentences, as the embedded embedder makes it, with noise. A search brings the {COUNT} best of each leg, with "
    "texts and vectors, and embeds its query with the embedded embedder. Beside it, of the same chunks and queries in "
    "the same run: all cosines by numpy, in memory, and SQLite's FTS5 with BM25, in a file; both without embedding. "
    "The share is of the nearest by numpy that the index found."
)


@dataclass
class _Taken:
    search_ms: list[float] = field(default_factory=list)
    filtered_ms: list[float] = field(default_factory=list)
    embed_ms: list[float] = field(default_factory=list)
    numpy_ms: list[float] = field(default_factory=list)
    sqlite_ms: list[float] = field(default_factory=list)
    share: list[float] = field(default_factory=list)
    put_s: float = 0.0
    settled_s: float = 0.0


def measure() -> Group:
    figures: list[Figure] = []
    for size in SIZES:
        taken = asyncio.run(_measure(size))
        figures += [
            Figure(f"search of {size:,} chunks, p50", _p50(taken.search_ms), "ms", LIMITS_MS[size], digits=1),
            Figure("  p95", [percentile(taken.search_ms, 0.95)], "ms", digits=1),
            Figure("  of one agent's only, p50", _p50(taken.filtered_ms), "ms", digits=1),
            Figure("  of it embedding the query, p50", _p50(taken.embed_ms), "ms", digits=1),
            Figure("  numpy brute force, p50", _p50(taken.numpy_ms), "ms", digits=1),
            Figure("  SQLite FTS5, p50", _p50(taken.sqlite_ms), "ms", digits=1),
            Figure("  share of the nearest that is found", [100 * statistics.mean(taken.share)], "%", digits=1),
            Figure("  putting them, vectors given", [taken.put_s], "s", digits=1),
            Figure("  background until the indices are built", [taken.settled_s], "s", digits=1),
        ]
    return Group("Search in the index", METHOD, figures)


class GivenPassages:
    """Embeddings that have each passage's vector at hand, and embed queries for real."""

    def __init__(self, local: LocalEmbedder) -> None:
        self.problem: str | None = None
        self.vectors: dict[str, Vectors] = {}
        self._local = local

    async def current(self) -> EmbedderIdentity:
        return self._local.identity

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        if purpose == "query":
            return await self._local.embed(texts, purpose)
        return np.stack([self.vectors[text] for text in texts])


async def _measure(size: int) -> _Taken:
    taken = _Taken()
    local = LocalEmbedder(SystemClock())
    words = _Words(size)
    with tempfile.TemporaryDirectory() as name:
        embeddings = GivenPassages(local)
        texts = [words.text(80) for _ in range(size)]
        vectors = await _passage_vectors(local, words, size)
        embeddings.vectors = dict(zip(texts, vectors, strict=True))
        index = LanceTextIndex(Path(name), "memory", embeddings, "bench")
        began = time.perf_counter()
        for sources in _sources(texts):
            await index.put(sources)
        taken.put_s = time.perf_counter() - began
        began = time.perf_counter()
        await index.settled()
        taken.settled_s = time.perf_counter() - began
        await _ask(index, local, [words.text(8) for _ in range(QUERIES + 5)], texts, vectors, taken, Path(name))
        await index.close()
    await local.close()
    return taken


async def _ask(
    index: LanceTextIndex,
    local: LocalEmbedder,
    queries: Sequence[str],
    texts: Sequence[str],
    vectors: Vectors,
    taken: _Taken,
    folder: Path,
) -> None:
    database = sqlite3.connect(folder / "words.sqlite")
    database.execute("create virtual table chunk using fts5(text, tokenize='porter unicode61')")
    database.executemany("insert into chunk values (?)", [(text,) for text in texts])
    database.commit()
    one_agent = SearchFilter(agents=frozenset({"agent 1"}))
    for query in queries:
        began = time.perf_counter()
        candidates, note = await index.candidates(query, COUNT, SearchFilter())
        taken.search_ms.append(1000 * (time.perf_counter() - began))
        if note is not None or len(candidates) <= COUNT:
            raise RuntimeError(f"One leg found nothing: {note}")
        began = time.perf_counter()
        await index.candidates(query, COUNT, one_agent)
        taken.filtered_ms.append(1000 * (time.perf_counter() - began))
        began = time.perf_counter()
        vector = (await local.embed([query], "query"))[0]
        taken.embed_ms.append(1000 * (time.perf_counter() - began))
        nearest = _timed(taken.numpy_ms, lambda vector=vector: np.argsort(-(vectors @ vector))[:COUNT])
        matching = (" OR ".join(query.split()), COUNT)
        _timed(taken.sqlite_ms, lambda matching=matching: database.execute(_BY_WORDS, matching).fetchall())
        found = {one.chunk.text for one in candidates}
        taken.share.append(len({texts[row] for row in nearest} & found) / COUNT)
    for warm in (taken.search_ms, taken.filtered_ms, taken.embed_ms, taken.numpy_ms, taken.sqlite_ms):
        del warm[:5]
    database.close()


_BY_WORDS = "select rowid, text, bm25(chunk) from chunk where chunk match ? order by bm25(chunk) limit ?"


def _timed(into: list[float], work: Callable[[], T]) -> T:
    began = time.perf_counter()
    result = work()
    into.append(1000 * (time.perf_counter() - began))
    return result


def _p50(values: Sequence[float]) -> list[float]:
    return [statistics.median(values)]


class _Words:
    """Words as often as Zipf's law says, the same in every run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        letters = np.random.default_rng(0)
        self._vocabulary = ["".join(letters.choice(list("abdegiklmnoprstu"), 3 + n % 7)) for n in range(_VOCABULARY)]
        weights = 1 / (np.arange(_VOCABULARY) + 10.0)
        self._cumulative = np.cumsum(weights).tolist()

    def text(self, words: int) -> str:
        return " ".join(self._random.choices(self._vocabulary, cum_weights=self._cumulative, k=words))


async def _passage_vectors(local: LocalEmbedder, words: _Words, size: int) -> Vectors:
    topics = await local.embed([words.text(12) for _ in range(TOPICS)], "passage")
    numbers = np.random.default_rng(size)
    noise = numbers.standard_normal((size, topics.shape[1]), dtype=np.float32) / np.sqrt(topics.shape[1])
    vectors = topics[numbers.integers(0, TOPICS, size)] + 0.6 * noise.astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def _sources(texts: Sequence[str]) -> Iterator[list[Source]]:
    """Fifty sources at a time, of three agents."""
    for start in range(0, len(texts), 50 * CHUNKS_A_SOURCE):
        batch = []
        for first in range(start, min(start + 50 * CHUNKS_A_SOURCE, len(texts)), CHUNKS_A_SOURCE):
            chunks = [Chunk(text, line, line) for line, text in enumerate(texts[first : first + CHUNKS_A_SOURCE], 1)]
            batch.append(Source("document", f"agent {first % 3}", f"notes/{first}.md", str(first), chunks))
        yield batch
