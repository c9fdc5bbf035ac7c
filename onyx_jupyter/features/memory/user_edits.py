"""Keeps versions of memory files before and after the user changes them in JupyterLab.

It never blocks the change: a version that cannot be kept is reported, and the change is made anyway.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.memory.file_replacement import taken
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.storage.versions import VersionedFile

log = logging.getLogger(__name__)
# Another writer is done in milliseconds; a save does not wait for one that hangs.
_WAIT_S = 2.0
_PAUSE_S = 0.02
# (files, path) → keeps the current contents of the file.
_Note = Callable[[MemoryFiles, str], object]


@dataclass(slots=True)
class _Change:
    """`locks` keep the agents from writing meanwhile; `noted` are each agent's files before the change.

    `given_up`: the disk or a lock failed once and is not tried again while the user waits. The file's contents are
    then kept at the next look.
    """

    memories: Sequence[MemoryFiles] = ()
    locks: ExitStack = field(default_factory=ExitStack)
    noted: dict[str, set[str]] = field(default_factory=dict)
    given_up: bool = False


class UserEdits:
    """`memories` returns every agent's files; `on_change` is called, from any thread, when `problems` has changed."""

    def __init__(self, memories: Callable[[], Sequence[MemoryFiles]], on_change: Callable[[], None]) -> None:
        self._memories = memories
        self._on_change = on_change
        self._problems: dict[VersionedFile, str] = {}

    @property
    def problems(self) -> Mapping[VersionedFile, str]:
        """Why a file's version could not be kept the last time."""
        return dict(self._problems)

    def kept(self, file: VersionedFile) -> None:
        """Called when the file's contents were kept, no matter by whom."""
        if self._problems.pop(file, None):
            self._on_change()

    @asynccontextmanager
    async def around(self, places: Sequence[Path]) -> AsyncIterator[None]:
        """Wraps a change to anything at or below these real paths."""
        change = _Change()
        beginning = asyncio.ensure_future(self._begin(change, places))
        try:
            await asyncio.shield(beginning)
            yield
        finally:
            await asyncio.shield(asyncio.ensure_future(self._finish(beginning, change, places)))

    async def _begin(self, change: _Change, places: Sequence[Path]) -> None:
        roots = await asyncio.to_thread(self._roots, change, places)
        is_held = all([await _acquire(root, change.locks) for root in roots])
        await asyncio.to_thread(self._note, change, places, _note_locked if is_held else _note_unlocked)
        change.given_up |= not is_held

    async def _finish(self, beginning: asyncio.Future[None], change: _Change, places: Sequence[Path]) -> None:
        await asyncio.wait([beginning])
        change.locks.close()  # not in a worker thread: all of them may be waiting for it
        await asyncio.to_thread(self._note, change, places, MemoryFiles.note_outside_change)

    def _roots(self, change: _Change, places: Sequence[Path]) -> Sequence[Path]:
        """The folders to lock, in the order in which every writer locks them."""
        pairs = [(memory, place) for memory in self._memories() for place in places if memory.folder.covers_path(place)]
        change.memories = list(dict.fromkeys(memory for memory, _ in pairs))
        roots = {memory.folder.root_of(place) for memory, place in pairs}
        return sorted(root for root in roots if root.is_dir())

    def _note(self, change: _Change, places: Sequence[Path], note: _Note) -> None:
        for memory in [] if change.given_up else change.memories:
            before = change.noted.get(memory.agent_id, set())
            try:
                files = [file for file in memory.folder.files() if file.problem is None and _within(file.real, places)]
            except StorageError as error:
                log.warning("The memory files of %s could not be listed: %s", memory.agent_id, error)
                continue
            found = change.noted[memory.agent_id] = {file.path for file in files}
            for path in sorted(found | before):
                if not change.given_up:
                    self._note_one(memory, path, change, note)

    def _note_one(self, memory: MemoryFiles, path: str, change: _Change, note: _Note) -> None:
        file = memory.kept.named(path)
        try:
            note(memory, path)
        except (StorageError, ToolError) as error:
            change.given_up = isinstance(error, StorageError)
            log.warning("A version of %s could not be saved: %s", path, error)
            self._problems[file] = f"Your change was saved, but no version of {path} could be kept: {error}"
            self._on_change()
        else:
            self.kept(file)


async def _acquire(root: Path, locks: ExitStack) -> bool:
    """Locks the folder, or returns False. Waiting occupies no thread, since the lock holder may need one."""
    loop = asyncio.get_running_loop()
    until = loop.time() + _WAIT_S
    try:
        while (release := await asyncio.to_thread(taken, root)) is None:
            if loop.time() > until:
                log.warning("Saving a user's change to %s without waiting any longer for its lock.", root)
                return False
            await asyncio.sleep(_PAUSE_S)
    except StorageError as error:
        log.warning("A user's change is saved without the memory lock: %s", error)
        return False
    locks.callback(release)
    return True


def _note_locked(memory: MemoryFiles, path: str) -> object:
    return memory.note_outside_change(path, is_held=True)


def _note_unlocked(memory: MemoryFiles, path: str) -> object:
    """Without the lock: temporary files beside the file may belong to a write in progress, and are left alone."""
    return memory.kept.note(path, memory.folder.resolve(path))


def _within(real: Path, places: Sequence[Path]) -> bool:
    return any(real == place or place in real.parents for place in places)
