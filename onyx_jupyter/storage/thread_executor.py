"""Runs blocking work in its own threads, which take none from a pool and don't delay the end of the process.

The work must tolerate being cut off.
"""

from __future__ import annotations

import asyncio
import atexit
import contextvars
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import TypeVar

T = TypeVar("T")
# How long work in progress may take at the end of the process.
END_S = 2.0
_log = logging.getLogger(__name__)
_alive: dict[threading.Thread, Callable[[], None]] = {}


def start_thread(run: Callable[[], None], name: str, *, stop: Callable[[], None] = lambda: None) -> None:
    """Runs it until it returns or the process ends: then `stop` is called, which asks it to return at once."""
    _stop_at_exit()

    def run_and_unregister() -> None:
        try:
            run()
        finally:
            _alive.pop(threading.current_thread(), None)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run_and_unregister,), name=name, daemon=True)
    _alive[thread] = stop
    try:
        thread.start()
    except RuntimeError:
        del _alive[thread]
        raise


async def in_thread(work: Callable[[], T], name: str) -> T:
    """Returns or raises what `work` does. If the caller is cancelled, the work still runs to its end."""
    return await asyncio.shield(_begun(work, name))


class SerialExecutor:
    """Runs blocking work in order of arrival: only one thread at a time waits for a lock."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[], T]) -> T:
        """Returns or raises what `work` does. Even after a cancellation, the next one waits for the thread."""
        await self._turn.acquire()
        done = _begun(work, self._name)
        done.add_done_callback(lambda _: self._turn.release())
        return await asyncio.shield(done)


def wrap_exception(error: BaseException) -> Exception:
    """A thread's exception in a form that a future accepts and that ends no event loop.

    A panic of native code is not an Exception, and would otherwise be lost with its thread.
    """
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError(f"A thread ended with {type(error).__name__}: {error}")
    wrapped.__cause__ = error
    return wrapped


def _begun(work: Callable[[], T], name: str) -> asyncio.Future[T]:
    """A future that is done when the thread has ended, and is never cancelled."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        settle: Callable[[], None]
        try:
            settle = partial(done.set_result, work())
        except BaseException as error:
            failure = wrap_exception(error)
            settle = partial(done.set_exception, failure)
            if failure is not error:  # unexpected, and the caller may be gone
                _log.error("%s ended unexpectedly.", name, exc_info=error)
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle)

    try:
        start_thread(run, name)
    except RuntimeError as error:  # the system can't start another thread
        done.set_exception(error)
    return done


@cache
def _stop_at_exit() -> None:
    atexit.register(_stop)


def _stop() -> None:
    """A thread cut off in native code can crash the process, so each gets a moment."""
    last_s = time.monotonic() + END_S
    alive = list(_alive.items())
    for _, stop in alive:
        stop()
    for thread, _ in alive:
        thread.join(max(0.0, last_s - time.monotonic()))
