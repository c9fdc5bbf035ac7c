"""Keeps an index up to date with its files in the background, and says whether it can be searched.

The life cycle of memory and conversations: it starts with the first client or the first search, updates after each
change and at times without one (another server, a network drive), and starts again from the files if the index is lost.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

from onyx_jupyter.errors import OnyxError

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")
_INTERVAL_S = 60.0
_MOST_QUIET_WAITS = 12


class IndexUpdater:
    """Runs `update` whenever it may have something to do; it returns after how many seconds to run again, or None.

    `name` is what is indexed ("memory files"). The first update waits `first_s` seconds, so that the page and the first
    answer come first; a search does not wait. After a change, `quiet_s` seconds without another one are waited for.
    `on_change` is called when `is_complete` or `problem` may have changed.
    """

    def __init__(
        self,
        name: str,
        update: Callable[[], Awaitable[float | None]],
        *,
        first_s: float,
        quiet_s: float = 0.0,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._update = update
        self._first_s = first_s
        self._quiet_s = quiet_s
        self._on_change = on_change
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._current = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._losses = 0
        self.is_complete = False
        self.problem: str | None = None

    @property
    def has_started(self) -> bool:
        return self._task is not None

    def start(self) -> None:
        """Starts the background work; later calls do nothing."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"onyx index of {self._name}")

    def want(self) -> None:
        """A search is coming: pending updates start without waiting. Starts the background work."""
        self.start()
        if not self._current.is_set():
            self._wanted.set()

    def changed(self) -> None:
        """Something that is indexed has changed."""
        self._current.clear()
        self._changed.set()

    def updated(self, *, is_complete: bool) -> None:
        """The index was updated; `is_complete`: it covers all files. `update` says so before it returns."""
        self.is_complete, self.problem = is_complete, None

    def lost(self, why: str) -> None:
        """The index was found empty; it is filled again from the files."""
        self._losses += 1
        self.is_complete, self.problem = False, f"{why} Only keywords were searched."
        self._on_change()
        self.changed()

    async def current(self, within_s: float) -> None:
        """Returns when all changes are indexed or the time is up."""
        await _set_within(self._current, within_s)

    async def ask(self, index: Awaitable[Answer]) -> Answer | None:
        """The index's answer; None if the index was lost meanwhile, so that the answer may lack what was in it."""
        losses = self._losses
        answer = await index
        return answer if losses == self._losses else None

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        await _set_within(self._wanted, self._first_s)
        while True:
            self._changed.clear()
            self._wanted.clear()
            again_s = await self._update_once()
            if not self._changed.is_set():
                self._wanted.clear()
                self._current.set()
            if await _set_within(self._changed, min(again_s or _INTERVAL_S, _INTERVAL_S)):
                await self._until_quiet()

    async def _update_once(self) -> float | None:
        try:
            return await self._update()
        except OnyxError as error:
            log.warning("The index of the %s could not be updated: %s", self._name, error)
            self.problem = str(error)
        except Exception:  # searches fall back to keywords
            log.exception("The index of the %s could not be updated", self._name)
            self.problem = "The index is not available: Onyx hit an internal error. See the server log for details."
        self.is_complete = False
        self._on_change()
        return None

    async def _until_quiet(self) -> None:
        for _ in range(_MOST_QUIET_WAITS):
            self._changed.clear()
            if await _set_within(self._wanted, self._quiet_s) or not self._changed.is_set():
                return


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
