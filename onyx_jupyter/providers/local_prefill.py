"""Lets the process of a local model read a prompt ahead of a question. It gives way to every real request."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import Any

# The last few prompts are still in memory: deleting a word causes no rereading.
_REMEMBERED = 4


class LocalPrefill:
    """At most one prefill at a time, and one start of the process. All methods belong to one event loop."""

    def __init__(self) -> None:
        self._reading: asyncio.Task[bool] | None = None
        self._prompt = ""
        self._starting: asyncio.Task[None] | None = None
        self._read: deque[str] = deque(maxlen=_REMEMBERED)

    async def start(self, starting: Coroutine[Any, Any, None]) -> None:
        """Waits for the start, which continues if the caller stops waiting: half a start is of no use."""
        if self._starting is None or self._starting.done():
            self._starting = asyncio.create_task(starting, name="onyx start of a local model")
            self._starting.add_done_callback(_consume_exception)
        else:
            starting.close()
        await asyncio.shield(self._starting)

    async def read(self, prompt: str, reading: Coroutine[Any, Any, bool]) -> None:
        """Waits until `reading` ends (True: the prompt was read) or is interrupted. A prompt is not read twice."""
        if prompt in self._read:
            reading.close()
            return
        if self._reading is not None and not self._reading.done() and prompt == self._prompt:
            reading.close()
            await asyncio.wait({self._reading})
            return
        self.interrupt_prefill()
        self._reading = task = asyncio.create_task(reading, name="onyx reading ahead")
        self._prompt = prompt
        try:
            await asyncio.wait({task})
            if not task.cancelled() and task.result():
                self._read.append(prompt)
        finally:
            task.cancel()

    def interrupt_prefill(self) -> None:
        """Interrupts the prefill. The process notices within a batch, and keeps what it has read."""
        if self._reading is not None:
            self._reading.cancel()

    def forget(self) -> None:
        """The process has ended, and what it had read is lost."""
        self.interrupt_prefill()
        self._read.clear()

    async def close(self) -> None:
        """Stops the prefill and any start in progress."""
        self.forget()
        starting, self._starting = self._starting, None
        if starting is not None:
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await starting


def _consume_exception(starting: asyncio.Task[None]) -> None:
    """The failure of an abandoned start needs no warning: the next request reports the reason."""
    if not starting.cancelled():
        starting.exception()
