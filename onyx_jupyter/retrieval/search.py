"""Searches any index for passages, by words and by meaning."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import tzinfo

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.protocols.retrieval import Found, SearchAnswer, SearchFilter, TextIndex
from onyx_jupyter.retrieval.passages import lines_of
from onyx_jupyter.retrieval.selection import CANDIDATES_A_RESULT, Scored, Selection, select
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.snippet import query_stems, snippet

MAX_QUERY_CHARS = 2_000
_DIGITS = 4
_CHECKSUM_CHARS = 16
# (query, filter, limit) → passages, used if the index is unavailable.
Fallback = Callable[[str, SearchFilter, int], Awaitable[Sequence[Found]]]


class HybridSearch:
    """A `Search` over one index.

    `settings` is called for every search, so that configuration changes apply at once. `time_zone` decides the current
    day; None is the machine's. `fallback` answers while the index is unavailable.
    """

    def __init__(
        self,
        index: TextIndex,
        settings: Callable[[], SearchSettings],
        clock: Clock,
        *,
        fallback: Fallback | None = None,
        time_zone: tzinfo | None = None,
    ) -> None:
        self._index = index
        self._settings = settings
        self._clock = clock
        self._fallback = fallback
        self._time_zone = time_zone

    async def search(
        self, query: str, *, only: SearchFilter | None = None, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        """At most `limit` passages, best first. If none reaches `min_score`, those that contain the query's words."""
        settings = self._settings()
        most = settings.limit if limit is None else limit
        least = settings.min_score if min_score is None else min_score
        query = query.strip()[:MAX_QUERY_CHARS]
        only = only or SearchFilter()
        if not query or most < 1:
            return SearchAnswer(())
        try:
            candidates, missing = await self._index.candidates(query, most * CANDIDATES_A_RESULT, only)
        except IndexUnavailable as error:
            return await self._without_index(query, only, most, error)
        today = self._clock.now().astimezone(self._time_zone).date()
        stems = query_stems(query)

        def choose() -> tuple[Selection, list[Found]]:
            selection = select(candidates, settings, today, limit=most, min_score=least, stems=stems)
            return selection, [_found(one, stems) for one in selection.results]

        selection, found = await asyncio.to_thread(choose)
        return SearchAnswer(tuple(found), _note(missing, selection, least))

    async def _without_index(self, query: str, only: SearchFilter, limit: int, error: IndexUnavailable) -> SearchAnswer:
        if self._fallback is None:
            return SearchAnswer((), f"The search failed. {error}")
        found = await self._fallback(query, only, limit)
        note = f"The index is not available, so the files were searched by keyword only. {error}"
        return SearchAnswer(tuple(found)[:limit], note)


def _note(missing: str | None, selection: Selection, min_score: float) -> str | None:
    below = (
        f"Nothing reaches the score of {min_score:g}; these contain words of the question." if selection.below else None
    )
    return " ".join(part for part in (missing, below) if part) or None


def _found(scored: Scored, stems: Sequence[str]) -> Found:
    candidate = scored.candidate
    start_line, end_line = lines_of(candidate.chunk)
    return Found(
        kind=candidate.kind,
        agent=candidate.agent,
        path=candidate.path,
        start_line=start_line,
        end_line=end_line,
        heading=candidate.chunk.heading,
        snippet=snippet(candidate.chunk.text, stems),
        score=round(scored.score, _DIGITS),
        vector_score=_rounded(scored.vector_score),
        text_score=_rounded(scored.text_score),
        recency=_rounded(scored.recency),
        day=candidate.day,
        relevance=round(scored.relevance, _DIGITS),
        checksum=hashlib.sha256(candidate.chunk.text.encode("utf-8", "surrogatepass")).hexdigest()[:_CHECKSUM_CHARS],
    )


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, _DIGITS)
