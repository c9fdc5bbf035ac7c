"""Measures how long a run has worked, and ends it when that is too long. Time spent waiting is not counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import RunTimedOut


class RunTimeout:
    """The working time of one run, measured with `clock`; work that exceeds the limit is cancelled."""

    def __init__(self, clock: Clock, limit_s: float) -> None:
        self._clock = clock
        self._limit_s = limit_s
        self._before_s = 0.0
        self._since: float | None = None
        self._scope: asyncio.Timeout | None = None

    @property
    def used_s(self) -> float:
        return self._before_s + (0.0 if self._since is None else self._clock.monotonic() - self._since)

    def check(self) -> None:
        """Raises: RunTimedOut."""
        if self.used_s >= self._limit_s:
            raise self._timeout_error()

    @asynccontextmanager
    async def limit(self) -> AsyncIterator[None]:
        """Counts while the block runs, and cancels it when the time is used up. Raises: RunTimedOut."""
        try:
            async with asyncio.timeout(None) as scope:
                self._scope = scope
                self._resume()
                try:
                    yield
                finally:
                    self._pause()
                    self._scope = None
        except TimeoutError as error:
            if scope.expired():
                raise self._timeout_error() from error
            raise

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stops counting inside the block."""
        was_counting = self._since is not None
        self._pause()
        try:
            yield
        finally:
            if was_counting:
                self._resume()

    def _resume(self) -> None:
        self._since = self._clock.monotonic()
        self._reschedule(max(0.0, self._limit_s - self._before_s))

    def _pause(self) -> None:
        self._before_s, self._since = self.used_s, None
        self._reschedule(None)

    def _reschedule(self, seconds: float | None) -> None:
        if self._scope is not None and not self._scope.expired():
            now = asyncio.get_running_loop().time()
            self._scope.reschedule(None if seconds is None else now + seconds)

    def _timeout_error(self) -> RunTimedOut:
        return RunTimedOut(
            f"Onyx reached the time limit of {self._limit_s:g} s for one answer.",
            hint="Ask for it in smaller steps, or raise runtime.defaultTimeoutMs in onyx.json. Time spent waiting for "
            "you "
            "or running cells doesn't count.",
        )
