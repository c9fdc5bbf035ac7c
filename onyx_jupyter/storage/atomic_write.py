"""Replaces a file as a whole: a reader sees the old content or the new one, never a mixture."""

from __future__ import annotations

import os
from pathlib import Path

from onyx_jupyter.storage.atomic_swap import Check, take_place, temporary_name
from onyx_jupyter.storage.disk_errors import disk_errors

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_text_atomically(path: Path, text: str, *, mode: int = PRIVATE_FILE) -> None:
    """Writes the text as UTF-8, with its line endings unchanged. Raises: StorageError."""
    write_bytes_atomically(path, text.encode(), mode=mode)


def write_bytes_atomically(path: Path, data: bytes, *, mode: int = PRIVATE_FILE, check: Check | None = None) -> None:
    """Writes beside the target, fsyncs, renames. An existing file keeps its mode.

    `check` gets the content about to be replaced; if it raises, the file stays as it is. Raises: StorageError.
    """
    with disk_errors("write", path):
        kept_mode = path.stat().st_mode & 0o777 if path.exists() else mode
        temporary = path.with_name(temporary_name(path.name))
        descriptor = os.open(temporary, _CREATE, PRIVATE_FILE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            temporary.chmod(kept_mode)
            if check is None:
                temporary.replace(path)
            else:
                take_place(str(temporary), str(path), data, check)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def make_private_folder(path: Path) -> None:
    """Creates the folder and its parents, new ones readable by the owner only. Raises: StorageError."""
    with disk_errors("create", path):
        for folder in reversed([path, *path.parents]):
            if not folder.exists():
                folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # Windows cannot open a folder; its rename is durable enough
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
