"""What waited for a person before a restart, until its run comes to ask it again. It reads no transcript."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

Asked = TypeVar("Asked")


class Restored(Generic[Asked]):
    """Of each tool call, by its run and its id, what was asked and whether it has been asked again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[Asked, asyncio.Event]] = {}

    def keep(self, run_id: str, call_id: str, asked: Asked) -> asyncio.Event:
        """The event is set once it is asked again, or was found to need no answer."""
        known = asyncio.Event()
        self._kept[run_id, call_id] = asked, known
        return known

    def take(self, run_id: str, call_id: str) -> tuple[Asked | None, asyncio.Event]:
        """What was asked about that call before the restart, once; who takes it sets the event."""
        return self._kept.pop((run_id, call_id), (None, asyncio.Event()))
