"""A lock so that only one server or script fetches a file at a time; the others can tell which one.

It is the system's own file lock: it ends with the process, however that ends.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder, write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors

# Checking whether the lock is free holds it for less than a millisecond.
_LOCK_CHECK_S = 0.5


class Owner(BaseModel):
    """Who fetches."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    pid: int
    host: str

    def __str__(self) -> str:
        here = self.host == socket.gethostname()
        return f"another process ({self.pid}{'' if here else f' on {self.host}'})"


class DownloadedElsewhere(Exception):
    """Another process has the lock."""

    def __init__(self, owner: Owner | None) -> None:
        super().__init__(f"{owner or 'Another process'} is already downloading it.")
        self.owner = owner


class DownloadLock:
    """The lock of one file in one folder."""

    def __init__(self, folder: Path, file_name: str) -> None:
        self._folder = folder
        self._file = folder / f"{file_name}.lock"
        self._note = folder / f"{file_name}.owner.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Raises: DownloadedElsewhere, StorageError."""
        make_private_folder(self._folder)
        lock = self._lock(_LOCK_CHECK_S)
        with disk_errors("lock", self._file):
            try:
                lock.acquire()
            except Timeout:
                raise DownloadedElsewhere(self._noted()) from None
        try:
            owner = Owner(pid=os.getpid(), host=socket.gethostname())
            write_text_atomically(self._note, owner.model_dump_json())
            yield
        finally:
            self._note.unlink(missing_ok=True)
            lock.release()

    def owner(self) -> Owner | None:
        """The current owner; None if the lock is free. A killed process leaves a note but no lock."""
        if not self._note.exists():
            return None
        lock = self._lock(0)
        try:
            lock.acquire()
        except Timeout:
            return self._noted()
        except OSError:
            return None
        lock.release()
        return None

    def _lock(self, timeout_s: float) -> FileLock:
        return FileLock(self._file, thread_local=False, timeout=timeout_s, mode=PRIVATE_FILE)

    def _noted(self) -> Owner | None:
        try:
            return Owner.model_validate_json(self._note.read_bytes())
        except (OSError, ValidationError):
            return None
