"""Asks people and waits for their answer: the first one counts, silence is a no. It never runs a tool."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import AlreadyResolved, NotFound, OnyxError
from onyx_jupyter.events import ApprovalRequested, ApprovalResolved, Decision
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ApprovalAnswer, ToolPreview

log = logging.getLogger(__name__)
Scope = Literal["once", "session"]
ANSWER_WRITE_S = 10.0


class ApprovalJournal(Protocol):
    """Where questions and answers are written before anybody hears of them."""

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        """Raises: StorageError, and then nobody is asked."""
        ...

    async def resolved(self, session_key: str, run_id: str, resolution: ApprovalResolved, scope: Scope | None) -> None:
        """Raises: StorageError, and then the answer does not count."""
        ...


@dataclass(frozen=True)
class PendingApproval:
    """A question that waits; `request` is what people see."""

    session_key: str
    request: ApprovalRequested
    grant: str
    answer: asyncio.Future[ApprovalAnswer]


class ApprovalBroker:
    """Every open question of this server, and what was allowed for a session.

    A grant for a session lives as long as the server: after a restart one is asked again.
    """

    def __init__(self, journal: ApprovalJournal, clock: Clock, ids: IdSource, timeout_s: Callable[[], float]) -> None:
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._pending: dict[str, PendingApproval] = {}
        self._resolved: set[str] = set()
        self._grants: dict[str, set[str]] = {}
        self._restored: dict[tuple[str, str], tuple[ApprovalRequested, asyncio.Event]] = {}
        self._closing = False

    async def ask(self, session_key: str, run_id: str, call: ToolCall, preview: ToolPreview) -> ApprovalAnswer:
        """Waits until somebody answers or the time is over; cancelling closes the question as aborted."""
        if preview.grant in self._grants.get(session_key, ()):
            return ApprovalAnswer(approved=True, reason=None)
        restored, asked = self._restored.pop((run_id, call.id), (None, None))
        request = restored or self._request(run_id, call, preview)
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        pending = PendingApproval(session_key, request, preview.grant, answer)
        await self._journal.requested(session_key, request, restored=restored is not None)
        self._pending[request.approval_id] = pending
        if asked is not None:
            asked.set()
        try:
            async with asyncio.timeout(self._remaining_s(request)):
                return await asyncio.shield(answer)  # a Stop or the timeout must not cancel the answer itself
        except TimeoutError:
            return await self._close(pending, "expired", "timeout", "Nobody answered in time, so it was not done.")
        except asyncio.CancelledError:
            if not self._closing and not answer.done():
                await asyncio.shield(asyncio.ensure_future(self._abort(pending)))
            raise
        finally:
            self._pending.pop(request.approval_id, None)

    async def approve(self, approval_id: str, by: str, scope: Scope) -> None:
        """Raises: NotFound, AlreadyResolved, StorageError."""
        pending = self._take(approval_id)
        await self._settle(pending, "approved", by, None, scope)
        if scope == "session":
            self._grants.setdefault(pending.session_key, set()).add(pending.grant)
        _answer(pending, ApprovalAnswer(approved=True, shown=pending.request.details))

    async def deny(self, approval_id: str, by: str, reason: str | None) -> None:
        """Raises: NotFound, AlreadyResolved, StorageError."""
        pending = self._take(approval_id)
        await self._settle(pending, "denied", by, reason, None)
        _answer(pending, ApprovalAnswer(approved=False, reason=reason or "The user said no and gave no reason."))

    def pending(self, session_key: str | None = None) -> list[PendingApproval]:
        """Open questions, the oldest first."""
        return [item for item in self._pending.values() if session_key in (None, item.session_key)]

    def restore(self, request: ApprovalRequested) -> asyncio.Event:
        """A question from before a restart: when its call is asked for again, it keeps its id and its deadline.

        The event is set when that has happened and the question can be answered.
        """
        asked = asyncio.Event()
        self._restored[(request.run_id, request.call_id)] = (request, asked)
        return asked

    def close(self) -> None:
        """The server goes down: open questions stay open on disk, for the next start."""
        self._closing = True

    def _request(self, run_id: str, call: ToolCall, preview: ToolPreview) -> ApprovalRequested:
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        details: Mapping[str, Any] = {**preview.details, "sessionScope": preview.grant_text}
        return ApprovalRequested(
            approval_id=self._ids.new(),
            run_id=run_id,
            call_id=call.id,
            tool_name=call.name,
            summary=preview.summary,
            details=dict(details),
            expires_at=timestamp(expires),
        )

    def _remaining_s(self, request: ApprovalRequested) -> float:
        expires = datetime.fromisoformat(request.expires_at)
        return max(0.0, (expires - self._clock.now()).total_seconds())

    def _take(self, approval_id: str) -> PendingApproval:
        """Out of the list at once, so that of two answers at the same moment the second finds it answered."""
        pending = self._pending.pop(approval_id, None)
        if pending is not None and not pending.answer.done():
            self._resolved.add(approval_id)
            return pending
        if approval_id in self._resolved:
            raise AlreadyResolved("This approval was already answered.", hint="Nothing more is needed.")
        raise NotFound(f"There is no open approval {approval_id!r}.")

    async def _close(self, pending: PendingApproval, decision: Decision, by: str, reason: str | None) -> ApprovalAnswer:
        if self._pending.pop(pending.request.approval_id, None) is None:
            # Somebody answered at the same moment: theirs counts, unless it could not be written down.
            done, _ = await asyncio.wait([pending.answer], timeout=ANSWER_WRITE_S)
            return pending.answer.result() if done else ApprovalAnswer(approved=False, reason=reason)
        self._resolved.add(pending.request.approval_id)
        await self._settle(pending, decision, by, reason, None)
        return ApprovalAnswer(approved=False, reason=reason)

    async def _abort(self, pending: PendingApproval) -> None:
        """A Stop stays a Stop, also where the disk refuses the note of it."""
        try:
            await self._close(pending, "aborted", "stop", None)
        except OnyxError as error:
            log.error("The end of approval %s could not be written: %s", pending.request.approval_id, error)

    async def _settle(
        self, pending: PendingApproval, decision: Decision, by: str, reason: str | None, scope: Scope | None
    ) -> None:
        request = pending.request
        resolution = ApprovalResolved(request.approval_id, decision, by, reason)
        try:
            await self._journal.resolved(pending.session_key, request.run_id, resolution, scope)
        except BaseException:
            if decision in ("approved", "denied"):
                self._pending[request.approval_id] = pending  # nothing was decided: it can be answered again
                self._resolved.discard(request.approval_id)
            raise


def _answer(pending: PendingApproval, answer: ApprovalAnswer) -> None:
    if not pending.answer.done():
        pending.answer.set_result(answer)
