"""Replaces a file as a whole: a reader sees the old content or the new one, never a mixture."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.take_place import UNFINISHED, Check, take_place

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def write_text_atomically(path: Path, text: str, *, mode: int = PRIVATE_FILE) -> None:
    """The text as UTF-8, its line ends as they are. Raises: StorageError."""
    write_bytes_atomically(path, text.encode(), mode=mode)


def write_bytes_atomically(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, check: Check | None = None) -> None:
    """Writes beside the target, fsyncs, renames. A file that exists keeps its mode.

    `check` is given what is replaced; what it raises leaves the file as it is. Raises: StorageError.
    """
    with disk_errors("write", path):
        kept_mode = path.stat().st_mode & 0o777 if path.exists() else mode
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(kept_mode)
            if check is None:
                Path(temporary).replace(path)
            else:
                take_place(temporary, str(path), data, check)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def make_private_folder(path: Path) -> None:
    """The folder and its parents, new ones readable by the owner alone. Raises: StorageError."""
    with disk_errors("create", path):
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder; its rename is durable enough without
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
