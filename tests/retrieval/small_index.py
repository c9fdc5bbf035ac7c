"""An in-memory index that really searches: BM25 by words, cosine of given vectors."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from onyx_jupyter.protocols.retrieval import Candidate, Chunk, SearchFilter, Source, SourceKind

NO_EMBEDDER = "No embedder is available; only words were looked for."
K1, B = 1.2, 0.75


class SmallIndex:
    """`meaning` gives a vector for a text; without it there is no vector leg. `broken` is raised by a search."""

    def __init__(self, meaning: Callable[[str], Sequence[float]] | None = None) -> None:
        self.meaning = meaning
        self.broken: Exception | None = None
        self.asked: list[tuple[str, int, SearchFilter]] = []
        self._sources: dict[tuple[str, str], Source] = {}

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        return {name: one.checksum for name, one in self._sources.items() if agent in (None, one.agent)}

    async def put(self, sources: Sequence[Source]) -> None:
        self._sources.update({(one.agent, one.path): one for one in sources})

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        for name in names:
            self._sources.pop(name, None)

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        self.asked.append((query, count, only))
        if self.broken is not None:
            raise self.broken
        rows = [(one, chunk) for one in self._sources.values() if allowed(one, only) for chunk in one.chunks]
        texts = [f"{chunk.context}\n{chunk.text}" for _, chunk in rows]
        scores = bm25([f"{chunk.before}\n{text}" for (_, chunk), text in zip(rows, texts, strict=True)], query)
        cosines = [cosine(self.meaning(text), self.meaning(query)) for text in texts] if self.meaning else []
        by_words = [place for place in best(scores, count) if scores[place] > 0]
        by_meaning = best(cosines, count) if self.meaning else []
        found = [
            candidate(
                source,
                chunk,
                vector=self.meaning(texts[place]) if self.meaning else None,
                similarity=cosines[place] if self.meaning else None,
                words=scores[place] if place in by_words else None,
            )
            for place, (source, chunk) in enumerate(rows)
            if place in by_words or place in by_meaning
        ]
        return found, None if self.meaning else NO_EMBEDDER


def candidate(
    source: Source,
    chunk: Chunk,
    *,
    vector: Sequence[float] | None = None,
    similarity: float | None = None,
    words: float | None = None,
) -> Candidate:
    return Candidate(source.kind, source.agent, source.path, chunk, source.day, vector, similarity, words)


def a_candidate(
    path: str = "MEMORY.md",
    text: str = "text",
    *,
    lines: tuple[int, int] = (1, 1),
    kind: SourceKind = "memory",
    day: date | None = None,
    vector: Sequence[float] | None = None,
    similarity: float | None = None,
    words: float | None = None,
    parent: tuple[int, int] | None = None,
) -> Candidate:
    """One of agent `main`, as an index would give it."""
    chunk = Chunk(text, *lines, parent=parent)
    return Candidate(kind, "main", path, chunk, day, vector, similarity, words)


def allowed(source: Source, only: SearchFilter) -> bool:
    return (
        (only.agents is None or source.agent in only.agents)
        and (only.kinds is None or source.kind in only.kinds)
        and (only.paths is None or source.path.startswith(tuple(only.paths)))
        and (only.since is None or (source.day is not None and source.day >= only.since))
        and (only.until is None or (source.day is not None and source.day <= only.until))
    )


def bm25(texts: Sequence[str], query: str) -> list[float]:
    """Robertson and Zaragoza (2009), 3.15, with Lucene's idf, which is never negative."""
    bags = [re.findall(r"\w+", text.casefold()) for text in texts]
    mean = sum(map(len, bags)) / max(1, len(bags))
    scores = [0.0] * len(texts)
    for word in set(re.findall(r"\w+", query.casefold())):
        holding = sum(word in bag for bag in bags)
        idf = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))
        for place, bag in enumerate(bags):
            often = bag.count(word)
            scores[place] += idf * often * (K1 + 1) / (often + K1 * (1 - B + B * len(bag) / mean)) if often else 0
    return scores


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def best(scores: Sequence[float], count: int) -> list[int]:
    return sorted(range(len(scores)), key=lambda place: -scores[place])[:count]
