"""Finds turns by the words of a query directly in the transcripts, newest first, without an index.

It answers while the index of the sessions is unavailable, runs one search at a time, and stops when the result is no
longer needed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError
from onyx_jupyter.protocols import Chunk, Found, SearchFilter, Source
from onyx_jupyter.retrieval.snippet import coverage, hits, query_stems, snippet
from onyx_jupyter.sessions.search import SPEAKERS, session_sources
from onyx_jupyter.sessions.store import SessionFile, SessionStore

log = logging.getLogger(__name__)
MAX_SESSIONS = 200


@dataclass(frozen=True, slots=True)
class WordSearchResult:
    """Best first. Of all `sessions` that qualify, the newest `read_sessions` were read in time."""

    found: Sequence[Found]
    read_sessions: int
    sessions: int

    @property
    def is_whole(self) -> bool:
        """Whether all sessions were read, up to `MAX_SESSIONS`."""
        return self.read_sessions == min(self.sessions, MAX_SESSIONS)


class SessionWordSearch:
    """`redact` removes secrets from what is found."""

    def __init__(self, store: SessionStore, redact: Callable[[str], str], clock: Clock) -> None:
        self._store = store
        self._redact = redact
        self._clock = clock
        self._run_lock = asyncio.Lock()
        self._typed: _Reading | None = None

    async def search(
        self, query: str, only: SearchFilter, limit: int, *, within_s: float | None = None
    ) -> WordSearchResult:
        """Turns that contain words of the query, in the newest sessions.

        `within_s` is for searches while the user types: returns what was found by then, and ends as soon as the next
        such search starts.
        """
        reading = _Reading(self._clock, within_s)
        if within_s is not None:
            if self._typed is not None:
                self._typed.stop()
            self._typed = reading
        async with self._run_lock:
            work = asyncio.create_task(asyncio.to_thread(self._read, query, only, limit, reading))
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                reading.stop()
                await asyncio.wait([work])  # a turn at most; the next search begins when this thread is free
                raise

    def _read(self, query: str, only: SearchFilter, limit: int, reading: _Reading) -> WordSearchResult:
        stems = query_stems(query)
        newest = sorted(self._store.files(), key=lambda file: file.stamp[1], reverse=True)
        asked = [file for file in newest if only.agents is None or file.agent in only.agents]
        found: list[Found] = []
        read_sessions = 0
        with suppress(_SearchStopped):
            for file in asked[:MAX_SESSIONS]:
                found += self._found_in(file, stems, reading)
                read_sessions += 1
        best = sorted(found, key=lambda one: -one.score)[:limit]
        return WordSearchResult(best, read_sessions, len(asked))

    def _found_in(self, file: SessionFile, stems: Sequence[str], reading: _Reading) -> Sequence[Found]:
        """Raises: _SearchStopped."""
        reading.check_deadline()
        try:
            entries = self._store.read(file)
        except StorageError as error:
            log.info("Skipping a session in searches for now: %s", error)
            return ()
        said = [entry for entry in entries if entry.role in SPEAKERS]
        if not any(_holds(entry.content, stems, reading) for entry in said):
            return ()  # most contain none of the words, and redacting takes far longer

        def redacted(text: str) -> str:
            reading.check_deadline()
            return self._redact(text)

        sources = session_sources(file.agent, file.session_key, entries, redacted)
        passages = [(source, chunk, coverage(chunk.text, stems)) for source in sources for chunk in source.chunks]
        return [_found(source, chunk, share, stems) for source, chunk, share in passages if share > 0]


class _SearchStopped(Exception):
    """The time is up, or the search was stopped."""


class _Reading:
    """The time limit of one search."""

    def __init__(self, clock: Clock, within_s: float | None) -> None:
        self._clock = clock
        self._until_s = None if within_s is None else clock.monotonic() + within_s
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def check_deadline(self) -> None:
        """Call between any two turns. Raises: _SearchStopped."""
        if self._stopped.is_set() or (self._until_s is not None and self._clock.monotonic() >= self._until_s):
            raise _SearchStopped


def _holds(text: str, stems: Sequence[str], reading: _Reading) -> bool:
    """Raises: _SearchStopped."""
    reading.check_deadline()
    return bool(hits(text, stems))


def _found(source: Source, chunk: Chunk, share: float, stems: Sequence[str]) -> Found:
    return Found(
        kind=source.kind,
        agent=source.agent,
        path=source.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        heading=chunk.heading,
        snippet=snippet(chunk.text, stems),
        score=round(share, 4),
        text_score=round(share, 4),
        day=source.day,
    )
