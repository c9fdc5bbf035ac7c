"""Keeps the text of an answer in progress in a file beside the transcript, in case of a kill."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from onyx_jupyter.errors import StorageError
from onyx_jupyter.storage.atomic_write import PRIVATE_FILE
from onyx_jupyter.storage.disk_errors import disk_errors

WRITE_EVERY_S = 1.0


class PartialFile:
    """Appends at most once per second, so that a reply costs no more than its own size."""

    def __init__(self, path: Path, *, write_every_s: float = WRITE_EVERY_S) -> None:
        self._path = path
        self._write_every_s = write_every_s
        self._run_id = ""
        self._waiting: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._write: asyncio.Task[None] | None = None

    async def begin(self, run_id: str) -> None:
        self._run_id = run_id
        self._waiting = []

    def add(self, text: str) -> None:
        """Buffers the text; it is on disk a second later, even if no more follows."""
        self._waiting.append(text)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._write_every_s, self._start_write)

    async def flush(self) -> None:
        """Returns once all text is on disk."""
        self._stop_timer()
        if self._write is not None:
            await asyncio.wait([self._write])
        if self._waiting:
            self._start_write()
            await asyncio.wait([self._write] if self._write else [])

    async def discard(self) -> None:
        """Deletes the file: the text is in the transcript now."""
        self._stop_timer()
        self._waiting = []
        if self._write is not None:
            await asyncio.wait([self._write])
            self._write = None
            await asyncio.to_thread(self._path.unlink, missing_ok=True)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start_write(self) -> None:
        self._timer = None
        if self._write is not None and not self._write.done():  # a slow disk: the buffer goes with the next write
            self._timer = asyncio.get_running_loop().call_later(self._write_every_s, self._start_write)
            return
        piece, self._waiting = "".join(self._waiting), []
        self._write = asyncio.create_task(self._append(piece))

    async def _append(self, text: str) -> None:
        with contextlib.suppress(StorageError):  # the answer continues; a full disk shows when the entry is written
            await asyncio.to_thread(self._append_now, text)

    def _append_now(self, text: str) -> None:
        line = json.dumps({"runId": self._run_id, "text": text}, ensure_ascii=False) + "\n"
        with disk_errors("write to", self._path):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE_FILE)
            try:
                os.write(descriptor, line.encode("utf-8", "surrogatepass"))
            finally:
                os.close(descriptor)


def recovered_texts(path: Path) -> Mapping[str, str]:
    """Run id → the text that a kill left behind."""
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
            continue  # the line that a kill cut off
    return rescued
