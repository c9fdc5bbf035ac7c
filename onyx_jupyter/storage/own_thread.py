"""Blocking work in threads of its own, which no pool lacks and the end of the process does not wait for.

It never keeps what the work makes: whatever is done here has to bear being cut off.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import TypeVar

T = TypeVar("T")
# What is under way at the end of the process has so long to come to its end.
END_S = 2.0
_alive: dict[threading.Thread, Callable[[], None]] = {}


def start_thread(run: Callable[[], None], name: str, *, stop: Callable[[], None] = lambda: None) -> None:
    """Runs it until it returns, or the process ends: `stop` is called then, and asks it to return at once."""
    _stop_at_exit()

    def until_done() -> None:
        try:
            run()
        finally:
            _alive.pop(threading.current_thread(), None)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(until_done,), name=name, daemon=True)
    _alive[thread] = stop
    thread.start()


async def in_thread(work: Callable[[], T], name: str) -> T:
    """What `work` returns or raises. Who is cancelled meanwhile leaves it to its end."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        settle: Callable[[], None]
        try:
            settle = partial(done.set_result, work())
        except Exception as error:
            settle = partial(done.set_exception, error)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(lambda: None if done.done() else settle())

    start_thread(run, name)
    return await done


class OneAtATime:
    """Blocking work in the order in which it came: however much of it waits for a lock, one thread waits."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns or raises."""
        async with self._turn:
            return await in_thread(work, self._name)


@cache
def _stop_at_exit() -> None:
    atexit.register(_stop)


def _stop() -> None:
    """A thread that is cut off in the middle of native code can take the process with it, so each gets a moment."""
    last_s = time.monotonic() + END_S
    alive = list(_alive.items())
    for _, stop in alive:
        stop()
    for thread, _ in alive:
        thread.join(max(0.0, last_s - time.monotonic()))
