"""Rereads the configuration when its file changes, or the stored keys: another server may share them."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.watch import FileStamp, FolderWatch, Settling

log = logging.getLogger(__name__)
# Editors truncate a file or move it away before they write it; what stands there meanwhile must not come into force.
_QUIET_S = 0.3
# A change while the watch is being opened is not reported, so the file is read once more after that.
_OPENING_S = 1.0
_NEVER_NS = 2**62


class ConfigWatch:
    """Follows `onyx.json`, also where it is a link to a file elsewhere."""

    def __init__(self, configured: Configured, clock: Clock) -> None:
        self._configured = configured
        self._clock = clock
        self._file = configured.home.config_file
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()

    async def start(self) -> None:
        """Reads the file once more, since it may have changed while nobody followed it; once."""
        if self._tasks:
            return
        self._tasks = [
            asyncio.create_task(self._follow(), name="onyx configuration watch"),
            asyncio.create_task(self._reread(), name="onyx configuration"),
        ]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _follow(self) -> None:
        watch = FolderWatch(lambda: [self._file.parent, self._file.resolve().parent])
        async for paths in watch.changes():
            if not paths:
                asyncio.get_running_loop().call_later(_OPENING_S, self._changed.set)
            elif not paths.isdisjoint({self._file, self._file.resolve(), self._configured.home.credentials_file}):
                self._changed.set()

    async def _reread(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._settled()
                await self._configured.read()
            except StorageError as error:
                log.error("The configuration could not be read again: %s", error)
            except Exception:  # the next version of the file may be right
                log.exception("The configuration could not be applied")

    async def _settled(self) -> None:
        """Returns once the file has been left alone for a moment."""
        settling = Settling(self._clock, _QUIET_S)
        while True:
            wait_s = settling.wait_s(self._file, await asyncio.to_thread(_stamp, self._file))
            if wait_s <= 0:
                return
            await asyncio.sleep(wait_s)


def _stamp(file: Path) -> FileStamp:
    """Of a missing file that of an empty one that is just being written."""
    try:
        found = file.stat()
    except OSError:
        return FileStamp(_NEVER_NS, _NEVER_NS, 0)
    return FileStamp(found.st_mtime_ns, found.st_ctime_ns, found.st_size)
