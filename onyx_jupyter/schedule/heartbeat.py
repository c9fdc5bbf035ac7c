"""When a heartbeat happens, what of HEARTBEAT.md it gets, and the log of the beats."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import make_private_folder
from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line, read_lines

MAX_TASKS_CHARS = 4000
"""About a thousand tokens: the rest of a beat's prompt and its tools take less than two thousand."""
MAX_LOG_BYTES = 1_000_000
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(?:\s|$)")


def tasks_in(text: str) -> str | None:
    """The file without comments; None if it holds only headings and empty lines besides."""
    plain = _COMMENT.sub("", text).strip()
    is_empty = all(not line.strip() or _HEADING.match(line.strip()) for line in plain.splitlines())
    return None if is_empty else plain


def is_active(now: datetime, start: str, end: str, zone: str) -> bool:
    """Whether that moment lies in the hours from `start` up to, and without, `end`; they may span midnight."""
    if start == end or (start, end) == ("00:00", "24:00"):
        return True
    clock = now.astimezone(ZoneInfo(zone)).time().replace(second=0, microsecond=0)
    begins, ends = time.fromisoformat(start), None if end == "24:00" else time.fromisoformat(end)
    if ends is None:
        return clock >= begins
    return begins <= clock < ends if begins < ends else clock >= begins or clock < ends


class HeartbeatLog:
    """`schedule/heartbeat.jsonl`: one line for each beat that asked a model. For threads."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, line: Mapping[str, Any]) -> None:
        """A full file is kept once, under another name. Raises: StorageError."""
        make_private_folder(self._path.parent)
        with disk_errors("write to", self._path):
            if self._path.exists() and self._path.stat().st_size > MAX_LOG_BYTES:
                self._path.replace(self._path.with_name(f"{self._path.stem}.1{self._path.suffix}"))
        append_line(self._path, line)

    def newest(self, limit: int) -> Sequence[dict[str, Any]]:
        """Newest first. Raises: StorageError."""
        try:
            return list(reversed(read_lines(self._path).objects[-limit:]))
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return []
            raise
