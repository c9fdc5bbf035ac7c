"""Watches the files in a few folders for changes, and for whether one has settled."""

from __future__ import annotations

import asyncio
import logging
import stat
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from onyx_jupyter.clock import Clock
from onyx_jupyter.storage.thread_executor import start_thread, wrap_exception

log = logging.getLogger(__name__)
QUIET_S = 1.5
# A file truncated to nothing is usually about to be rewritten.
_EMPTY_QUIET = 3
_STEP_MS = 200
_GROUP_MS = 400
_POLL_MS = 1000
_RETRY_S = 5.0
# How long folders are polled every second before the system is asked again whether it can watch them.
POLLED_S = 600.0

# Each logged once: if the system cannot watch, and if even polling fails.
_REFUSED = "Folders cannot be watched, so they are checked every second: %s"
_FAILED = "Folders could not be checked; trying again: %s"

Changes: TypeAlias = Iterable[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class FileStamp:
    """Distinguishes two states of a file without reading it; times are in nanoseconds."""

    changed_ns: int
    inode_changed_ns: int
    size_bytes: int


class Settling:
    """How long files must stay unchanged before they count as complete.

    Both the file's own time and how long it has been seen unchanged count: even if the clock jumps, the wait is at most
    `quiet_s`, three times that for an empty file.
    """

    def __init__(self, clock: Clock, quiet_s: float = QUIET_S) -> None:
        self._clock = clock
        self._quiet_s = quiet_s
        self._seen: dict[Path, tuple[FileStamp, float]] = {}
        self._whole: set[Path] = set()

    def wait_s(self, file: Path, stamp: FileStamp) -> float:
        """Seconds; 0 if it can be read now."""
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
        """It was written completely, so its next reading needs no wait."""
        self._whole.add(file)

    def done(self, file: Path) -> None:
        """It has been read: what comes next is another change."""
        self._seen.pop(file, None)
        self._whole.discard(file)


class FolderWatch:
    """Watches the files directly in folders, not in their subfolders.

    `folders` is called again at every change; missing folders are left out until they exist. If the system cannot watch
    (too many watches, a network drive), folders are polled every second, and the system is asked again after
    `polled_s`. `open_watch` is watchfiles' `watch`.
    """

    def __init__(
        self,
        folders: Callable[[], Sequence[Path]],
        open_watch: Callable[..., Iterable[Changes]] | None = None,
        *,
        polled_s: float = POLLED_S,
    ) -> None:
        self._folders = folders
        self._open_watch = open_watch
        self._polled_s = polled_s
        self._polls = False

    async def changes(self) -> AsyncIterator[frozenset[Path]]:
        """The changed paths, shortly after the change, and an empty set whenever watching restarts.

        It continues, whatever a watch raises.
        """
        told: set[str] = set()
        while True:
            watched = await asyncio.to_thread(self._existing)
            yield frozenset()
            try:
                async with aclosing(self._watch(list(watched))) as found:
                    async for paths in found:
                        yield paths
                        if await asyncio.to_thread(self._existing) != watched or self._replaces(paths, watched):
                            break
                    else:  # polling has gone on for long enough
                        self._polls = False
            except Exception as error:
                if await asyncio.to_thread(self._existing) != watched:
                    continue  # a folder was deleted
                words = _FAILED if self._polls else _REFUSED
                if words not in told:
                    log.warning(words, error, exc_info=error.__cause__)
                    told.add(words)
                if self._polls:
                    await asyncio.sleep(_RETRY_S)
                self._polls = True

    async def _watch(self, folders: Sequence[Path]) -> AsyncGenerator[frozenset[Path], None]:
        """Ends after a pause if there is nothing to watch, and after polling for long enough."""
        if not folders:
            await asyncio.sleep(_RETRY_S)
            return
        watching = _Watching(self._open_watch, folders, polls=self._polls)
        until = asyncio.get_running_loop().time() + self._polled_s if self._polls else None
        try:
            while (paths := await watching.next_change(until)) is not None:
                yield paths
        finally:
            watching.stop()

    def _existing(self) -> dict[Path, tuple[int, int]]:
        """Folder → device and inode, which another folder of that name seldom has."""
        found = {}
        for folder in sorted(set(self._folders())):
            with suppress(OSError):
                state = folder.stat()
                if stat.S_ISDIR(state.st_mode):
                    found[folder] = (state.st_dev, state.st_ino)
        return found

    def _replaces(self, paths: Iterable[Path], watched: Collection[Path]) -> bool:
        """Whether a folder itself was replaced: the system does not watch another folder of the same name."""
        return not self._polls and any(path in watched for path in paths)


class _Watching:
    """One watch, in its own thread, which doesn't keep the process from ending."""

    def __init__(
        self, open_watch: Callable[..., Iterable[Changes]] | None, folders: Sequence[Path], *, polls: bool
    ) -> None:
        self._open_watch = open_watch
        self._folders = folders
        self._polls = polls
        self._queue: asyncio.Queue[frozenset[Path] | Exception | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._stop = threading.Event()
        start_thread(self._run, "onyx folder watch", stop=self._stop.set)

    async def next_change(self, until: float | None) -> frozenset[Path] | None:
        """The next paths; None after the last and at the loop time `until`. Raises: what the watch raises."""
        try:
            async with asyncio.timeout_at(until):
                news = await self._queue.get()
        except TimeoutError:
            return None
        if isinstance(news, Exception):
            raise news
        return news

    def stop(self) -> None:
        """Stops the watch; the thread ends soon after."""
        self._stop.set()

    def _run(self) -> None:
        last: Exception | None = None
        try:
            open_watch = self._open_watch or _watch()
            options = {"debounce": _GROUP_MS, "step": _STEP_MS, "poll_delay_ms": _POLL_MS, "recursive": False}
            polling = {"force_polling": True} if self._polls else {}
            for change in open_watch(
                *self._folders, watch_filter=None, stop_event=self._stop, raise_interrupt=False, **options, **polling
            ):
                self._publish(frozenset(Path(path) for _, path in change))
        except BaseException as error:
            last = wrap_exception(error)
        self._publish(last)

    def _publish(self, news: frozenset[Path] | Exception | None) -> None:
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, news)
        except RuntimeError:  # the loop has ended without stopping this
            self._stop.set()


def _watch() -> Callable[..., Iterable[Changes]]:
    from watchfiles import watch

    return watch
