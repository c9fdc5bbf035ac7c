"""The ledger: one appended line for every model call, in a file a month. It never changes a line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

from onyx_jupyter.storage.disk_errors import disk_errors
from onyx_jupyter.storage.jsonl import append_line, decode_line, whole_lines
from onyx_jupyter.storage.shared_lock import SharedLock
from onyx_jupyter.usage.model_call import ModelCall, call_from_json, call_to_json


class Ledger:
    """The files of one home, which several servers may write. Call the methods in a thread: they use the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = SharedLock(folder / "usage")

    def append(self, call: ModelCall) -> None:
        """Raises: StorageError."""
        with self._lock.held():
            append_line(self._folder / f"{call.at.astimezone(UTC):%Y-%m}.jsonl", call_to_json(call))

    def files(self) -> dict[Path, int]:
        """The size in bytes of each month's file, in order. Raises: StorageError."""
        with disk_errors("read", self._folder):
            return {path: path.stat().st_size for path in sorted(self._folder.glob("????-??.jsonl"))}

    def calls(self, path: Path, offset: int = 0, containing: str = "") -> Iterator[tuple[int, ModelCall | None]]:
        """The calls from that byte on, each with the offset behind it; None for a damaged line, which is no call.

        Only lines with that text, if one is given. Raises: StorageError.
        """
        needle = containing.encode()
        for start, line in whole_lines(path, offset):
            item = decode_line(line) if needle in line else None
            yield start + len(line), call_from_json(item) if item is not None else None

    def calls_of(self, session_key: str) -> list[ModelCall]:
        """Every call made for that conversation, in order. Raises: StorageError."""
        found = (call for path in self.files() for _, call in self.calls(path, containing=session_key))
        return [call for call in found if call is not None and call.session_key == session_key]
