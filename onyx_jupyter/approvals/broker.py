"""Asks people and waits for their answer: the first one counts, silence is a no. It never runs a tool.

A question is held as it is shown, whole and with the secrets that it holds, in memory alone: whoever writes it down or
tells of it takes them out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from onyx_jupyter.approvals.cautions import Caution, as_json, cautions_of, with_cautions
from onyx_jupyter.approvals.exact import Scope, blocked, scope_of
from onyx_jupyter.approvals.grants import Grant, GrantStore
from onyx_jupyter.approvals.policy import Policy, Verdict
from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound, OnyxError, StorageError
from onyx_jupyter.events import ApprovalRequested, ApprovalResolved, Decision
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ApprovalAnswer, ToolPreview

log = logging.getLogger(__name__)
Reach = Literal["once", "session", "always"]
ANSWER_WRITE_S = 10.0
CHANGED = "what it would do has changed since it was asked"
_SAID = frozenset({"why"})  # the agent's words, which a restart forgets
TOO_LATE = "Nobody answered in time, so it was not done."


class ApprovalJournal(Protocol):
    """Where questions and decisions are written before anybody hears of them; what is written there is redacted."""

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        """Raises: StorageError, and then nobody is asked."""
        ...

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: Resolution) -> None:
        """Raises: StorageError, and then the answer does not count."""
        ...

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: Verdict) -> None:
        """A decision that nobody was asked for. Raises: StorageError, and then it does not count."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """How a question was answered: what people hear of it, how far a yes reaches, and the grants that it makes."""

    event: ApprovalResolved
    reach: Reach | None = None
    grants: Sequence[Grant] = ()


@dataclass(frozen=True)
class PendingApproval:
    """A question that waits; `request` is what people see, `scope` what a yes can cover beyond this once.

    `shown` are the details of the preview, which are to be the same when it runs.
    """

    session_key: str
    request: ApprovalRequested
    answer: asyncio.Future[ApprovalAnswer]
    agent_id: str
    scope: Scope
    shown: Mapping[str, Any]


class ApprovalBroker:
    """Every open question of this server, and what was allowed for a session.

    What is allowed for a session lives as long as the server: after a restart one is asked again. What is allowed
    always is the grants' business.
    """

    def __init__(
        self,
        journal: ApprovalJournal,
        grants: GrantStore,
        clock: Clock,
        ids: IdSource,
        timeout_s: Callable[[], float],
        *,
        policy: Policy | None = None,
        redact: Callable[[Any], Any] = lambda data: data,
    ) -> None:
        """`redact` takes secrets out of data: what it would change holds one, and is allowed once at most."""
        self._journal = journal
        self._grants = grants
        self._policy = policy or Policy(grants)
        self._redact = redact
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._pending: dict[str, PendingApproval] = {}
        self._resolved: set[str] = set()
        self._allowed: dict[str, set[str]] = {}
        self._restored: dict[tuple[str, str], tuple[ApprovalRequested, asyncio.Event]] = {}
        self._closing = False

    async def ask(
        self, session_key: str, run_id: str, call: ToolCall, preview: ToolPreview, *, agent_id: str, auto: bool = False
    ) -> ApprovalAnswer:
        """Waits until somebody answers or the time is over; cancelling closes the question as aborted.

        Cancelled with a message, it was the user's next words that closed it, and the message is the reason.
        What is allowed already, and what nobody may allow, is written down and not asked.
        """
        scope, cautions = await asyncio.to_thread(self._scope, call, preview)
        scope = self._policy.limited(scope)
        allowed = self._allowed.get(session_key, set())
        verdict = await self._policy.decide(agent_id, call, preview, scope, allowed, auto=auto)
        restored, asked = self._restored.pop((run_id, call.id), (None, asyncio.Event()))
        if verdict.decision == "deny" or (verdict.decision == "allow" and restored is None):
            asked.set()
            await self._journal.decided(session_key, run_id, call, verdict)
            return ApprovalAnswer(approved=verdict.decision == "allow", reason=verdict.reason)
        request, shown = self._request(run_id, call, preview, scope, cautions), preview.details
        if restored is not None:
            request, shown, scope = await asyncio.to_thread(self._again, restored, request, preview, scope)
        answer: asyncio.Future[ApprovalAnswer] = asyncio.get_running_loop().create_future()
        pending = PendingApproval(session_key, request, answer, agent_id, scope, shown)
        await self._journal.requested(session_key, request, restored=restored is not None)
        self._pending[request.approval_id] = pending
        asked.set()
        try:
            async with asyncio.timeout(self._remaining_s(request)):
                return await asyncio.shield(answer)  # a Stop or the timeout must not cancel the answer itself
        except TimeoutError:
            return await self._close(pending, "expired", "timeout", TOO_LATE)
        except asyncio.CancelledError as cancelled:
            if not self._closing and not answer.done():
                await asyncio.shield(asyncio.ensure_future(self._abort(pending, *cancelled.args[:1])))
            raise
        finally:
            self._pending.pop(request.approval_id, None)

    def forbidden(self, call: ToolCall) -> str | None:
        """The reason why nobody may allow that here, if there is one."""
        verdict = self._policy.forbidden(call)
        return verdict.reason if verdict else None

    async def refuse(self, session_key: str, run_id: str, call: ToolCall) -> str | None:
        """The same for a call of a run, whose refusal is written down."""
        verdict = self._policy.forbidden(call)
        if verdict is None:
            return None
        _, asked = self._restored.pop((run_id, call.id), (None, asyncio.Event()))
        asked.set()
        await self._journal.decided(session_key, run_id, call, verdict)
        return verdict.reason

    async def approve(self, approval_id: str, by: str, reach: Reach, version: str | None = None) -> None:
        """A yes, to the question as it was shown under that `version`. `session` is `once` where the question says so.

        Raises: NotFound, AlreadyResolved, StorageError; InvalidRequest where it cannot be allowed always, or was shown
        anew meanwhile.
        """
        waiting = self._pending.get(approval_id)
        if waiting is not None and version not in (None, waiting.request.version):
            message = "`version`: the question is shown anew since then. Please look at it again. Nothing was run."
            raise InvalidRequest(message, field="version")
        if waiting is not None and reach == "always" and waiting.scope.blocked is not None:
            reason = f"This cannot be allowed always, because {waiting.scope.blocked}."
            raise InvalidRequest(f"`scope`: {reason} Nothing was run.", field="scope")
        if waiting is not None and self._remaining_s(waiting.request) == 0:  # a laptop's sleep holds timers, not time
            await self._expire(waiting)
            raise AlreadyResolved("The time for this approval was over, so it was not done.", hint="Ask for it anew.")
        pending = self._take(approval_id)
        if reach == "session" and not pending.scope.session_keys:
            reach = "once"
        grants = self._grants_for(pending, by) if reach == "always" else ()
        await self._settle(pending, Resolution(_resolved(pending, "approved", by), reach, grants))
        if reach == "session":
            self._allowed.setdefault(pending.session_key, set()).update(pending.scope.session_keys)
        try:
            if grants:
                await self._keep(grants)
        finally:  # the yes is on disk and holds this once, whether or not it could be kept for always
            _answer(pending, ApprovalAnswer(approved=True, shown=pending.shown))

    async def deny(self, approval_id: str, by: str, reason: str | None) -> None:
        """Raises: NotFound, AlreadyResolved, StorageError."""
        pending = self._take(approval_id)
        await self._settle(pending, Resolution(_resolved(pending, "denied", by, reason)))
        _answer(pending, ApprovalAnswer(approved=False, reason=reason or "The user said no and gave no reason."))

    def pending(self, session_key: str | None = None) -> list[PendingApproval]:
        """Open questions, the oldest first."""
        return [item for item in self._pending.values() if session_key in (None, item.session_key)]

    def restore(self, request: ApprovalRequested) -> asyncio.Event:
        """A question from before a restart: when its call is asked for again, it keeps its id and its deadline.

        The event is set when that has happened and the question can be answered. What is then shown comes from the call
        as it is now: the request is from the disk, without secrets.
        """
        asked = asyncio.Event()
        self._restored[(request.run_id, request.call_id)] = (request, asked)
        return asked

    def close(self) -> None:
        """The server goes down: open questions stay open on disk, for the next start."""
        self._closing = True

    def _scope(self, call: ToolCall, preview: ToolPreview) -> tuple[Scope, Sequence[Caution]]:
        """How far a yes may reach, and what is to be told of what the question holds."""
        cautions = cautions_of(call, preview, self._redact)
        return with_cautions(scope_of(call, preview), cautions), cautions

    def _again(
        self, restored: ApprovalRequested, fresh: ApprovalRequested, preview: ToolPreview, scope: Scope
    ) -> tuple[ApprovalRequested, Mapping[str, Any], Scope]:
        """The question with its id and deadline, and what will run; as it was where that is not what was asked about.

        The details on disk are without secrets, so what is there now is compared without them too.
        """
        now = self._redact(as_json(dict(preview.details)))
        if all(restored.details.get(name) == value for name, value in now.items()):
            details = {**{name: restored.details[name] for name in _SAID & restored.details.keys()}, **fresh.details}
            same = replace(fresh, approval_id=restored.approval_id, details=details, expires_at=restored.expires_at)
            return same, preview.details, scope
        only_once = blocked(CHANGED)
        details = {**restored.details, **_reach_words(only_once)}
        return replace(restored, details=details, version=fresh.version), restored.details, only_once

    def _request(
        self, run_id: str, call: ToolCall, preview: ToolPreview, scope: Scope, cautions: Sequence[Caution]
    ) -> ApprovalRequested:
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        must_ask = {"mustAsk": preview.must_ask} if preview.must_ask else {}
        return ApprovalRequested(
            approval_id=self._ids.new(),
            run_id=run_id,
            call_id=call.id,
            tool_name=call.name,
            summary=preview.summary,
            details={
                **preview.details,
                **must_ask,
                **_reach_words(scope),
                **({"cautions": [*cautions]} if cautions else {}),
            },
            expires_at=timestamp(expires),
            version=self._ids.new(),
        )

    def _grants_for(self, pending: PendingApproval, by: str) -> Sequence[Grant]:
        tool = pending.request.tool_name
        return [self._grants.new(pending.agent_id, tool, item.what, item.digest, by) for item in pending.scope.items]

    async def _keep(self, grants: Sequence[Grant]) -> None:
        try:
            await self._grants.add(grants)
        except StorageError as error:
            raise StorageError(f"It was allowed this once, but not for always. {error}", hint=error.hint) from error

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
        await self._settle(pending, Resolution(_resolved(pending, decision, by, reason)))
        return ApprovalAnswer(approved=False, reason=reason)

    async def _expire(self, pending: PendingApproval) -> None:
        try:
            await self._close(pending, "expired", "timeout", TOO_LATE)
        finally:
            _answer(pending, ApprovalAnswer(approved=False, reason=TOO_LATE))

    async def _abort(self, pending: PendingApproval, reason: str | None = None) -> None:
        """A Stop stays a Stop, also where the disk refuses the note of it."""
        try:
            await self._close(pending, "aborted", "message" if reason else "stop", reason)
        except OnyxError as error:
            log.error("The end of approval %s could not be written: %s", pending.request.approval_id, error)

    async def _settle(self, pending: PendingApproval, answer: Resolution) -> None:
        request = pending.request
        try:
            await self._journal.resolved(pending.session_key, request, answer)
        except BaseException:
            if answer.event.decision in ("approved", "denied"):
                self._pending[request.approval_id] = pending  # nothing was decided: it can be answered again
                self._resolved.discard(request.approval_id)
            raise


def _reach_words(scope: Scope) -> dict[str, Any]:
    """What a yes beyond this once would mean."""
    reach = {"sessionScope": scope.session_text, "alwaysScope": scope.always_text}
    return {**reach, "alwaysBlocked": scope.blocked} if scope.blocked else reach


def _resolved(pending: PendingApproval, decision: Decision, by: str, reason: str | None = None) -> ApprovalResolved:
    return ApprovalResolved(pending.request.approval_id, decision, by, reason)


def _answer(pending: PendingApproval, answer: ApprovalAnswer) -> None:
    if not pending.answer.done():
        pending.answer.set_result(answer)
