"""The format of the audit file's lines, and the detection of changes. It never touches the disk.

A line is one JSON object whose last member, `hash`, is the SHA-256 of all bytes before it; `prev` is the hash of the
previous line, `n` counts from 1. The bytes themselves are verified, so that no other spelling of the same data passes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.storage.jsonl import encode_line

SCHEMA_VERSION = 1
TORN = "torn_line"
HEAD_LOST = "head_lost"
CHANGED = "it was changed"
_LINE = re.compile(rb'(\{.*),"hash":"([0-9a-f]{64})"\}', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Head:
    """The newest entry: its number, its hash, and the size of the file up to it in bytes and lines."""

    number: int = 0
    hash: str = "0" * 64
    size_bytes: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Broken:
    """The first line (counted from 1, as in an editor) that was changed, and why."""

    line: int
    reason: str


def chained(facts: Mapping[str, Any], head: Head) -> dict[str, Any]:
    """The facts as the entry after `head`."""
    item = {"v": SCHEMA_VERSION, "n": head.number + 1, **facts, "prev": head.hash}
    return {**item, "hash": _hash(encode_line(item)[:-1])}


def torn_facts(piece: bytes) -> dict[str, Any]:
    """What the next entry records about a partial line left by a power cut."""
    return {"event": TORN, "torn": _hash(piece)}


def walk(raw: bytes, head: Head) -> Iterator[Head | Broken]:
    """The head after each entry that follows `head`; Broken, and nothing more, at the first changed line."""
    torn: bytes | None = None
    for line in _lines(raw):
        lines, size = head.lines + 1 + (torn is not None), head.size_bytes + len(line) + len(torn or b"")
        item = _parse(line)
        if item is None and torn is None:
            torn = line
            continue
        if item is None or (torn is not None and item.get("torn") != _hash(torn.removesuffix(b"\n"))):
            yield Broken(head.lines + 1, CHANGED)
            return
        if (item.get("n"), item.get("prev")) != (head.number + 1, head.hash):
            yield Broken(lines, "lines before it were removed, added or moved")
            return
        if item.get("event") == HEAD_LOST:
            yield Broken(lines, "the record of the newest line was gone: lines before it may have been removed")
            return
        torn, head = None, Head(head.number + 1, item["hash"], size, lines)
        yield head
    if torn is not None:
        yield Broken(head.lines + 1, CHANGED if torn.endswith(b"\n") else "it was cut off")


def last_entry(raw: bytes) -> Head:
    """The newest valid entry, whatever precedes it; for a file whose record is lost."""
    lines = _lines(raw)
    for line in reversed(lines):
        item = _parse(line)
        if item is not None and isinstance(item.get("n"), int):
            return Head(item["n"], item["hash"], len(raw), len(lines))
    return Head(size_bytes=len(raw), lines=len(lines))


def _lines(raw: bytes) -> list[bytes]:
    """Lines with their ends; the last may have none."""
    *whole, last = raw.split(b"\n")
    return [*(line + b"\n" for line in whole), *([last] if last else [])]


def _parse(line: bytes) -> dict[str, Any] | None:
    """The line's object, if the hash matches its bytes and it ends with a line feed."""
    match = _LINE.fullmatch(line.removesuffix(b"\n"))
    if match is None or not line.endswith(b"\n") or _hash(match[1]) != match[2].decode():
        return None
    item: dict[str, Any] = json.loads(line)
    return item


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
