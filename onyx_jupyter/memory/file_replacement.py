"""Replaces the content of memory files: one change at a time, and the old content is kept first.

If an editor saves meanwhile, this is noticed when the content is swapped. What a killed write left behind is restored,
or kept as a version, before anything else is done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from filelock import FileLock, Timeout

from onyx_jupyter.errors import MemoryConflict, StorageError
from onyx_jupyter.memory.folder import NO_FILE, MemoryFolder, refuse_unreadable
from onyx_jupyter.memory.kept_versions import KeptVersions, Noted
from onyx_jupyter.protocols import FileVersion, MemoryAuthor
from onyx_jupyter.storage.atomic_swap import Check, Leftover, content_at, leftovers, put_back
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder, write_bytes_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.versions import checksum_of

log = logging.getLogger(__name__)
LOCK_S = 10.0
_LOCK = ".memory.lock"
# By then, an editor that empties a file before it fills it is done.
_PAUSES_S = (0.01, 0.03, 0.1, 0.2)


@contextmanager
def held(root: Path, wait_s: float | None = None) -> Iterator[None]:
    """Locks the memory files below that folder against other changes through Onyx, in any process.

    Blocks for at most `wait_s` seconds, `LOCK_S` if None. Raises: StorageError.
    """
    wait_s = LOCK_S if wait_s is None else wait_s
    release = taken(root, wait_s)
    if release is None:
        raise StorageError(
            f"The memory could not be written: another process has kept it locked for {wait_s:g} s.",
            hint="Try again. If it keeps failing, another Onyx process that uses this folder may be stuck.",
        )
    try:
        yield
    finally:
        release()


def taken(root: Path, wait_s: float = 0) -> Callable[[], None] | None:
    """Locks that folder and returns the function that unlocks it, from any thread; None if it is still locked.

    Raises: StorageError.
    """
    make_private_folder(root)
    lock = FileLock(root / _LOCK, timeout=wait_s, mode=PRIVATE_FILE, thread_local=False)
    with disk_errors("lock", root):
        try:
            lock.acquire()
        except Timeout:
            return None
    return lock.release


class FileReplacement:
    """Every method blocks: call them in a worker thread."""

    def __init__(self, folder: MemoryFolder, kept: KeptVersions) -> None:
        self._folder = folder
        self._kept = kept

    def note(self, path: str, real: Path, *, is_held: bool = False) -> FileVersion | None:
        """Keeps content that Onyx did not write as the user's version. Returns the newest version.

        `is_held`: the caller holds the root's lock. If even the file's folder is missing (an unmounted drive), the file
        does not count as deleted, and nothing is created.
        Raises: ToolError if it is too large, StorageError.
        """
        root = self._folder.root_of(real)
        if not root.is_dir():
            return None
        with nullcontext() if is_held else held(root):
            return self._note(path, real, None).version

    def put(
        self,
        path: str,
        real: Path,
        data: bytes,
        based_on: str | None,
        author: MemoryAuthor,
        session_key: str | None,
        restored: int | None = None,
    ) -> FileVersion | None:
        """Replaces the content that has that checksum; None accepts the file as it is.

        Raises: MemoryConflict if the file holds something else, ToolError, StorageError.
        """
        with held(self._folder.root_of(real)):
            noted = self._note(path, real, based_on)
            return self._put(path, real, data, noted, author, session_key, restored)

    def rework(
        self,
        path: str,
        real: Path,
        reworked: Callable[[bytes], bytes],
        author: MemoryAuthor,
        session_key: str | None,
    ) -> FileVersion | None:
        """Writes what `reworked` makes of the content; starts over if someone saves meanwhile.

        Raises: MemoryConflict if the file keeps changing, ToolError, StorageError.
        """
        with held(self._folder.root_of(real)):
            for pause_s in (*_PAUSES_S, None):
                noted = self._note(path, real, None)
                data = reworked(noted.content or b"")
                refuse_unreadable(path, data)
                try:
                    return self._put(path, real, data, noted, author, session_key)
                except MemoryConflict:
                    if pause_s is None:
                        raise
                time.sleep(pause_s)
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def around(
        self,
        path: str,
        real: Path,
        data: bytes,
        based_on: str | None,
        author: MemoryAuthor,
        session_key: str | None,
    ) -> Iterator[Check]:
        """Wraps another writer's write of `data`; yields a check to call with the content that is replaced.

        Raises: as `put`.
        """
        refuse_unreadable(path, data)
        with held(self._folder.root_of(real)):
            noted = self._note(path, real, based_on)
            yield _refuse_other(path, noted)
            self._kept.wrote(path, real, data, author, session_key)

    def _note(self, path: str, real: Path, based_on: str | None) -> Noted:
        self._clear(real.parent)
        noted = self._kept.note(path, real)
        if based_on is not None and noted.checksum != based_on:
            raise MemoryConflict(path, noted.checksum)
        return noted

    def _clear(self, folder: Path) -> None:
        """Clears what killed or failed writes left in that folder; deletes nothing that is not kept."""
        for left in leftovers(folder):
            path = self._folder.name_of(left.file)
            if path is None:
                continue
            try:
                self._take_in(path, left)
            except (OSError, StorageError) as error:
                log.warning("%s, left over from a write of %s, could not be deleted: %s", left.place, path, error)

    def _take_in(self, path: str, left: Leftover) -> None:
        """Raises: OSError, StorageError."""
        if left.may_be_owed:
            if put_back(str(left.place), str(left.file)):
                return
            content = content_at(str(left.place))
            if content is None or self._kept.keep(path, left.file, content) is None:
                return  # no versions are kept
        left.place.unlink(missing_ok=True)

    def _put(
        self,
        path: str,
        real: Path,
        data: bytes,
        noted: Noted,
        author: MemoryAuthor,
        session_key: str | None,
        restored: int | None = None,
    ) -> FileVersion | None:
        make_private_folder(real.parent)
        write_bytes_atomically(real, data, check=_refuse_other(path, noted))
        return self._kept.wrote(path, real, data, author, session_key, restored)


def _refuse_other(path: str, noted: Noted) -> Check:
    """A check that raises MemoryConflict if the content is not as it was noted."""

    def check(now: bytes | None) -> None:
        if now != noted.content:
            raise MemoryConflict(path, checksum_of(now) if now is not None else NO_FILE)

    return check
