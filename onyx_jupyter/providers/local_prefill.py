"""What the process of a local model reads before anybody asks. It gives way to all that is asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import Any

# The last ones are still there: a person who deletes a word has nothing read twice.
_REMEMBERED = 4


class Ahead:
    """At most one reading at a time, and one start of the process. All of its methods belong to one event loop."""

    def __init__(self) -> None:
        self._reading: asyncio.Task[bool] | None = None
        self._prompt = ""
        self._starting: asyncio.Task[None] | None = None
        self._read: deque[str] = deque(maxlen=_REMEMBERED)

    async def start(self, starting: Coroutine[Any, Any, None]) -> None:
        """Waits for the start, which goes on where nobody waits for it any more: half a start is of no use."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(starting, name="onyx start of a local model")
            self._starting.add_done_callback(_look_at)
        else:
            starting.close()
        await asyncio.shield(self._starting)

    async def read(self, prompt: str, reading: Coroutine[Any, Any, bool]) -> None:
        """Until it is read, which `reading` says by True, or has to give way. What was read is not read again."""
        if prompt in self._read:
            reading.close()
            return
        if self._reading is not None and not self._reading.done() and prompt == self._prompt:
            reading.close()
            await asyncio.wait({self._reading})
            return
        self.give_way()
        self._reading = task = asyncio.create_task(reading, name="onyx reading ahead")
        self._prompt = prompt
        try:
            await asyncio.wait({task})
            if not task.cancelled() and task.result():
                self._read.append(prompt)
        finally:
            task.cancel()

    def give_way(self) -> None:
        """Something better is to be done. The process notices within a batch, and keeps what it has read."""
        if self._reading is not None:
            self._reading.cancel()

    def forget(self) -> None:
        """The process has ended, and what it had read with it."""
        self.give_way()
        self._read.clear()

    async def close(self) -> None:
        """Ends the reading, and a start that goes on."""
        self.forget()
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await starting


def _look_at(starting: asyncio.Task[None]) -> None:
    """A failure of a start that nobody waits for any more is no warning: who asks reads why."""
    if not starting.cancelled():
        starting.exception()
