"""Keeps the newest sessions that jobs and heartbeats made for themselves, so that they do not fill the disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from onyx_jupyter.errors import NotFound
from onyx_jupyter.features.schedule.unattended_runs import UnattendedRuns

KEPT = 50
"""Of each job, and of each agent's heartbeats. A session in which a person has written stays."""


class KeptSessions:
    """`history` returns the sessions that the log knows of, newest first, each with whose it is."""

    def __init__(self, runs: UnattendedRuns, history: Callable[[], Awaitable[Iterable[tuple[str, str]]]]) -> None:
        self._runs = runs
        self._history = history
        self._known: dict[str, deque[str]] | None = None
        self._reading = asyncio.Lock()

    async def ended(self, owner_id: str, session_key: str) -> None:
        """Removes the owner's oldest ones beyond the limit. Raises: StorageError."""
        async with self._reading:
            if self._known is None:
                self._known = _by_owner(await self._history())
        known = self._known.setdefault(owner_id, deque())
        if session_key not in known:
            known.append(session_key)
        while len(known) > KEPT:
            oldest = known.popleft()
            try:
                if await self._runs.is_only_unattended(oldest):
                    await self._runs.forget(oldest)
            except NotFound:
                continue


def _by_owner(newest: Iterable[tuple[str, str]]) -> dict[str, deque[str]]:
    """Oldest first."""
    known: dict[str, dict[str, None]] = {}
    for owner_id, session_key in reversed(list(newest)):
        known.setdefault(owner_id, {})[session_key] = None
    return {owner_id: deque(sessions) for owner_id, sessions in known.items()}
