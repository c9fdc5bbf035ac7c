"""A model file while it grows: `<name>.part`, with the hash of its contents."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from onyx_jupyter.providers.local_files.storage_folders import size_of
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE, make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors

_STEP_BYTES = 32 * 1024 * 1024
_OPEN = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


class PartFile:
    """For a single writer. All methods block; `hashed` is how many bytes are hashed, `size` the length of the file."""

    def __init__(self, path: Path, size_bytes: int) -> None:
        """Opens an existing part or begins one; a part longer than the whole is discarded. Raises: StorageError."""
        self._path = path
        make_private_folder(path.parent)
        with disk_errors("write", path):
            self._file = os.fdopen(os.open(path, _OPEN, PRIVATE_FILE), "r+b", buffering=0)
            if (size_of(path) or 0) > size_bytes:
                self._file.truncate(0)
        self.size = size_of(path) or 0
        self._begin()

    @property
    def sha256(self) -> str:
        """The hash of the first `hashed` bytes."""
        return self._hash.hexdigest()

    def hash_on(self) -> bool:
        """Hashes the next piece of an existing part; returns whether there is more."""
        if self.hashed < self.size:
            with disk_errors("read", self._path):
                self._file.seek(self.hashed)
                piece = self._file.read(min(_STEP_BYTES, self.size - self.hashed))
            if not piece:  # it was truncated meanwhile
                self.size = self.hashed
            self._hash.update(piece)
            self.hashed += len(piece)
        return self.hashed < self.size

    def append(self, data: bytes) -> None:
        """Raises: StorageError; bytes that did not fit are then not counted."""
        view = memoryview(data)
        with disk_errors("write", self._path):
            self._file.seek(self.size)
            while view:
                written = self._file.write(view)
                self._hash.update(view[:written])
                self.size += written
                self.hashed += written
                view = view[written:]

    def clear(self) -> None:
        """Starts from zero. Raises: StorageError."""
        with disk_errors("write", self._path):
            self._file.truncate(0)
        self.size = 0
        self._begin()

    def finish(self, target: Path) -> Path:
        """Renames it to `target`. Raises: StorageError."""
        with disk_errors("write", target):
            os.fsync(self._file.fileno())
            self._file.close()
            self._path.replace(target)
        return target

    def close(self) -> None:
        """Keeps the part for the next time, or removes it if it is empty."""
        if not self._file.closed:
            self._file.close()
            if self.size == 0:
                self._path.unlink(missing_ok=True)

    def _begin(self) -> None:
        self._hash = hashlib.sha256()
        self.hashed = 0
