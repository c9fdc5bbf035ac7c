"""Announces that usage has changed: at most once in a while, however many calls are made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

CHANGED = "usage.changed"
PAUSE_S = 1.0


class UsageNotices:
    """`broadcast` sends an event to every client."""

    def __init__(self, broadcast: Callable[[str, dict[str, object]], None], pause_s: float = PAUSE_S) -> None:
        self._broadcast = broadcast
        self._pause_s = pause_s
        self._next: asyncio.TimerHandle | None = None

    def changed(self, _: object = None) -> None:
        """The totals or the budget changed; clients hear of all changes within the pause in one event."""
        if self._next is None:
            self._next = asyncio.get_running_loop().call_later(self._pause_s, self._announce)

    async def close(self) -> None:
        if self._next is not None:
            self._next.cancel()

    def _announce(self) -> None:
        self._next = None
        self._broadcast(CHANGED, {})
