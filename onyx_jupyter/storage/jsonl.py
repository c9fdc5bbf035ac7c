"""Append-only files of one JSON object a line, safe against a kill at any byte. It never rewrites a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors


@dataclass(frozen=True, slots=True)
class Lines:
    """The objects of a file, and the numbers (from 1) of lines that are no JSON object.

    `numbers` are the objects' own; `torn` is the last line's where it has no end.
    """

    objects: tuple[dict[str, Any], ...]
    damaged: tuple[int, ...]
    numbers: tuple[int, ...] = ()
    torn: int | None = None


def append_line(path: Path, item: Mapping[str, Any]) -> None:
    """One `write` and an fsync; on failure the file is as before. Raises: StorageError."""
    line = encode_line(item) + b"\n"
    with disk_errors("write to", path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line  # a kill cut the last line: it stays a damaged line of its own
            _write_whole(descriptor, line, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_lines(path: Path) -> Lines:
    """Every line that can be read, in order; damaged ones are counted, not raised. Raises: StorageError."""
    with disk_errors("read", path):
        raw = path.read_bytes()
    return _parse(raw)


def whole_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """The lines that have an end, from that byte on, each with where it begins; only one is in memory.

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
    """The object that a line holds; None where it holds none."""
    try:
        item = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None


def encode_line(item: Mapping[str, Any]) -> bytes:
    """The object as a line holds it, without the line's end.

    UTF-8; where the text holds half of a surrogate pair, which UTF-8 cannot, in JSON's own escapes.
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
        while written < len(line):  # a disk about to be full takes a part first, then refuses
            written += os.write(descriptor, line[written:])
    except OSError:
        os.ftruncate(descriptor, size_before)
        raise
