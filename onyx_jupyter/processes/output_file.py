"""Writes a command's output to a file while it runs, without secrets and within a limit. It never blocks the loop."""

from __future__ import annotations

import asyncio
import codecs
import logging
from collections.abc import Callable
from typing import BinaryIO

from onyx_jupyter.errors import OnyxError

log = logging.getLogger(__name__)
MAX_BYTES = 50_000_000
# A secret that is split across two pieces of output is found if it is shorter than this.
_HELD_CHARS = 8_192


class OutputFile:
    """Starts a file once there is more than `begin_bytes` of output; `create` opens it, in a thread."""

    def __init__(self, create: Callable[[], BinaryIO], redact: Callable[[str], str], begin_bytes: int) -> None:
        self._create = create
        self._redact = redact
        self._begin_bytes = begin_bytes
        self._pending: list[bytes] = []
        self._taken_bytes = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._file: BinaryIO | None = None
        self._failed = False
        self._writing: asyncio.Future[None] | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the file exists and holds all output, up to its limit."""
        return self._file is not None and not self._failed

    @property
    def is_whole(self) -> bool:
        return self._taken_bytes <= MAX_BYTES

    def add(self, data: bytes) -> None:
        room = MAX_BYTES - self._taken_bytes
        self._taken_bytes += len(data)
        if room > 0 and not self._failed:
            self._pending.append(data[:room])
        if self._taken_bytes > self._begin_bytes and self._writing is None:
            self._write_soon()

    async def close(self) -> None:
        """Writes the remaining output."""
        while self._writing is not None:
            await asyncio.wait([self._writing])
            await asyncio.sleep(0)  # its callback may have begun the next piece
        if self._file is not None:
            await asyncio.to_thread(self._finish, b"".join(self._pending))
            self._pending.clear()

    def _write_soon(self) -> None:
        data = b"".join(self._pending)
        self._pending.clear()
        self._writing = asyncio.get_running_loop().run_in_executor(None, self._write, data)
        self._writing.add_done_callback(self._written)

    def _written(self, _: asyncio.Future[None]) -> None:
        self._writing = None
        if self._pending:
            self._write_soon()

    def _write(self, data: bytes) -> None:
        self._guarded(lambda: self._put(self._decoder.decode(data), keep_back=_HELD_CHARS))

    def _finish(self, data: bytes) -> None:
        self._guarded(lambda: self._put(self._decoder.decode(data, final=True), keep_back=0))
        if self._file is not None:
            self._guarded(self._file.close)

    def _put(self, text: str, keep_back: int) -> None:
        if self._file is None:
            self._file = self._create()
        text = self._redact(self._held + text)
        cut = max(0, len(text) - keep_back)
        self._held = text[cut:]
        self._file.write(text[:cut].encode("utf-8", "replace"))
        self._file.flush()

    def _guarded(self, work: Callable[[], None]) -> None:
        """A full disk must not end the command: only its output is lost."""
        if self._failed:
            return
        try:
            work()
        except (OSError, OnyxError) as error:
            self._failed = True
            log.warning("A command's output could not be saved: %s", error)
