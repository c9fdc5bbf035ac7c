"""Keeps the newest sessions that jobs made for themselves, so that a job of every minute does not fill the disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import NotFound
from onyx_jupyter.features.schedule.unattended_runs import UnattendedRuns

KEPT = 50
"""Of each job. A session in which a person has written stays."""


class KeptSessions:
    """`history` returns what the log knows of a job's runs, newest first."""

    def __init__(
        self, runs: UnattendedRuns, history: Callable[[str, int], Awaitable[Sequence[Mapping[str, Any]]]]
    ) -> None:
        self._runs = runs
        self._history = history
        self._known: dict[str, deque[str]] = {}

    async def ended(self, job_id: str, session_key: str) -> None:
        """Removes the oldest ones beyond the limit. Raises: StorageError."""
        if job_id not in self._known:
            lines = await self._history(job_id, 4 * KEPT)
            earlier = [str(line["sessionKey"]) for line in reversed(lines) if "sessionKey" in line]
            self._known[job_id] = deque(dict.fromkeys(earlier))
        known = self._known[job_id]
        if session_key not in known:
            known.append(session_key)
        while len(known) > KEPT:
            oldest = known.popleft()
            try:
                if await self._runs.is_only_unattended(oldest):
                    await self._runs.forget(oldest)
            except NotFound:
                continue
