"""One writer of a file at a time, across threads and servers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path

from filelock import FileLock, Timeout

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors

LOCK_S = 10.0
# Threads of one process wait in turn, for longer than any of their tasks takes.
THREADS_S = 60.0
_FOLDER_TRIES = 5


class SharedLock:
    """The lock of `path`; `threads` alone is a reentrant lock among threads of this process."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.threads = threading.RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raises: StorageError if another server keeps it for too long, or the disk refuses."""
        if not self.threads.acquire(timeout=THREADS_S):
            raise StorageError(
                f"{self._path.name} could not be changed: another change has been running for {THREADS_S:g} s."
            )
        try:
            with disk_errors("lock", self._path):
                try:
                    self._take()
                except Timeout as error:
                    raise StorageError(
                        f"{self._path.name} could not be changed: another server has kept it locked for {LOCK_S:g} s.",
                        hint="Try again. If it keeps failing, another Onyx process that uses this home may be stuck.",
                    ) from error
            try:
                yield
            finally:
                self._file_lock.release()
        finally:
            self.threads.release()

    def _take(self) -> None:
        """Recreates the folder if it is deleted at this moment. Raises: Timeout, OSError."""
        for _ in range(_FOLDER_TRIES):
            with suppress(FileNotFoundError, FileExistsError):  # it existed, and was deleted meanwhile
                make_private_folder(self._path.parent)
                self._file_lock.acquire()
                return
        make_private_folder(self._path.parent)
        self._file_lock.acquire()

    @cached_property
    def _file_lock(self) -> FileLock:
        """Created on first use: it costs a millisecond, and most of a server's dozens are never needed."""
        return FileLock(self._path.with_suffix(".lock"), thread_local=False, timeout=LOCK_S, mode=PRIVATE_FILE)
