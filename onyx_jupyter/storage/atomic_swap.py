"""A new file takes an old one's place in one step, unless the old one is not what it should be. It writes no content.

Looking at a file and renaming another over it are two steps, and an editor's save may come between. So the two names
are swapped where the system can: what was replaced is then there to be looked at, and is put back where it was newer.
Whoever is killed in between leaves it under a second name, which tells by its digest what was ours: `leftovers`.
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
"""Given what is about to be replaced, None where there is nothing; raises where that must stay."""
UNFINISHED = ".onyx-new"
"""Ends the name of a file that is being written, beside `name` and called `.name.` and something of its own."""

_PLACED = ".onyx-old"
_OWN_BYTES = 4
_DIGEST_CHARS = 16
_LONGEST_NAME_BYTES = 255
_LONGEST_FOUND_BYTES = _LONGEST_NAME_BYTES - len("..") - 2 * _OWN_BYTES - len(".") - _DIGEST_CHARS - len(_PLACED)
_ENDS = rf"{re.escape(UNFINISHED)}|\.[0-9a-f]{{{_DIGEST_CHARS}}}{re.escape(_PLACED)}"
_LEFTOVER = re.compile(rf"\.(.+)\.[^.]+(?:{_ENDS})", re.DOTALL)
_SWAP = 2  # RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS
_HERE = {"linux": -100, "darwin": -2}  # AT_FDCWD
# Neither through a link that has come to stand there, nor waiting for whoever writes into a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}


@dataclass(frozen=True, slots=True)
class Leftover:
    """What a write that was killed or failed has left at `place`, beside the `file` that it was to replace.

    `may_be_owed`: it may be what was replaced, and not only what was written.
    """

    place: Path
    file: Path
    may_be_owed: bool


def temporary_name(name: str) -> str:
    """What a file is called while it is written, beside `name`.

    Of a name without room for all of that only the beginning stays, and no leftover of it is found by its own.
    """
    own = secrets.token_hex(_OWN_BYTES)
    encoded = os.fsencode(name)
    if len(encoded) <= _LONGEST_FOUND_BYTES:
        return f".{name}.{own}{UNFINISHED}"
    return f".{encoded[:_LONGEST_FOUND_BYTES].decode('utf-8', 'ignore')}.{own}"


def take_place(temporary: str, name: str, data: bytes, check: Check, *, dir_fd: int | None = None) -> None:
    """`temporary`, which holds `data`, becomes `name`; both are names in the open folder `dir_fd`, or paths.

    `temporary` is called as `temporary_name` says.
    Where that fails, `name` holds what it held. Where not even that can be done, a leftover holds it.

    Source: rename(2), RENAME_EXCHANGE; rename(2) of macOS, RENAME_SWAP; link(2). Raises: OSError.
    """
    former = content_at(name, dir_fd)
    check(former)
    digest = _digest(data)
    # Without a digest where only the beginning of a name is there, so that `leftover_of` takes it for no other file's.
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
    """What was taken from `name` stands there again, and `second`, a leftover beside it, is gone.

    False where `second` is left, with a content that is nowhere else: the name holds a newer one, or cannot be swapped.
    Raises: OSError; then, too, `second` is left.
    """
    return _put_back(second, name, second.removesuffix(_PLACED)[-_DIGEST_CHARS:], None)


def leftovers(folder: Path) -> Sequence[Leftover]:
    """Those beside the files of that folder; of writes under way, too, so nobody may write there meanwhile."""
    with suppress(OSError), os.scandir(folder) as entries:
        found = [(folder / entry.name, leftover_of(entry.name)) for entry in entries]
        return [Leftover(place, folder / name, place.name.endswith(_PLACED)) for place, name in found if name]
    return []


def leftover_of(name: str) -> str | None:
    """The name of the file beside which one of that name is a leftover; None for other names."""
    match = _LEFTOVER.fullmatch(name)
    return match[1] if match else None


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


def content_at(name: str, dir_fd: int | None = None) -> bytes | None:
    """None where there is no such file. Raises: OSError, also for a link."""
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
    """A name that is new: whoever makes it meanwhile is found. False where the disk knows no second names."""
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
        if not _is_ours(second, digest, dir_fd):  # one more save, on top of what stood there for this moment
            swap(second, name, dir_fd)
            return False
    os.unlink(second, dir_fd=dir_fd)
    return True


def _is_ours(name: str, digest: str, dir_fd: int | None) -> bool:
    """Whether it holds what was written; what cannot be read, as a link that has come to stand there, does not."""
    try:
        content = content_at(name, dir_fd)
    except OSError:
        return False
    return content is not None and _digest(content) == digest


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


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
