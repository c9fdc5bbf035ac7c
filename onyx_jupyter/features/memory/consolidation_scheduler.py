"""Schedules memory consolidation: in the background, one conversation at a time, never during a turn.

A conversation is due after a number of messages, or when the user has opened another one and it has been quiet for a
while. Failures are retried later; a consolidation that a restart cut short is resumed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from filelock import FileLock, Timeout

from onyx_jupyter.clock import Clock, timestamp
from onyx_jupyter.config.schema import MemoryConfig
from onyx_jupyter.errors import NotFound, OnyxError
from onyx_jupyter.log_context import log_context
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.sessions.store import ListedSession, SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.sessions.unconsolidated import unconsolidated
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.usage.call_context import model_calls

CONSOLIDATION: Key[ConsolidationScheduler] = Key("consolidation")
log = logging.getLogger(__name__)
RETRIES_S = (60.0, 300.0, 900.0, 3600.0)
"""Delay after each consecutive failure; after the last one, it waits for a new message in the conversation."""
OTHER_SERVER_S = 60.0
BACKLOG_PER_DAY = 20
"""Conversations from before a start that are consolidated per day: each calls a model, perhaps a paid one."""
MAX_AGE_DAYS = 90
_DAY_S = 86_400.0


@dataclass
class _Watched:
    """A conversation that is not fully consolidated. Times are seconds of the monotonic clock."""

    quiet_since: float
    messages: int
    left: bool = False
    cut_short: bool = False
    failures: int = 0
    not_before: float = 0.0


class ConsolidationScheduler:
    """`consolidate` does one session; `is_idle` says that no turn of it is running; `lock` excludes other servers."""

    def __init__(
        self,
        sessions: SessionStore,
        consolidate: Callable[[SessionTranscript], Awaitable[None]],
        config: Callable[[], MemoryConfig],
        is_idle: Callable[[str], bool],
        lock: Path,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._consolidate = consolidate
        self._config = config
        self._is_idle = is_idle
        self._lock = FileLock(lock, thread_local=False, timeout=0, mode=PRIVATE_FILE)
        self._clock = clock
        self._watched: dict[str, _Watched] = {}
        self._wakeup = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._closed = False

    def start(self, sessions: Iterable[ListedSession]) -> None:
        """Queues the sessions left from before a restart, most recently used first, so many a day; skips old ones.

        Consolidations in the 24 hours before the start count towards the first day's limit.
        """
        now, begin = self._clock.now(), self._clock.monotonic()
        yesterday, oldest = timestamp(now - timedelta(days=1)), timestamp(now - timedelta(days=MAX_AGE_DAYS))
        known = [(one.session_key, one.summary) for one in sessions]
        cut_short = [key for key, summary in known if summary.consolidation_cut_short]
        waiting = [key for key, summary in known if summary.to_consolidate and summary.updated_at >= oldest]
        done = sum(yesterday < summary.consolidated_at <= timestamp(now) for _, summary in known)
        for key in cut_short:
            self._watched.setdefault(key, _Watched(begin, 0, left=True, cut_short=True))
        left = [key for key in waiting if key not in self._watched]
        for place, key in enumerate(left, start=min(done, BACKLOG_PER_DAY)):
            rest_s = place // BACKLOG_PER_DAY * _DAY_S
            self._watched[key] = _Watched(begin, 0, left=True, not_before=begin + rest_s)
        if left:
            log.info("%d conversations wait to be looked through, %d a day.", len(left), BACKLOG_PER_DAY)
        self.check_due()

    def touched(self, transcript: SessionTranscript) -> None:
        """Called when a turn in it has ended."""
        key, part = transcript.session_key, unconsolidated(transcript.entries)
        known = self._watched.get(key, _Watched(0.0, -1))
        if part.user_text and known.messages != part.messages:
            rest = known.not_before if known.failures else 0.0  # ends a wait for the daily limit, not a retry delay
            now = self._clock.monotonic()
            self._watched[key] = replace(known, quiet_since=now, messages=part.messages, not_before=rest)
        self.check_due()

    def opened(self, session_key: str) -> None:
        """Called when the user opens this session, and so leaves the others."""
        for key, watched in self._watched.items():
            watched.left = key != session_key
        self.check_due()

    def check_due(self) -> None:
        """Checks again what is due; also needed after a clock was moved forward."""
        self._wakeup.set()
        if self._worker is None and self._watched and not self._closed:
            self._worker = asyncio.create_task(self._work(), name="onyx memory consolidation")

    def next_due(self) -> tuple[float, str | None]:
        """Seconds until the next session is due, and its key; None if there is none."""
        config, now = self._config(), self._clock.monotonic()
        if not config.consolidation:
            return 0.0, None
        due = [
            (max(begin, watched.not_before) - now, key)
            for key, watched in self._watched.items()
            if self._is_idle(key) and (begin := _due(watched, config)) is not None
        ]
        return min(due, default=(0.0, None))

    async def close(self) -> None:
        """Starts nothing more and stops what is in progress; the next start resumes it."""
        self._closed = True
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker], timeout=5)

    async def _work(self) -> None:
        try:
            while self._watched:
                self._wakeup.clear()
                wait_s, key = self.next_due()
                if key is not None and wait_s <= 0:
                    await self._one(key)
                    continue
                with suppress(TimeoutError):
                    async with asyncio.timeout(None if key is None else wait_s):  # `wait_for` may swallow a cancel
                        await self._wakeup.wait()
        finally:
            self._worker = None

    async def _one(self, key: str) -> None:
        watched = self._watched[key]
        with log_context(session=key, operation="consolidate"), model_calls("consolidation", session_key=key):
            try:
                if not self._locked():
                    watched.not_before = self._clock.monotonic() + OTHER_SERVER_S
                    return
                try:
                    transcript = await self._sessions.get(key)
                    await self._consolidate(transcript)
                finally:
                    self._lock.release()
                self._done(key, watched, transcript)
            except NotFound:
                del self._watched[key]
            except OnyxError as error:
                self._failed(key, str(error))
            except Exception as error:  # no failure may end the scheduler
                log.exception("A conversation could not be looked through for what to remember")
                self._failed(key, type(error).__name__)

    def _locked(self) -> bool:
        """Takes the lock; returns False if another server holds it."""
        with disk_errors("lock", Path(self._lock.lock_file)):
            try:
                self._lock.acquire()
            except Timeout:
                return False
        return True

    def _failed(self, key: str, reason: str) -> None:
        watched = self._watched[key]
        watched.failures += 1
        if watched.failures > len(RETRIES_S):
            log.warning("What to remember of a conversation could not be found out, and is left for later: %s", reason)
            del self._watched[key]
            return
        rest_s = RETRIES_S[watched.failures - 1]
        log.warning("What to remember of a conversation is tried again in %g s: %s", rest_s, reason)
        watched.not_before = self._clock.monotonic() + rest_s

    def _done(self, key: str, watched: _Watched, transcript: SessionTranscript) -> None:
        """Removes the session, or watches it afresh if messages came in meanwhile."""
        newest = self._watched.pop(key)
        part = unconsolidated(transcript.entries)
        if newest is not watched and part.user_text:
            self._watched[key] = _Watched(newest.quiet_since, part.messages, left=newest.left)


def _due(watched: _Watched, config: MemoryConfig) -> float | None:
    if watched.cut_short or watched.messages >= config.consolidation_window:
        return watched.quiet_since
    return watched.quiet_since + config.consolidation_idle_ms / 1000 if watched.left else None
