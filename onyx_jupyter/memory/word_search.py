"""Finds passages of Markdown files by the words of a query, without an index."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from onyx_jupyter.memory.fact_lines import fact_chunks
from onyx_jupyter.memory.targets import FACTS_FILE, SHARED_PREFIX, day_of
from onyx_jupyter.protocols import Found, SearchFilter

SNIPPET_CHARS = 600
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")
_STEM_CHARS = 4


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a file, counted from 1, under their nearest heading; `score` is between 0 and 1, higher is better."""

    path: str
    start_line: int
    end_line: int
    heading: str
    score: float
    snippet: str


def search_words(texts: Mapping[str, str], query: str, limit: int) -> Sequence[Passage]:
    """Best first: passages with the larger share of the query's words, where rarer words weigh more.

    A word of four letters or more also matches words that begin with it. `texts` is path → Markdown. A score is
    Σ w(held) / Σ w(asked), between 0 and 1, with w = ln(1 + (N + 1) / (n + 0.5)) for a word that n of N passages hold.

    Source: inverse document frequency, Spärck Jones, "A statistical interpretation of term specificity" (1972); the
    halves are those of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), whose
    (N − n + 0.5) / (n + 0.5) is (N + 1) / (n + 0.5) − 1. The 1 is kept, so that a word in every passage counts, too.
    """
    words = list(dict.fromkeys(_words(query)))
    found = [(passage, _held(words, passage)) for path, text in texts.items() for passage in _passages(path, text)]
    counts = {word: sum(word in held for _, held in found) for word in words}
    weights = {word: math.log(1 + (len(found) + 1) / (count + 0.5)) for word, count in counts.items()}
    total = sum(weights.values())
    scored = [
        Passage(p.path, p.start_line, p.end_line, p.heading, round(sum(weights[w] for w in held) / total, 4), p.snippet)
        for p, held in found
        if held
    ]
    scored.sort(key=lambda passage: passage.path, reverse=True)  # for equal scores, the newest day first
    scored.sort(key=lambda passage: passage.score, reverse=True)
    return scored[:limit]


def found_by_words(passages: Sequence[Passage], agent_id: str, only: SearchFilter | None, limit: int) -> list[Found]:
    """The passages that pass the filter, as search results; only their words were scored."""
    found = [_found(passage, agent_id) for passage in passages]
    return [one for one in found if only is None or _may_be_found(one, only)][:limit]


def _found(passage: Passage, agent_id: str) -> Found:
    shared = passage.path.startswith(SHARED_PREFIX)
    return Found(
        kind="shared" if shared else "fact" if passage.path == FACTS_FILE else "memory",
        agent="" if shared else agent_id,
        path=passage.path,
        start_line=passage.start_line,
        end_line=passage.end_line,
        heading=passage.heading,
        snippet=passage.snippet,
        score=passage.score,
        text_score=passage.score,
        day=day_of(passage.path),
    )


def _may_be_found(found: Found, only: SearchFilter) -> bool:
    """A date range excludes passages without a day."""
    return (
        (only.agents is None or found.agent in only.agents)
        and (only.kinds is None or found.kind in only.kinds)
        and (only.paths is None or found.path.startswith(tuple(only.paths)))
        and (only.since is None or (found.day is not None and found.day >= only.since))
        and (only.until is None or (found.day is not None and found.day <= only.until))
    )


def _passages(path: str, text: str) -> Iterator[Passage]:
    """Blocks between empty lines and headings; in the facts file, each fact."""
    if path == FACTS_FILE:
        for chunk in fact_chunks(text):
            yield Passage(path, chunk.start_line, chunk.end_line, chunk.heading, 0.0, chunk.text)
        return
    heading, start = "", 0
    block: list[str] = []
    for number, line in enumerate([*_lines(text), ""], 1):
        title = _HEADING.match(line)
        if line.strip() and not title:
            start = start if block else number
            block.append(line)
            continue
        if block:
            yield Passage(path, start, start + len(block) - 1, heading, 0.0, "\n".join(block)[:SNIPPET_CHARS])
        block = []
        heading = title[1] if title else heading


def _lines(text: str) -> Sequence[str]:
    """Lines as editors and the index count them: `splitlines` also breaks at form feeds and Unicode separators."""
    return text.replace("\r\n", "\n").split("\n")


def _held(words: Sequence[str], passage: Passage) -> set[str]:
    there = set(_words(f"{passage.heading} {passage.snippet}"))
    return {
        word
        for word in words
        if word in there or (len(word) >= _STEM_CHARS and any(one.startswith(word) for one in there))
    }


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
