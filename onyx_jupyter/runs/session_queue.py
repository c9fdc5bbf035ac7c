"""One run at a time in each session: what is sent during a run waits behind it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

log = logging.getLogger(__name__)

RunFunction = Callable[[], Coroutine[Any, Any, None]]


class SessionQueue:
    """The runs of one session, in order of arrival. `on_idle` is called when nothing is left."""

    def __init__(self, on_idle: Callable[[], None]) -> None:
        self._on_idle = on_idle
        self._waiting: deque[tuple[str, RunFunction]] = deque()
        self._first = 0
        self._current: tuple[str, asyncio.Task[None]] | None = None
        self._stopped = ""
        self._worker: asyncio.Task[None] | None = None
        self._reserved = 0

    @property
    def is_idle(self) -> bool:
        return self._worker is None and self._reserved == 0

    @property
    def front(self) -> str | None:
        """The current run, or the one that is about to begin."""
        if self._current is not None:
            return self._current[0]
        return self._waiting[0][0] if self._waiting else None

    @contextmanager
    def reserve(self) -> Iterator[None]:
        """Keeps the queue from becoming idle while a message for it is still being saved."""
        self._reserved += 1
        try:
            yield
        finally:
            self._reserved -= 1
            self._notify_if_idle()

    def add(self, run_id: str, run: RunFunction, *, next_in_line: bool = False) -> None:
        """Starts the run, now or when those before it have ended; `next_in_line` overtakes the waiting ones."""
        if next_in_line:
            self._waiting.insert(self._first, (run_id, run))
            self._first += 1  # the next such run comes after it
        else:
            self._waiting.append((run_id, run))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name=f"onyx session of run {run_id}")

    def stop_current(self, run_id: str) -> bool:
        """Cancels the run if it is the current one; once, since a second cancellation would interrupt its cleanup."""
        if self._current is None or self._current[0] != run_id:
            return False
        if self._stopped != run_id:
            self._stopped = run_id
            # After the task's own first step: if cancelled before that, it never gets to announce its end.
            asyncio.get_running_loop().call_soon(self._current[1].cancel)
        return True

    def take_waiting(self, run_id: str) -> bool:
        """Removes a run that has not begun; False if there is none."""
        place = next((place for place, item in enumerate(self._waiting) if item[0] == run_id), None)
        if place is None:
            return False
        del self._waiting[place]
        self._first -= place < self._first
        return True

    async def close(self) -> None:
        """Cancels the current run and drops the waiting ones."""
        self._waiting.clear()
        self._first = 0
        if self._current is not None:
            self._current[1].cancel()
        if self._worker is not None:
            await asyncio.wait([self._worker], timeout=5)

    async def _work(self) -> None:
        try:
            while self._waiting:
                run_id, run = self._waiting.popleft()
                self._first = max(0, self._first - 1)
                task = asyncio.create_task(run(), name=f"onyx run {run_id}")
                self._current = (run_id, task)
                await asyncio.wait([task])
                self._current = None
                if not task.cancelled() and (error := task.exception()) is not None:
                    log.error("Run %s ended without an end event", run_id, exc_info=error)
        finally:
            self._worker = None
            self._notify_if_idle()

    def _notify_if_idle(self) -> None:
        if self.is_idle:
            self._on_idle()
