"""Decides which of the servers on one home does what must be done once: the first, and when it ends, the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from filelock import FileLock, Timeout

from onyx_jupyter.storage.atomic_write import PRIVATE_FILE

log = logging.getLogger(__name__)


class HomeOwner:
    """Holds a lock that the system releases with the process, however that ends; `begin` is called once it is held.

    `poll_s` is the interval at which a server that is not the owner tries to become it.
    """

    def __init__(self, lock: Path, begin: Callable[[], Awaitable[None]], *, poll_s: float) -> None:
        self._lock = FileLock(lock, thread_local=False, timeout=0, mode=PRIVATE_FILE)
        self._begin = begin
        self._poll_s = poll_s
        self._watching: asyncio.Task[None] | None = None
        self._has_tried = asyncio.Event()
        self._closed = False

    @property
    def is_owner(self) -> bool:
        return self._lock.is_locked

    async def start(self) -> None:
        """If the home is free, `begin` has been called when this returns, else it is called once it is. Idempotent."""
        if self._watching is None and not self._closed:
            self._watching = asyncio.create_task(self._watch(), name="onyx home owner")
        await self._has_tried.wait()

    async def close(self) -> None:
        """Releases the home for the next server."""
        await self.stop()
        self._lock.release()

    async def stop(self) -> None:
        """From now on `begin` is not called any more; an owner stays the owner until `close`."""
        self._closed = True
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
        self._has_tried.set()

    async def _watch(self) -> None:
        try:
            while True:
                if self._take():
                    await self._begin()
                    return
                if not self._has_tried.is_set():
                    log.info("Another server uses this home and does its background work.")
                    self._has_tried.set()
                await asyncio.sleep(self._poll_s)
        finally:
            self._has_tried.set()

    def _take(self) -> bool:
        try:
            self._lock.acquire()
        except Timeout:
            return False
        except OSError as error:  # a home that cannot be written to has no owner; it is reported elsewhere
            log.debug("The lock of the home could not be acquired: %s", error)
            return False
        return True
