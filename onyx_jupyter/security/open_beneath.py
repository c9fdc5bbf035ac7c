"""Opens files and folders beneath a folder without following a link on the way.

A path is checked first and opened later: if a folder is swapped for a link in between, opening fails, since each step
starts from the folder opened before and refuses links. On systems without that (Windows), the checked path is opened
as it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.storage.atomic_swap import Check, take_place, temporary_name

_STEPS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK
_BINARY = getattr(os, "O_BINARY", 0)
# Opening a pipe without a writer would block forever; for regular files the flag has no effect.
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | _BINARY
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY


class NotRegular(OSError):
    """A folder, a device, a pipe or a socket where a file was expected."""


@dataclass(frozen=True, slots=True)
class Folder:
    """An open folder: operations apply to this very folder, wherever its path leads by now."""

    path: Path
    descriptor: int | None

    @property
    def identity(self) -> tuple[int, int]:
        """Device and inode: the same for a folder under any name."""
        found = self.path.stat() if self.descriptor is None else os.fstat(self.descriptor)
        return found.st_dev, found.st_ino

    def entries(self) -> list[os.DirEntry[str]]:
        """Its entries; pass `follow_symlinks=False` to their methods to not follow links."""
        with os.scandir(self.path if self.descriptor is None else self.descriptor) as found:
            return list(found)

    def open(self, name: str) -> int:
        """A descriptor to read that regular file. Raises: OSError, NotRegular."""
        descriptor = os.open(self._place(name), _READ, dir_fd=self.descriptor)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise NotRegular("not a regular file")
        return descriptor

    def replace(self, name: str, data: bytes, mode: int, *, check: Check | None = None) -> None:
        """Writes the file atomically: a reader sees the old content or the new. An existing file keeps its mode.

        `check` gets the content being replaced; if it raises, the file stays as it is. Raises: OSError.
        """
        temporary = temporary_name(name)
        kept_mode = self._mode_of(name)
        if kept_mode is not None and not kept_mode & stat.S_IWUSR:
            raise PermissionError(errno.EACCES, "the file is write-protected")
        descriptor = os.open(self._place(temporary), _CREATE, mode, dir_fd=self.descriptor)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                if kept_mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), kept_mode)
            places = self._place(temporary), self._place(name)
            if check is None:
                os.replace(*places, src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)
            else:
                take_place(*places, data, check, dir_fd=self.descriptor)
        except BaseException:
            with suppress(OSError):
                self.remove(temporary)
            raise
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def create(self, name: str, mode: int) -> int:
        """A descriptor to write a new, empty file; one that exists is replaced. Raises: OSError."""
        self.remove(name)
        return os.open(self._place(name), _CREATE, mode, dir_fd=self.descriptor)

    def remove(self, name: str) -> None:
        """Removes the file; a link itself, not its target. Raises: OSError."""
        with suppress(FileNotFoundError):
            os.unlink(self._place(name), dir_fd=self.descriptor)

    def _mode_of(self, name: str) -> int | None:
        """The permissions of an existing regular file."""
        try:
            found = os.stat(self._place(name), dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return stat.S_IMODE(found.st_mode) if stat.S_ISREG(found.st_mode) else None

    def _place(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)


@contextmanager
def folder_beneath(root: Path, folder: Path, *, make_mode: int | None = None) -> Iterator[Folder]:
    """Holds `folder` open, which is `root` or a real path under it; with `make_mode`, missing folders are created.

    Raises: OSError, also if a link is in the way; ValueError if it is not under `root`.
    """
    steps = folder.relative_to(root).parts
    if not _STEPS:
        if make_mode is not None:
            folder.mkdir(make_mode, parents=True, exist_ok=True)
        yield Folder(folder, None)
        return
    descriptor = os.open(root, _FOLDER)
    try:
        for name in steps:
            if make_mode is not None:
                with suppress(FileExistsError):
                    os.mkdir(name, make_mode, dir_fd=descriptor)
            below = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield Folder(folder, descriptor)
    finally:
        os.close(descriptor)
