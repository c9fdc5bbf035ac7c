"""Converts OSError into StorageError with a message that a person can act on. It never swallows one."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onyx_jupyter.errors import StorageError

_HINTS = {
    errno.ENOSPC: "No space is left on the disk. Free some, then try again.",
    errno.EDQUOT: "The disk quota is exceeded. Free some space, then try again.",
    errno.EFBIG: "The file has reached the maximum size allowed here.",
    errno.EACCES: "Permission denied. Check who owns the folder.",
    errno.EPERM: "Permission denied. Check who owns the folder.",
    errno.EROFS: "The file system is read-only.",
}


@contextmanager
def disk_errors(action: str, path: Path) -> Iterator[None]:
    """Raises StorageError(`Could not {action} {path}: …`) for any OSError inside."""
    try:
        yield
    except OSError as error:
        hint = _HINTS.get(error.errno or 0)
        reason = hint or error.strerror or str(error)
        raise StorageError(f"Could not {action} {path}: {reason}", hint=hint) from error
