"""Audits refused requests: no login, a foreign page, no permission. Other code does the refusing."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jupyter_server.base.handlers import JupyterHandler

from onyx_jupyter.clock import Clock, SystemClock

if TYPE_CHECKING:
    from onyx_jupyter.security.audit import AuditLog
    from onyx_jupyter.server.service import Service

log = logging.getLogger(__name__)
REFUSED = (401, 403)
PER_MINUTE = 60
SHOWN_CHARS = 200


class Refusals:
    """Entries of the audit file, made without loading Onyx. At most 60 a minute: a flood must not fill the disk."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._turn = asyncio.Lock()
        self._audit: AuditLog | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._minute = 0
        self._written = 0
        self._left_out = 0

    def note(self, facts: dict[str, Any]) -> None:
        """Writes in the background; the next entry says how many were dropped before it."""
        minute = int(self._clock.monotonic() // 60)
        if minute != self._minute:
            self._minute, self._written = minute, 0
        if self._written >= PER_MINUTE:
            self._left_out += 1
            return
        self._written += 1
        if self._left_out:
            facts, self._left_out = {**facts, "leftOutBefore": self._left_out}, 0
        task = asyncio.create_task(self._write(facts), name="onyx refusal")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Waits for entries in progress."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _write(self, facts: dict[str, Any]) -> None:
        try:
            async with self._turn:  # a single thread, however many requests are refused
                await asyncio.to_thread(self._append, facts)
        except Exception as error:  # the refusal stands, whatever the disk says
            log.error("A refused request could not be written to the audit file: %s", error)

    def _append(self, facts: dict[str, Any]) -> None:
        if self._audit is None:
            from onyx_jupyter.config.paths import Home
            from onyx_jupyter.security.audit import AuditLog

            self._audit = AuditLog(Home.from_environment().audit_file, self._clock)
        self._audit.append("refused", facts)


class Guarded(JupyterHandler):
    """A handler of Onyx, whose refusals are audited; `service` loads Onyx.

    The address is recorded without its query, which may hold a token.
    """

    auth_resource = "onyx"

    def initialize(self, service: Callable[[], Awaitable[Service]], refusals: Refusals) -> None:
        self._service = service
        self._refusals = refusals

    def on_finish(self) -> None:
        super().on_finish()
        if self.get_status() in REFUSED:
            request = self.request
            facts = {
                "door": request.path,
                "method": request.method,
                "from": request.remote_ip,
                "origin": request.headers.get("Origin"),
                "reason": _reason(self),
            }
            self._refusals.note({name: str(value)[:SHOWN_CHARS] for name, value in facts.items() if value})


def _reason(handler: JupyterHandler) -> str:
    """By how far the handler got: nobody is logged in, or somebody is and the page or the permission is wrong."""
    user = getattr(handler, "_jupyter_current_user", None)
    if user is None:
        return "no valid login"
    return f"not allowed for {getattr(user, 'display_name', None) or 'user'}: a foreign page, or no permission"
