"""Keeps the words of an answer under way in a file beside the transcript, for the case of a kill. It is no history."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors

WRITE_EVERY_S = 1.0


class PartialFile:
    """Appends at most once a second, so that a reply costs its own size here and no more."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._run_id = ""
        self._waiting: list[str] = []
        self._written_at = 0.0
        self._write: asyncio.Task[None] | None = None

    async def begin(self, run_id: str) -> None:
        self._run_id = run_id
        self._waiting = []
        self._written_at = self._clock.monotonic()

    def add(self, text: str) -> None:
        """Takes the text at once; the disk sees it within about a second."""
        self._waiting.append(text)
        idle = self._write is None or self._write.done()
        if idle and self._clock.monotonic() - self._written_at >= WRITE_EVERY_S:
            self._written_at = self._clock.monotonic()
            piece, self._waiting = "".join(self._waiting), []
            self._write = asyncio.create_task(self._append(piece))

    async def discard(self) -> None:
        """The words are in the transcript now."""
        self._waiting = []
        if self._write is not None:
            await asyncio.wait([self._write])
            self._write = None
            await asyncio.to_thread(self._path.unlink, missing_ok=True)

    async def _append(self, text: str) -> None:
        with contextlib.suppress(StorageError):  # the answer goes on; a full disk shows when the entry is written
            await asyncio.to_thread(self._append_now, text)

    def _append_now(self, text: str) -> None:
        line = json.dumps({"runId": self._run_id, "text": text}, ensure_ascii=False) + "\n"
        with disk_errors("write to", self._path):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                os.write(descriptor, line.encode("utf-8", "surrogatepass"))
            finally:
                os.close(descriptor)


def rescued_text(path: Path) -> Mapping[str, str]:
    """Run id → the words that a kill left behind."""
    rescued: dict[str, str] = {}
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return rescued
    for line in raw.split(b"\n"):
        try:
            item = json.loads(line.decode("utf-8", "surrogatepass"))
            rescued[item["runId"]] = rescued.get(item["runId"], "") + item["text"]
        except (ValueError, KeyError, TypeError):
            continue  # the line that the kill cut
    return rescued
