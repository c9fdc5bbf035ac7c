"""How much of what people said to each other over months is found again: `python benchmarks/memory/locomo.py FILE`.

The file is LoCoMo's, or a part of it; where neither an argument nor LOCOMO_FILE names one, nothing is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.figures import Figure, Group, percentile
from benchmarks.memory.locomo_file import CATEGORIES, Conversation, Question, read_conversations
from onyx_jupyter.config.schema import Config
from onyx_jupyter.protocols.retrieval import Candidate, SearchFilter, Source
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.embedders.sources import open_embeddings
from onyx_jupyter.retrieval.chunking import NOTE_SIZE, fingerprint
from onyx_jupyter.retrieval.conversation_chunking import chunk_turns
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings, search_settings
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.vector_cache import LanceVectorCache
from onyx_jupyter.testing.fake_clock import FakeClock

VARIABLE = "LOCOMO_FILE"
FOUND = 10
# Weights are looked at on the first conversations, and what is promised is measured on the others.
CHOSEN_ON = 2
TOTAL = "total"
OURS = "Onyx"
PAGE = Path(__file__).parents[2] / "docs" / "memory-search.md"
METHOD = (
    "LoCoMo (Maharana et al., ACL 2024): conversations over months and questions about them, each with the turns that "
    "answer it. Each conversation is indexed as sessions are, with the embedded embedder, and each question is asked a "
    "day after its end, with every method over the same passages, index and candidates. Recall: the share of those "
    "turns among the first 5 and 10 found; nDCG@10 counts a turn for more the earlier it comes. The weights "
    f"were set with all of them in view and looked at again on the first {CHOSEN_ON}; the figures are of the others."
)

_ALONE = SearchSettings(min_score=0, recency_floor=1, mmr_lambda=1)
METHODS: Mapping[str, SearchSettings] = {
    "full text alone": replace(_ALONE, vector_weight=0, text_weight=1),
    "vector alone": replace(_ALONE, vector_weight=1, text_weight=0),
    "RRF (k = 60)": replace(_ALONE, fusion="rrf"),
    "weighted 0.7/0.3, on these scales": replace(_ALONE, vector_weight=0.7, text_weight=0.3),
    "the same, ≥ 0.35, fading by half in 7 days": replace(
        _ALONE, vector_weight=0.7, text_weight=0.3, min_score=0.35, half_life_days=7, recency_floor=0, mmr_lambda=0.7
    ),
    OURS: search_settings(Config()),
}
WEIGHTS: Mapping[str, SearchSettings] = {
    f"{tenths / 10:.1f} / {1 - tenths / 10:.1f}": replace(
        METHODS[OURS], vector_weight=tenths / 10, text_weight=1 - tenths / 10
    )
    for tenths in range(2, 9)
}


@dataclass
class Scores:
    """Recall at 5 and 10 and nDCG@10, one of each a question, within 0 and 1."""

    at_5: list[float] = field(default_factory=list)
    at_10: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)

    def add(self, found: Sequence[tuple[str, int]], evidence: frozenset[tuple[str, int]]) -> None:
        self.at_5.append(recall(found[:5], evidence))
        self.at_10.append(recall(found[:FOUND], evidence))
        self.ndcg.append(ndcg(found[:FOUND], evidence))

    def extend(self, others: Scores) -> None:
        self.at_5 += others.at_5
        self.at_10 += others.at_10
        self.ndcg += others.ndcg

    def means(self) -> tuple[float, float, float]:
        """In percent."""
        at_5, at_10, gain = (100 * statistics.fmean(each) for each in (self.at_5, self.at_10, self.ndcg))
        return at_5, at_10, gain


@dataclass
class Results:
    """Method → category (or `total`) → scores; milliseconds of whole searches and of what they waited for the index."""

    scores: dict[str, dict[str, Scores]] = field(default_factory=dict)
    search_ms: list[float] = field(default_factory=list)
    own_ms: list[float] = field(default_factory=list)

    def add(self, method: str, question: Question, found: Sequence[tuple[str, int]]) -> None:
        for category in (question.category, TOTAL):
            self.scores.setdefault(method, {}).setdefault(category, Scores()).add(found, question.evidence)


def recall(found: Sequence[tuple[str, int]], evidence: frozenset[tuple[str, int]]) -> float:
    """The share of the evidence that was found."""
    return len(evidence & set(found)) / len(evidence)


def ndcg(found: Sequence[tuple[str, int]], evidence: frozenset[tuple[str, int]]) -> float:
    """Σ 1/log2(rank + 1) over the evidence found, as a share of the best possible.

    Source: Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques" (2002).
    """
    first = {place: rank for rank, place in reversed(list(enumerate(found, 1)))}
    gain = sum(1 / math.log2(first[place] + 1) for place in evidence if place in first)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(len(evidence), FOUND) + 1))


class TimedIndex(LanceTextIndex):
    """Tells how long a search waited for its candidates, the embedding of the query included.

    A question that is asked again, by another method, gets the candidates that it got before.
    """

    waited_ms = 0.0
    _known: tuple[str, tuple[Sequence[Candidate], str | None]] | None = None

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        if self._known is None or self._known[0] != query:
            began = time.perf_counter()
            self._known = (query, await super().candidates(query, count, only))
            self.waited_ms = 1000 * (time.perf_counter() - began)
        return self._known[1]


@dataclass
class Parts:
    """What was found in the conversations on which weights are looked at, in the others, and in all of them."""

    chosen_on: Results
    others: Results

    @property
    def whole(self) -> Results:
        both = (self.chosen_on, self.others)
        scores: dict[str, dict[str, Scores]] = {}
        for method in METHODS:
            for part in both:
                for category, found in part.scores[method].items():
                    scores.setdefault(method, {}).setdefault(category, Scores()).extend(found)
        one, other = both
        return Results(scores, one.search_ms + other.search_ms, one.own_ms + other.own_ms)


def measure() -> Group:
    named = os.environ.get(VARIABLE)
    if not named:
        return Group("Memory: LoCoMo", METHOD, [], [f"Not measured: {VARIABLE} names no file."])
    parts = asyncio.run(_parts(read_conversations(Path(named))))
    whole = parts.whole
    figures = [
        Figure(f"{title}, behind the best other method", [_behind(parts.others, place)], "points", 0)
        for place, title in enumerate(("recall at 5", "recall at 10", "nDCG at 10"))
    ]
    figures += [
        Figure("a search, embedding included", [statistics.median(whole.search_ms)], "ms"),
        Figure("  95 of 100 within", [percentile(whole.search_ms, 0.95)], "ms"),
        Figure("  its ranking and snippets", [statistics.median(whole.own_ms)], "ms"),
    ]
    return Group("Memory: LoCoMo", METHOD, figures, table=as_table(parts.others))


def as_table(results: Results) -> str:
    """Recall at 5 / recall at 10 / nDCG at 10 in percent, a row a method and a column a category, as Markdown."""
    categories = [*(name for name in CATEGORIES.values() if name in results.scores[OURS]), TOTAL]
    counts = [len(results.scores[OURS][name].ndcg) for name in categories]
    rows = [
        ["recall at 5 / recall at 10 / nDCG at 10", *(f"{n} ({c})" for n, c in zip(categories, counts, strict=True))],
        ["---"] * (len(categories) + 1),
    ]
    for method in METHODS:
        scores = results.scores[method]
        mark = "**" if method == OURS else ""
        cells = [_cell(scores[name]) for name in categories]
        rows.append([f"{mark}{method}{mark}", *(f"{mark}{cell}{mark}" for cell in cells)])
    return _markdown(rows)


def weights_table(results: Results) -> str:
    """The total for each pair of weights, as Markdown; the best mean of the three figures stands out."""
    totals = {name: results.scores[name][TOTAL] for name in WEIGHTS}
    best = max(totals, key=lambda name: sum(totals[name].means()))
    cells = [f"**{_cell(scores)}**" if name == best else _cell(scores) for name, scores in totals.items()]
    return _markdown([["meaning / words", *WEIGHTS], ["---"] * (len(WEIGHTS) + 1), ["total", *cells]])


def _cell(scores: Scores) -> str:
    return " / ".join(f"{value:.1f}" for value in scores.means())


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _behind(results: Results, place: int) -> float:
    others = [results.scores[method][TOTAL].means()[place] for method in METHODS if method != OURS]
    return max(others) - results.scores[OURS][TOTAL].means()[place]


async def _parts(conversations: Sequence[Conversation]) -> Parts:
    """Raises: ValueError where there are too few to choose on some and measure on others."""
    if len(conversations) <= CHOSEN_ON:
        raise ValueError(f"The file holds {len(conversations)} conversations; {CHOSEN_ON + 1} are needed at least.")
    return Parts(
        await _results(conversations[:CHOSEN_ON], {**METHODS, **WEIGHTS}),
        await _results(conversations[CHOSEN_ON:], METHODS),
    )


async def _results(conversations: Sequence[Conversation], methods: Mapping[str, SearchSettings]) -> Results:
    results = Results()
    for conversation in conversations:
        _tell(f"{conversation.name}: {len(conversation.questions)} questions")
        async with _indexed(conversation) as (index, clock):
            for question in conversation.questions:
                for method in (OURS, *(name for name in methods if name != OURS)):  # the first waits for the index
                    search = HybridSearch(index, lambda method=method: methods[method], clock, time_zone=UTC)
                    began = time.perf_counter()
                    found = (await search.search(question.text, limit=FOUND)).found
                    if method == OURS:
                        results.search_ms.append(1000 * (time.perf_counter() - began))
                        results.own_ms.append(results.search_ms[-1] - index.waited_ms)
                    results.add(method, question, [(one.path, one.start_line) for one in found])
    return results


@asynccontextmanager
async def _indexed(conversation: Conversation) -> AsyncIterator[tuple[TimedIndex, FakeClock]]:
    """The conversation in an index of its own, and the time a day after its end."""
    last = max(session.day for session in conversation.sessions)
    clock = FakeClock(datetime.combine(last + timedelta(days=1), time_of_day(12), UTC))
    with tempfile.TemporaryDirectory() as folder:
        cache = LanceVectorCache(Path(folder), clock=clock)
        embeddings = open_embeddings(
            EmbeddingSettings(embedder="local"), clock=clock, redact=lambda text: text, cache=cache
        )
        index = TimedIndex(Path(folder), "session", embeddings, fingerprint(NOTE_SIZE))
        await index.put(
            [
                Source("session", "main", one.name, one.name, chunk_turns(one.turns, day=one.day), one.day)
                for one in conversation.sessions
            ]
        )
        await index.settled()
        yield index, clock
        await index.close()
        await embeddings.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """1 where a method that others use too finds more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=os.environ.get(VARIABLE), help=f"or {VARIABLE}")
    parser.add_argument("--write", action="store_true", help="put the table into docs/memory-search.md")
    options = parser.parse_args(arguments)
    if options.file is None:
        print(f"Not measured: neither an argument nor {VARIABLE} names a file of LoCoMo.")
        return 0
    parts = asyncio.run(_parts(read_conversations(Path(options.file))))
    whole = parts.whole
    page = _page(parts)
    print(page)
    median, most, own = statistics.median(whole.search_ms), percentile(whole.search_ms, 0.95), whole.own_ms
    print(f"a search {median:.1f} ms (95 of 100 within {most:.1f}), its own share {statistics.median(own):.1f} ms")
    if options.write:
        _write(page)
    return int(any(_behind(part, place) > 0 for part in (parts.others, whole) for place in range(3)))


def _page(parts: Parts) -> str:
    return "\n\n".join(
        [
            f"The first {CHOSEN_ON} conversations, on which the weights were looked at again:",
            weights_table(parts.chosen_on),
            "The others:",
            as_table(parts.others),
            "All of them:",
            as_table(parts.whole),
        ]
    )


def _write(tables: str) -> None:
    begin, end = "<!-- locomo: written by benchmarks/memory/locomo.py -->\n", "<!-- end of locomo -->\n"
    before, _, rest = PAGE.read_text("utf-8").partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n{tables}\n\n{end}{after}", "utf-8")


def _tell(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
