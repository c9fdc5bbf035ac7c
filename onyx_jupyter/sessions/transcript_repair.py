"""Finds damage in a transcript, recovers its entries, and replaces the file, keeping the damaged one beside it.

Each entry names the one before it, so an unreadable line counts as a loss only if that chain is broken: the remains of
a line that a kill interrupted, and that was never reported, are no loss.
"""

from __future__ import annotations

import heapq
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from onyx_jupyter.sessions.entry import Entry, from_json
from onyx_jupyter.storage.atomic_write import write_text_atomically
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import encode_line, read_lines

FIRST_ID = "0" * 26


@dataclass(frozen=True, slots=True)
class CheckedTranscript:
    """A transcript's entries in order, each once; `damage` describes what was wrong, if anything."""

    entries: tuple[Entry, ...]
    damage: tuple[str, ...] = ()


def read_session(path: Path) -> CheckedTranscript:
    """Every readable entry, without writing. Raises: StorageError."""
    lines = read_lines(path)
    found: list[tuple[int, Entry]] = []
    unreadable = list(lines.damaged)
    for number, item in zip(lines.numbers, lines.objects, strict=True):
        try:
            found.append((number, from_json(item)))
        except ValueError:
            unreadable.append(number)
    once = _each_once(found)
    damage = _describe_damage("cannot be read", _lost_lines(sorted(unreadable), once, lines.torn))
    damage += _describe_damage("appear twice", [n for n, entry in found if (n, entry) not in once])
    entries = [entry for _, entry in once]
    if not _in_order(entries):
        entries = _ordered(entries)
        damage += ["lines are out of order"]
    if not any(entry.kind == "session" for entry in entries):
        entries = [_new_head(entries, path), *entries]
        damage += ["the first line of the session is missing"]
    return CheckedTranscript(tuple(entries), tuple(damage))


def _each_once(found: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    first: dict[str, tuple[int, Entry]] = {}
    for number, entry in found:
        first.setdefault(entry.id, (number, entry))
    return list(first.values())


def _lost_lines(unreadable: Sequence[int], found: Sequence[tuple[int, Entry]], torn: int | None) -> list[int]:
    """The unreadable lines that may have been a reported entry."""
    lost = []
    for number in unreadable:
        before = next((entry for n, entry in reversed(found) if n < number), None)
        after = next((entry for n, entry in found if n > number), None)
        if after is None:
            if number != torn:
                lost.append(number)
        elif before is None or after.parent != before.id:
            lost.append(number)
    return lost


def _in_order(entries: Sequence[Entry]) -> bool:
    places = {entry.id: place for place, entry in enumerate(entries)}
    if any(places.get(entry.parent or "", -1) > place for place, entry in enumerate(entries)):
        return False
    return all(after.parent == before.id or before.id < after.id for before, after in pairwise(entries))


def _ordered(entries: Sequence[Entry]) -> list[Entry]:
    """Each entry after its parent; otherwise by id, since ids sort by time."""
    ids = {entry.id for entry in entries}
    children: dict[str | None, list[Entry]] = {}
    for entry in entries:
        known = entry.parent if entry.parent in ids and entry.parent != entry.id else None
        children.setdefault(known, []).append(entry)
    waiting = [(entry.id, place, entry) for place, entry in enumerate(children.get(None, []))]
    heapq.heapify(waiting)
    ordered: list[Entry] = []
    while waiting:
        _, _, entry = heapq.heappop(waiting)
        ordered.append(entry)
        for child in children.get(entry.id, []):
            heapq.heappush(waiting, (child.id, len(entries) + len(ordered), child))
    kept = {entry.id for entry in ordered}
    return [*ordered, *(entry for entry in entries if entry.id not in kept)]  # a cycle of parents: in file order


def _new_head(entries: Sequence[Entry], path: Path) -> Entry:
    first = entries[0] if entries else None
    entry_id = first.parent if first and first.parent else FIRST_ID
    meta = {"kind": "session", "agentId": path.parent.name, "rebuilt": True}
    return Entry(entry_id, None, first.ts if first else "", "system", "", meta=meta)


def _describe_damage(problem: str, numbers: Sequence[int]) -> list[str]:
    return [f"lines {', '.join(_ranges(numbers))} {problem}"] if numbers else []


def _ranges(numbers: Sequence[int]) -> Iterator[str]:
    """`3`, `5–9`: kept short, since a file may be damaged all over."""
    start = end = None
    for number in [*sorted(numbers), None]:
        if start is not None and end is not None and number != end + 1:
            yield str(start) if start == end else f"{start}–{end}"
            start = number
        start, end = number if start is None else start, number


def replace_damaged(path: Path, items: Sequence[Mapping[str, Any]], kept: Path) -> None:
    """All or nothing. Never overwrites an earlier damaged copy. Raises: StorageError; then nothing has changed."""
    with disk_errors("keep a copy of", path):
        try:
            os.link(path, kept)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            with path.open("rb") as damaged, kept.open("xb") as copy:
                shutil.copyfileobj(damaged, copy)
                copy.flush()
                os.fsync(copy.fileno())
    try:
        write_text_atomically(path, "".join(f"{encode_line(item).decode()}\n" for item in items))
    except BaseException:
        kept.unlink(missing_ok=True)
        raise
