"""Replaces a file in one step, unless its content is not the expected one.

Reading a file and renaming another over it are two steps, and an editor may save in between. So the two names are
swapped if the system can: the replaced file can then be checked, and is put back if it was newer. A kill in between
leaves it under a second name, whose digest identifies our own content: `leftovers`.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Check = Callable[[bytes | None], None]
"""Called with the content about to be replaced, None if there is none; raises if it must stay."""
UNFINISHED = ".onyx-new"
"""The suffix of a file being written, which is beside `name` and called `.name.` plus a random part."""

_PLACED = ".onyx-old"
_OWN_BYTES = 4
_DIGEST_CHARS = 16
_LONGEST_NAME_BYTES = 255
_LONGEST_FOUND_BYTES = _LONGEST_NAME_BYTES - len("..") - 2 * _OWN_BYTES - len(".") - _DIGEST_CHARS - len(_PLACED)
_ENDS = rf"{re.escape(UNFINISHED)}|\.[0-9a-f]{{{_DIGEST_CHARS}}}{re.escape(_PLACED)}"
_LEFTOVER = re.compile(rf"\.(.+)\.[^.]+(?:{_ENDS})", re.DOTALL)
_SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_HERE = {"linux": -100, "darwin": -2}  # AT_FDCWD
# Never follows a link that has appeared there, nor blocks on a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a killed or failed write left at `place`, beside the `file` that it was to replace.

    `may_be_owed`: it may be the replaced content, not only the new one.
    """

    place: Path
    file: Path
    may_be_owed: bool


def temporary_name(name: str) -> str:
    """The name of a file while it is written, beside `name`.

    A name that is too long is shortened, and its leftovers are not found.
    """
    own = secrets.token_hex(_OWN_BYTES)
    encoded = os.fsencode(name)
    if len(encoded) <= _LONGEST_FOUND_BYTES:
        return f".{name}.{own}{UNFINISHED}"
    return f".{encoded[:_LONGEST_FOUND_BYTES].decode('utf-8', 'ignore')}.{own}"


def take_place(temporary: str, name: str, data: bytes, check: Check, *, dir_fd: int | None = None) -> None:
    """Renames `temporary`, which holds `data`, to `name`; both are names in the open folder `dir_fd`, or paths.

    `temporary` must come from `temporary_name`.

    On failure, `name` keeps its content. If not even that is possible, a leftover holds it.
    Source: rename(2), RENAME_EXCHANGE; rename(2) of macOS, RENAME_SWAP; link(2). Raises: OSError.
    """
    former = content_at(name, dir_fd)
    check(former)
    digest = _digest(data)
    # Without a digest if the name was shortened, so that `leftover_of` does not attribute it to another file.
    begins = temporary.removesuffix(UNFINISHED)
    second = f"{begins}{_PLACED}" if begins == temporary else f"{begins}.{digest}{_PLACED}"
    os.rename(temporary, second, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    try:
        _placed(second, name, former, check, dir_fd)
    except BaseException:
        with suppress(OSError):
            _put_back(second, name, digest, dir_fd)
        raise


def put_back(second: str, name: str) -> bool:
    """Restores what was taken from `name`, and removes the leftover `second` beside it.

    False if `second` is left, with content that exists nowhere else: the name holds something newer, or cannot be
    swapped. Raises: OSError; then, too, `second` is left.
    """
    return _put_back(second, name, second.removesuffix(_PLACED)[-_DIGEST_CHARS:], None)


def leftovers(folder: Path) -> Sequence[Leftover]:
    """The leftovers in that folder, including those of writes in progress, so nothing may write there meanwhile."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = [(folder / entry.name, leftover_of(entry.name)) for entry in entries]
        return [Leftover(place, folder / name, place.name.endswith(_PLACED)) for place, name in found if name]
    return []


def leftover_of(name: str) -> str | None:
    """The name of the file that a leftover of that name belongs to; None for other names."""
    match = _LEFTOVER.fullmatch(name)
    return match[1] if match else None


def swap(one: str, other: str, dir_fd: int | None = None) -> bool:
    """Swaps two files in one step; False if the system or disk cannot. Raises: OSError."""
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


def content_at(name: str, dir_fd: int | None = None) -> bytes | None:
    """None if there is no such file. Raises: OSError, also for a link."""
    with suppress(FileNotFoundError):
        descriptor = os.open(name, _READ, dir_fd=dir_fd)
        with os.fdopen(descriptor, "rb") as file:
            return file.read()
    return None


def _placed(second: str, name: str, former: bytes | None, check: Check, dir_fd: int | None) -> None:
    if former is None and _appears(second, name, check, dir_fd):
        return
    try:
        is_swapped = former is not None and swap(second, name, dir_fd)
    except FileNotFoundError:
        check(None)
        raise
    if not is_swapped:
        os.replace(second, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
        return
    check(content_at(second, dir_fd))
    os.unlink(second, dir_fd=dir_fd)


def _appears(temporary: str, name: str, check: Check, dir_fd: int | None) -> bool:
    """Creates a new name, noticing if it appears meanwhile. False if the disk does not support hard links."""
    try:
        os.link(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd, follow_symlinks=False)
    except FileExistsError:
        check(content_at(name, dir_fd))
        return False
    except (OSError, NotImplementedError):
        return False
    os.unlink(temporary, dir_fd=dir_fd)
    return True


def _put_back(second: str, name: str, digest: str, dir_fd: int | None) -> bool:
    if not _is_ours(second, digest, dir_fd):
        if not _is_ours(name, digest, dir_fd) or not swap(second, name, dir_fd):
            return False
        if not _is_ours(second, digest, dir_fd):  # another save replaced it in this moment
            swap(second, name, dir_fd)
            return False
    os.unlink(second, dir_fd=dir_fd)
    return True


def _is_ours(name: str, digest: str, dir_fd: int | None) -> bool:
    """Whether it holds what was written; false for what can't be read, such as a link that has appeared there."""
    try:
        content = content_at(name, dir_fd)
    except OSError:
        return False
    return content is not None and _digest(content) == digest


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


@cache
def _renaming() -> Callable[..., int] | None:
    """renameat2, or macOS's renameatx_np, which takes the same arguments."""
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
