"""A new file takes an old one's place in one step, unless the old one is not what it should be. It writes no content.

Looking at a file and renaming another over it are two steps, and an editor's save may come between. So the two names
are swapped where the system can: what was replaced is then there to be looked at, and is put back where it was newer.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache

Check = Callable[[bytes | None], None]
"""Given what is about to be replaced, None where there is nothing; raises where that must stay."""

_SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_HERE = {"linux": -100, "darwin": -2}  # AT_FDCWD
# Neither through a link that has come to stand there, nor waiting for whoever writes into a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


def take_place(temporary: str, name: str, check: Check, *, dir_fd: int | None = None) -> None:
    """`temporary` becomes `name`; both are names in the open folder `dir_fd`, or paths.

    Source: rename(2), RENAME_EXCHANGE; rename(2) of macOS, RENAME_SWAP; link(2). Raises: OSError.
    """
    former = _content(name, dir_fd)
    check(former)
    if former is None and _appears(temporary, name, check, dir_fd):
        return
    own = _content(temporary, dir_fd)
    try:
        is_swapped = former is not None and swap(temporary, name, dir_fd)
    except FileNotFoundError:
        check(None)
        raise
    if not is_swapped:
        os.replace(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        return
    try:
        check(_content(temporary, dir_fd))
    except BaseException:
        swap(temporary, name, dir_fd)
        if _content(temporary, dir_fd) != own:  # one more save, on top of what stood there for this moment
            swap(temporary, name, dir_fd)
        raise
    os.unlink(temporary, dir_fd=dir_fd)


def swap(one: str, other: str, dir_fd: int | None = None) -> bool:
    """Both names stand for each other's file, in one step; False where the system or disk cannot. Raises: OSError."""
    call = _renaming()
    if call is None:
        return False
    folder = _HERE[sys.platform] if dir_fd is None else dir_fd
    if call(folder, os.fsencode(one), folder, os.fsencode(other), _SWAP) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), other)


def _appears(temporary: str, name: str, check: Check, dir_fd: int | None) -> bool:
    """A name that is new: whoever makes it meanwhile is found. False where the disk knows no second names."""
    try:
        os.link(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    except FileExistsError:
        check(_content(name, dir_fd))
        return False
    except (OSError, NotImplementedError):
        return False
    os.unlink(temporary, dir_fd=dir_fd)
    return True


def _content(name: str, dir_fd: int | None) -> bytes | None:
    with suppress(FileNotFoundError):
        descriptor = os.open(name, _READ, dir_fd=dir_fd)
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    return None


@cache
def _renaming() -> Callable[..., int] | None:
    """renameat2, or macOS's renameatx_np: they take the same arguments."""
    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    if name is None:
        return None
    try:
        call = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (AttributeError, OSError):
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call  # type: ignore[no-any-return]
