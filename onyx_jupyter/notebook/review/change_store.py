"""The files of changes, `changes/<agent>/<session>.jsonl`: appends lines, reads them back, deletes old files."""

from __future__ import annotations

import asyncio
import re
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.review.change_file import ChangeFile, PathScan, whole_line
from onyx_jupyter.notebook.review.lines import ChangeStarted, Done, Effect, Line, Removed, Renamed, to_json
from onyx_jupyter.notebook.review.reviewed_cells import ReviewedCell
from onyx_jupyter.notebook.review.writes import Changes
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line

_KEPT_FILES = 16
_SESSION_KEY = re.compile(r"[0-9A-Za-z_-]{1,64}")


class ChangeStore:
    """All files of changes of one home, each read incrementally; includes lines that another server wrote.

    Keeps files in memory up to `max_kept_bytes` in total, and at least one. `appended_bytes` counts the bytes added
    since the last `prune`.
    """

    def __init__(self, folder: Path, max_kept_bytes: int = 50_000_000) -> None:
        self.appended_bytes = 0
        self._folder = folder
        self._max_kept_bytes = max_kept_bytes
        self._lock = threading.RLock()
        self._files: OrderedDict[Path, ChangeFile] = OrderedDict()
        self._scans: dict[Path, PathScan] = {}

    @property
    def kept_bytes(self) -> int:
        """The approximate memory used by all files."""
        return sum(file.kept_bytes for file in self._files.values())

    async def append(self, agent_id: str, session_key: str, line: Line) -> None:
        """Appends the line; it is on disk on return. Raises: StorageError."""
        await asyncio.to_thread(self._append, self._folder / agent_id / f"{session_key}.jsonl", line)

    async def of_session(self, session_key: str) -> Changes | None:
        """None if the session never changed a notebook. Raises: StorageError."""
        return await asyncio.to_thread(self._of_session, session_key)

    async def of_notebook(self, path: str) -> Sequence[Changes]:
        """All changes of every session that ever changed that notebook. Raises: StorageError."""
        return await asyncio.to_thread(self._of_notebook, path)

    async def filled(self, items: Sequence[ReviewedCell]) -> list[ReviewedCell]:
        """Adds the previous outputs, which stayed on disk; marks them as left out if they are gone."""
        return await asyncio.to_thread(_filled, items)

    async def whole(self, removed: Removed) -> Removed:
        """The removed notebook with its cells. Raises: NotebookError if they are no longer kept."""
        if removed.kept is None:
            return removed
        found = await asyncio.to_thread(whole_line, removed.kept)
        if not isinstance(found, Removed) or found.id != removed.id:
            raise NotebookError("not_kept", f"The earlier content of {removed.path} is no longer kept.")
        return removed.model_copy(update={"cells": found.cells, "kept": None})

    async def renamed(self, old: str, new: str, line_id: str) -> None:
        """From now on, every session finds its changes at or below `old` at `new`. Raises: StorageError."""
        await asyncio.to_thread(self._renamed, old, new, line_id)

    async def prune(self, keep_s: float, max_bytes: int, now_s: float) -> int:
        """Deletes files not written to for `keep_s`, then the oldest until the rest fits; returns how many."""
        return await asyncio.to_thread(self._prune, keep_s, max_bytes, now_s)

    def size(self, agent_id: str, session_key: str) -> int:
        """The size of the session's file in bytes; 0 if there is none."""
        try:
            return (self._folder / agent_id / f"{session_key}.jsonl").stat().st_size
        except OSError:
            return 0

    def _append(self, path: Path, line: Line) -> None:
        with self._lock:
            make_private_folder(path.parent)
            size = path.stat().st_size if path.exists() else 0
            append_line(path, to_json(line))
            self.appended_bytes += path.stat().st_size - size

    def _of_session(self, session_key: str) -> Changes | None:
        if not _SESSION_KEY.fullmatch(session_key):
            return None
        with disk_errors("read", self._folder):
            found = next(iter(self._folder.glob(f"*/{session_key}.jsonl")), None)
        return self._read(found) if found is not None else None

    def _of_notebook(self, path: str) -> list[Changes]:
        parts = path.split("/")
        names = {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}  # a parent folder may have been renamed
        with self._lock:
            return [self._read(file) for file in self._all() if not names.isdisjoint(self._paths(file))]

    def _renamed(self, old: str, new: str, line_id: str) -> None:
        for file in self._all():
            if any(path == old or path.startswith(f"{old}/") for path in self._paths(file)):
                self._append(file, Renamed(path=new, from_path=old, id=line_id))

    def _prune(self, keep_s: float, max_bytes: int, now_s: float) -> int:
        with self._lock, disk_errors("tidy", self._folder):
            statuses = [(file, file.stat()) for file in self._all()]
            found = [(status.st_mtime, status.st_size, file) for file, status in statuses]
            left = sum(size for _, size, _ in found)
            count = 0
            for changed_at, size, file in sorted(found):
                if now_s - changed_at <= keep_s and left <= max_bytes:
                    break
                file.unlink(missing_ok=True)
                self._files.pop(file, None)
                self._scans.pop(file, None)
                left -= size
                count += 1
            self.appended_bytes = 0
        return count

    def _all(self) -> list[Path]:
        with disk_errors("list", self._folder):
            return sorted(self._folder.glob("*/*.jsonl"))

    def _read(self, path: Path) -> Changes:
        with self._lock:
            file = self._files.setdefault(path, ChangeFile(path))
            self._files.move_to_end(path)
            changes = file.changes()
            while len(self._files) > 1 and (len(self._files) > _KEPT_FILES or self.kept_bytes > self._max_kept_bytes):
                self._files.popitem(last=False)
            return changes

    def _paths(self, path: Path) -> Collection[str]:
        with self._lock:
            return self._scans.setdefault(path, PathScan(path)).paths()


def _filled(items: Sequence[ReviewedCell]) -> list[ReviewedCell]:
    wanted = {replace(kept, number=0) for item in items if (kept := item.kept) is not None}
    lines = {kept: whole_line(kept) for kept in wanted}
    return [
        item.filled(_effects(lines[replace(item.kept, number=0)])) if item.kept is not None else item for item in items
    ]


def _effects(line: Line | None) -> Sequence[Effect]:
    return line.effects if isinstance(line, ChangeStarted | Done) else ()
