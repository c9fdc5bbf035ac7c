"""Reports the newest line of a running command, at most a few times a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from onyx_jupyter.notebook.outputs import plain

EVERY_S = 0.5
_KEPT_CHARS = 4_096
_LINE_CHARS = 200


class LiveLines:
    """`report` gets a finished line, without secrets and terminal codes; `last_at` is when, by the loop's time."""

    def __init__(self, report: Callable[[str], None], redact: Callable[[str], str]) -> None:
        self._report = report
        self._redact = redact
        self._text = ""
        self._last_reported = ""
        self._timer: asyncio.TimerHandle | None = None
        self.last_at = float("-inf")

    def add(self, data: bytes) -> None:
        self._text = (self._text + data[-_KEPT_CHARS:].decode("utf-8", "replace"))[-_KEPT_CHARS:]
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self.last_at + EVERY_S), self._now)

    def close(self) -> None:
        """Reports nothing more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _now(self) -> None:
        self._timer = None
        finished = self._text[: max(self._text.rfind("\n"), self._text.rfind("\r")) + 1]
        lines = [line.strip() for line in plain(self._redact(finished)).splitlines()]
        newest = next((line for line in reversed(lines) if line), "")[:_LINE_CHARS]
        if newest and newest != self._last_reported:
            self._last_reported = newest
            self.last_at = asyncio.get_running_loop().time()
            self._report(newest)
