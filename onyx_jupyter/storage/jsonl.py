"""Append-only files of one JSON object per line, safe against a kill at any byte."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors


@dataclass(frozen=True, slots=True)
class Lines:
    """The objects of a file, and the numbers (from 1) of lines that are not a JSON object.

    `numbers` are those of the objects; `torn` is the number of an unterminated last line.
    """

    objects: tuple[dict[str, Any], ...]
    damaged: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    torn: int | None = None


def append_line(path: Path, item: Mapping[str, Any]) -> None:
    """One `write` and an fsync; on failure the file is unchanged. Raises: StorageError."""
    append_lines(path, [item])


def append_lines(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    """Like `append_line`, with one fsync for all of them. Raises: StorageError."""
    line = b"".join(encode_line(item) + b"\n" for item in items)
    with disk_errors("write to", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # a kill cut the last line: it stays as a damaged line of its own
            _write_whole(descriptor, line, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_lines(path: Path) -> Lines:
    """Every readable line, in order; damaged ones are counted, not raised. Raises: StorageError."""
    with disk_errors("read", path):
        raw = path.read_bytes()
    return _parse(raw)


def whole_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """The complete lines from that byte on, each with its offset; reads one line at a time.

    Raises: StorageError.
    """
    with disk_errors("read", path), path.open("rb") as file:
        file.seek(offset)
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield offset, line
            offset += len(line)


def decode_line(line: bytes) -> dict[str, Any] | None:
    """The object in a line; None if there is none."""
    try:
        item = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


def encode_line(item: Mapping[str, Any]) -> bytes:
    """The object as a line, without the line break.

    UTF-8; if the text has lone surrogates, which UTF-8 cannot encode, uses JSON escapes.
    """
    try:
        return json.dumps(item, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(item, separators=(",", ":")).encode()


def _parse(raw: bytes) -> Lines:
    objects, damaged, numbers = [], [], []
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        item = decode_line(line)
        if item is not None:
            objects.append(item)
            numbers.append(number)
        else:
            damaged.append(number)
    return Lines(tuple(objects), tuple(damaged), tuple(numbers), len(lines) if lines[-1] else None)


def _write_whole(descriptor: int, line: bytes, size_before: int) -> None:
    try:
        written = os.write(descriptor, line)
        while written < len(line):  # an almost full disk writes a part first, then fails
            written += os.write(descriptor, line[written:])
    except OSError:
        os.ftruncate(descriptor, size_before)
        raise
