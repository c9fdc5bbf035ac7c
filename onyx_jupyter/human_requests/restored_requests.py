"""What waited for a person before a restart, kept until its run asks again."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

Asked = TypeVar("Asked")


class Restored(Generic[Asked]):
    """For each tool call, by run and call id: what was asked, and whether it has been asked again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[Asked, asyncio.Event]] = {}

    def keep(self, run_id: str, call_id: str, asked: Asked) -> asyncio.Event:
        """Returns an event that is set once it is asked again, or found to need no answer."""
        known = asyncio.Event()
        self._kept[run_id, call_id] = asked, known
        return known

    def take(self, run_id: str, call_id: str) -> tuple[Asked | None, asyncio.Event]:
        """Removes and returns what was asked about that call before the restart; the caller sets the event."""
        return self._kept.pop((run_id, call_id), (None, asyncio.Event()))
