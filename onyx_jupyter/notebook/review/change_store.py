"""The files of changes, `changes/<agent>/<session>.jsonl`: adds lines, reads them back, lets old ones go.

It never looks into a notebook.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from onyx_jupyter.notebook.review.lines import Line, Renamed, from_json, to_json
from onyx_jupyter.notebook.review.writes import Changes, read_changes
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line, read_lines_from

log = logging.getLogger(__name__)
_KEPT_FILES = 16
_SESSION_KEY = re.compile(r"[0-9A-Za-z_-]{1,64}")
# Every line begins like this, so that a file can be asked for its notebooks without parsing pictures.
_PATH = re.compile(rb'^\{"schema_version":1,"kind":"[a-z_]+","path":("(?:[^"\\]|\\.)*")', re.MULTILINE)


@dataclass
class _File:
    """What is known of a file: its lines up to `parsed` bytes, the paths named in it up to `scanned`."""

    lines: list[Line] = field(default_factory=list)
    parsed: int = 0
    changes: Changes | None = None


@dataclass
class _Scan:
    paths: set[str] = field(default_factory=set)
    size: int = 0


class ChangeStore:
    """All files of changes of one home. Each is read on from where it was read to; another server's lines count too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.RLock()
        self._files: OrderedDict[Path, _File] = OrderedDict()
        self._scans: dict[Path, _Scan] = {}

    async def append(self, agent_id: str, session_key: str, line: Line) -> None:
        """On disk when it returns. Raises: StorageError."""
        await asyncio.to_thread(self._append, self._folder / agent_id / f"{session_key}.jsonl", line)

    async def of_session(self, session_key: str) -> Changes | None:
        """None where the session never changed a notebook. Raises: StorageError."""
        return await asyncio.to_thread(self._of_session, session_key)

    async def of_notebook(self, path: str) -> Sequence[Changes]:
        """What every session changed, of those that ever touched that notebook. Raises: StorageError."""
        return await asyncio.to_thread(self._of_notebook, path)

    async def renamed(self, old: str, new: str, line_id: str) -> None:
        """Every session finds what it changed at `old`, or below it, at `new` from now on. Raises: StorageError."""
        await asyncio.to_thread(self._renamed, old, new, line_id)

    async def thin(self, keep_s: float, max_bytes: int, now_s: float) -> int:
        """Deletes files that nobody wrote to for so long, then the oldest until the rest fits; how many it were."""
        return await asyncio.to_thread(self._thin, keep_s, max_bytes, now_s)

    def size(self, agent_id: str, session_key: str) -> int:
        """Bytes of the session's file; 0 where there is none."""
        try:
            return (self._folder / agent_id / f"{session_key}.jsonl").stat().st_size
        except OSError:
            return 0

    def _append(self, path: Path, line: Line) -> None:
        with self._lock:
            make_private_folder(path.parent)
            append_line(path, to_json(line))

    def _of_session(self, session_key: str) -> Changes | None:
        if not _SESSION_KEY.fullmatch(session_key):
            return None
        with disk_errors("read", self._folder):
            found = next(iter(self._folder.glob(f"*/{session_key}.jsonl")), None)
        return self._read(found) if found is not None else None

    def _of_notebook(self, path: str) -> list[Changes]:
        parts = path.split("/")
        names = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}  # a folder may have been renamed
        return [self._read(file) for file in self._all() if not names.isdisjoint(self._paths(file))]

    def _renamed(self, old: str, new: str, line_id: str) -> None:
        for file in self._all():
            if any(path == old or path.startswith(f"{old}/") for path in self._paths(file)):
                self._append(file, Renamed(path=new, from_path=old, id=line_id))

    def _thin(self, keep_s: float, max_bytes: int, now_s: float) -> int:
        with disk_errors("tidy", self._folder):
            statuses = [(file, file.stat()) for file in self._all()]
            found = [(status.st_mtime, status.st_size, file) for file, status in statuses]
            left = sum(size for _, size, _ in found)
            count = 0
            for changed_at, size, file in sorted(found):
                if now_s - changed_at <= keep_s and left <= max_bytes:
                    break
                file.unlink(missing_ok=True)
                left -= size
                count += 1
        return count

    def _all(self) -> list[Path]:
        with disk_errors("list", self._folder):
            return sorted(self._folder.glob("*/*.jsonl"))

    def _read(self, path: Path) -> Changes:
        with self._lock:
            known = self._files.setdefault(path, _File())
            self._files.move_to_end(path)
            while len(self._files) > _KEPT_FILES:
                self._files.popitem(last=False)
            with disk_errors("read", path):
                size = path.stat().st_size
            if size < known.parsed:
                known.lines, known.parsed, known.changes = [], 0, None
            if size > known.parsed:
                read, known.parsed = read_lines_from(path, known.parsed)
                lines, unknown = from_json(read.objects)
                if unknown or read.damaged:
                    log.warning("%s has lines that cannot be read: %d", path.name, unknown + len(read.damaged))
                known.lines.extend(lines)
                known.changes = None
            if known.changes is None:
                known.changes = read_changes(path.parent.name, path.stem, known.lines)
            return known.changes

    def _paths(self, path: Path) -> set[str]:
        with self._lock, disk_errors("read", path):
            known = self._scans.setdefault(path, _Scan())
            size = path.stat().st_size
            if size != known.size:
                known.paths.update(json.loads(found) for found in _PATH.findall(path.read_bytes()))
                known.size = size
            return known.paths
