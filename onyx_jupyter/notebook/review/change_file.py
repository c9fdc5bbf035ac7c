"""Reads one file of changes incrementally. Large outputs stay in the file until they are requested."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from onyx_jupyter.notebook.review.lines import Line, LineReference, from_json
from onyx_jupyter.notebook.review.writes import Changes, read_changes
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import decode_line, whole_lines

log = logging.getLogger(__name__)
_LARGE = ("outputs", "attachments")
# Every line begins like this, so that a file's notebooks can be found without parsing pictures.
_PATH = re.compile(rb'\{"schema_version":1,"kind":"[a-z_]+","path":("(?:[^"\\]|\\.)*")')


class ChangeFile:
    """The content of one session's file. `kept_bytes` is about how much memory its lines take."""

    def __init__(self, path: Path) -> None:
        self.kept_bytes = 0
        self._path = path
        self._lines: list[Line] = []
        self._parsed = 0
        self._changes: Changes | None = None

    def changes(self) -> Changes:
        """The current changes. Raises: StorageError."""
        with disk_errors("read", self._path):
            size = self._path.stat().st_size
        if size < self._parsed:
            self.kept_bytes, self._lines, self._parsed, self._changes = 0, [], 0, None
        if size > self._parsed:
            self._read_on()
        if self._changes is None:
            self._changes = read_changes(self._path.parent.name, self._path.stem, self._lines)
        return self._changes

    def _read_on(self) -> None:
        unread = 0
        for offset, raw in whole_lines(self._path, self._parsed):
            self._parsed = offset + len(raw)
            if not raw.strip():
                continue
            item = decode_line(raw)
            is_large = item is not None and _drop_large_parts(item, LineReference(self._path, offset, len(raw)))
            lines, unknown = from_json([item] if item is not None else [])
            self._lines.extend(lines)
            self.kept_bytes += len(json.dumps(item, default=str)) if is_large else len(raw)
            unread += unknown + (item is None)
            self._changes = None
        if unread:
            log.warning("%s has unreadable lines: %d", self._path.name, unread)


class PathScan:
    """The notebooks that a file names; if the file has grown, only the new part is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found: set[str] = set()
        self._scanned = 0

    def paths(self) -> Collection[str]:
        """The current paths. Raises: StorageError."""
        with disk_errors("read", self._path):
            size = self._path.stat().st_size
        if size < self._scanned:
            self._found, self._scanned = set(), 0
        if size > self._scanned:
            for offset, raw in whole_lines(self._path, self._scanned):
                self._scanned = offset + len(raw)
                named = _PATH.match(raw)
                self._found |= {json.loads(named[1])} if named else set()
        return self._found


def whole_line(kept: LineReference) -> Line | None:
    """The complete line from the file; None if it is no longer there."""
    try:
        with kept.file.open("rb") as file:
            file.seek(kept.offset)
            item = decode_line(file.read(kept.length))
    except OSError:
        return None
    lines, _ = from_json([item] if item is not None else [])
    return lines[0] if lines else None


def _drop_large_parts(item: dict[str, Any], kept: LineReference) -> bool:
    """Removes large parts; returns whether there were any."""
    is_large = False
    effects = item.get("effects")
    for number, effect in enumerate(effects if isinstance(effects, list) else ()):
        before = effect.get("before") if isinstance(effect, dict) else None
        if isinstance(before, dict) and any(before.get(name) for name in _LARGE):
            effect["before"] = {name: value for name, value in before.items() if name not in _LARGE}
            effect["kept"] = LineReference(kept.file, kept.offset, kept.length, number)
            is_large = True
    cells = item.get("cells")
    if item.get("kind") == "removed" and isinstance(cells, list):
        item["cells"] = [{"id": cell.get("id")} for cell in cells if isinstance(cell, dict)]
        item["kept"] = kept
        is_large = True
    return is_large
