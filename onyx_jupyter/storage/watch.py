"""Tells when files in a few folders change, and whether one has been left in peace since. It never reads them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.clock import Clock

log = logging.getLogger(__name__)
QUIET_S = 1.5
# A file that was cut to nothing is most often one that is about to be written anew.
_EMPTY_QUIET = 3
_STEP_MS = 200
_GROUP_MS = 400
_POLL_MS = 1000
_AGAIN_S = 5.0


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells two states of a file apart without reading it; the moments are in nanoseconds."""

    changed_ns: int
    inode_changed_ns: int
    size_bytes: int


class Settling:
    """How long files still have to be left in peace before they are taken for whole.

    What the file's own time says counts, and so does for how long it has been seen unchanged: a clock that jumps makes
    nobody wait for longer than `quiet_s`, three times that for an empty file.
    """

    def __init__(self, clock: Clock, quiet_s: float = QUIET_S) -> None:
        self._clock = clock
        self._quiet_s = quiet_s
        self._seen: dict[Path, tuple[Stamp, float]] = {}
        self._whole: set[Path] = set()

    def wait_s(self, file: Path, stamp: Stamp) -> float:
        """Seconds; 0 where it can be read now."""
        if file in self._whole:
            return 0.0
        now = self._clock.monotonic()
        before = self._seen.get(file)
        if before is None or before[0] != stamp:
            before = self._seen[file] = (stamp, now)
        needed = self._quiet_s if stamp.size_bytes else self._quiet_s * _EMPTY_QUIET
        age = self._clock.now().timestamp() - stamp.changed_ns / 1e9
        return max(0.0, needed - max(now - before[1], age))

    def trust(self, file: Path) -> None:
        """It was written as a whole, so its next reading waits for nothing."""
        self._whole.add(file)

    def done(self, file: Path) -> None:
        """It has been read: what comes next is another change."""
        self._seen.pop(file, None)
        self._whole.discard(file)


class FolderWatch:
    """Watches the files of folders, without what lies in folders below them.

    `folders` is asked anew at every change; those that are not there are left out until they are. Where the system
    cannot watch (too many watches, a network drive), they are looked at every second. `open_watch` is watchfiles'
    `awatch`.
    """

    def __init__(self, folders: Callable[[], Sequence[Path]], open_watch: Callable[..., Any] | None = None) -> None:
        self._folders = folders
        self._open_watch = open_watch
        self._polls = False

    async def changes(self) -> AsyncIterator[frozenset[Path]]:
        """The paths that changed, a moment after they did, and an empty set whenever watching begins anew."""
        while True:
            watched = await asyncio.to_thread(self._existing)
            yield frozenset()
            try:
                async with aclosing(self._watch(watched)) as found:
                    async for paths in found:
                        yield paths
                        if await asyncio.to_thread(self._existing) != watched:
                            break
            except OSError as error:
                log.warning("Folders cannot be watched, so they are looked at every second: %s", error)
                if self._polls:
                    await asyncio.sleep(_AGAIN_S)
                self._polls = True

    async def _watch(self, folders: Sequence[Path]) -> AsyncGenerator[frozenset[Path], None]:
        if not folders:
            await asyncio.sleep(_AGAIN_S)
            return
        open_watch = await asyncio.to_thread(_awatch) if self._open_watch is None else self._open_watch
        stop = asyncio.Event()
        options = {"debounce": _GROUP_MS, "step": _STEP_MS, "poll_delay_ms": _POLL_MS, "recursive": False}
        polling = {"force_polling": True} if self._polls else {}
        try:
            async with aclosing(
                open_watch(*folders, watch_filter=None, stop_event=stop, **options, **polling)
            ) as changes:
                async for change in changes:
                    yield frozenset(Path(path) for _, path in change)
        finally:
            stop.set()

    def _existing(self) -> Sequence[Path]:
        return sorted({folder for folder in self._folders() if folder.is_dir()})


def _awatch() -> Callable[..., Any]:
    from watchfiles import awatch

    return awatch
