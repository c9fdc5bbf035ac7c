"""New content in place of what a memory file holds: one change at a time, and what it held is kept first.

It never decides what is written. What an editor saves meanwhile is found as the new content takes its place, and what
a write that was killed has left goes back, or into the versions, before anything else is done.
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
# An editor that empties a file before it fills it is done by then.
_PAUSES_S = (0.01, 0.03, 0.1, 0.2)


@contextmanager
def held(root: Path, wait_s: float | None = None) -> Iterator[None]:
    """Nobody else changes a memory file below that folder through Onyx, in this process or another.

    Blocks for at most `wait_s` seconds, `LOCK_S` where None. Raises: StorageError.
    """
    wait_s = LOCK_S if wait_s is None else wait_s
    release = taken(root, wait_s)
    if release is None:
        raise StorageError(
            f"The memory could not be written: another process has kept it locked for {wait_s:g} s.",
            hint="Try again; if it stays so, another Onyx on the same folder hangs.",
        )
    try:
        yield
    finally:
        release()


def taken(root: Path, wait_s: float = 0) -> Callable[[], None] | None:
    """Holds that folder and gives what lets go of it, in whichever thread; None where somebody else holds it still.

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


class Exchange:
    """Every method blocks, and belongs into a worker thread."""

    def __init__(self, folder: MemoryFolder, kept: KeptVersions) -> None:
        self._folder = folder
        self._kept = kept

    def note(self, path: str, real: Path, *, is_held: bool = False) -> FileVersion | None:
        """Keeps what the file holds now, where nobody here wrote it, as its person's version; the newest version.

        `is_held`: the caller holds the file's root. Where not even its folder is there (a drive that is not mounted),
        it was deleted by nobody, and nothing is made.

        Raises: ToolError where it is too large, StorageError.
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
        """The content in place of the one with that checksum; None takes the file as it is.

        Raises: MemoryConflict where the file holds something else, ToolError, StorageError.
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
        """What `reworked` makes of the file's content; of the newer one where somebody saves meanwhile.

        Raises: MemoryConflict where it changes again and again, ToolError, StorageError.
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
        """Around another's writing of `data`; it gets what to call with that which the content replaces.

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
        """What writes that were killed or failed have left in that folder; nothing of it goes that is not kept."""
        for left in leftovers(folder):
            path = self._folder.name_of(left.file)
            if path is None:
                continue
            try:
                self._take_in(path, left)
            except (OSError, StorageError) as error:
                log.warning("%s, left by a write of %s, could not be cleared away: %s", left.place, path, error)

    def _take_in(self, path: str, left: Leftover) -> None:
        """Raises: OSError, StorageError."""
        if left.may_be_owed:
            if put_back(str(left.place), str(left.file)):
                return
            content = content_at(str(left.place))
            if content is None or self._kept.keep(path, left.file, content) is None:
                return  # no versions are kept here
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
    """Raises: MemoryConflict for what is not as it was noted."""

    def check(now: bytes | None) -> None:
        if now != noted.content:
            raise MemoryConflict(path, checksum_of(now) if now is not None else NO_FILE)

    return check
