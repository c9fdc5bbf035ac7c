"""Loads a file's whole text, up to a limit, with what a change must preserve: encoding and byte order mark."""

from __future__ import annotations

import codecs
import difflib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from onyx_jupyter.errors import StorageError, ToolError
from onyx_jupyter.files.kinds import SNIFFED_BYTES, kind_of
from onyx_jupyter.security.open_beneath import NotRegular
from onyx_jupyter.security.path_guard import PathGuard

MAX_CHANGED_BYTES = 10_000_000
_NAMES_COMPARED = 10_000
_UTF16 = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


@dataclass(frozen=True, slots=True)
class Content:
    """A text file: its text with the original line ends, and how it is stored. `mark` is its byte order mark."""

    text: str
    encoding: str
    mark: bytes = b""

    def encoded(self, text: str) -> bytes:
        """Another text in the same encoding. Raises: ToolError if the encoding cannot represent it."""
        try:
            return self.mark + text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"The file is stored as {self.encoding}, which has no character {error.object[error.start]!r}."
            ) from error


def load(path: str, real: Path, paths: PathGuard) -> Content:
    """The text at that resolved path. Raises: ToolError if it is no text or too large, StorageError."""
    with reading(path, real, paths) as descriptor:
        size_bytes = os.fstat(descriptor).st_size
        if size_bytes > MAX_CHANGED_BYTES:
            raise ToolError(f"{path!r} is {size(size_bytes)}; change files over 10 MB with a program.")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(MAX_CHANGED_BYTES)
    kind = kind_of(real.name, data[:SNIFFED_BYTES])
    if kind.encoding is None:
        raise ToolError(f"{path!r} is not text: {kind.words}, {size(size_bytes)}.")
    mark = next((mark for mark in (codecs.BOM_UTF8, *_UTF16) if data.startswith(mark)), b"")
    encoding = {codecs.BOM_UTF8: "utf-8", **_UTF16}.get(mark, kind.encoding)
    try:
        return Content(data.removeprefix(mark).decode(encoding), encoding, mark)
    except UnicodeDecodeError:
        return Content(data.decode("latin-1"), "latin-1")  # can hold any bytes, so that untouched parts are preserved


@contextmanager
def reading(path: str, real: Path, paths: PathGuard) -> Iterator[int]:
    """A descriptor of the regular file there. Raises: ToolError with a message for the model, StorageError."""
    try:
        with paths.file(real) as descriptor:
            yield descriptor
    except FileNotFoundError as error:
        raise missing(path, real) from error
    except NotRegular as error:
        if real.is_dir():
            raise ToolError(f"{path!r} is a folder. Use list.").mark_message_safe() from error
        raise ToolError(f"{path!r} is not a file but a pipe, a socket or a device.") from error
    except PermissionError as error:
        raise ToolError(f"{path!r} cannot be read: permission denied.") from error
    except OSError as error:
        raise StorageError(f"{path!r} could not be read: {error.strerror or error}.") from error


def missing(path: str, real: Path) -> ToolError:
    """An error that says the file is missing, and suggests similar names."""
    folder = next(parent for parent in real.parents if parent.is_dir())
    if folder != real.parent:
        return ToolError(f"{path!r} does not exist: there is no folder {real.parent.name!r}.").mark_message_safe()
    try:
        names = [entry.name for entry in islice(folder.iterdir(), _NAMES_COMPARED)]
    except OSError:
        names = []
    close = difflib.get_close_matches(real.name, names, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    error = ToolError(f"{path!r} does not exist.{hint}")
    return error if hint else error.mark_message_safe()  # file names may come from anyone


def size(size_bytes: int) -> str:
    """1.2 kB, 3.4 MB."""
    amount = float(size_bytes)
    for unit in ("bytes", "kB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            break
        amount /= 1000
    return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
