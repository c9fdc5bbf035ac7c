"""Asks people whether a tool call may happen: how far a yes reaches, and what it grants.

An approval is held as it is shown, whole and with the secrets that it contains, in memory only: they are removed
wherever it is saved or reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound, OnyxError, StorageError
from onyx_jupyter.events import ApprovalRequested, ApprovalResolved, Decision
from onyx_jupyter.human_requests.approval_policy import Policy, PolicyDecision
from onyx_jupyter.human_requests.approval_scope import Scope, blocked, scope_of
from onyx_jupyter.human_requests.card_warnings import Caution, as_json, cautions_of, with_cautions
from onyx_jupyter.human_requests.grants import Grant, GrantStore
from onyx_jupyter.human_requests.pending_requests import ANSWER_WRITE_S, Ending, PendingRequests, Refusal, Waiting
from onyx_jupyter.human_requests.restored_requests import Restored
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ApprovalAnswer, ToolPreview

Reach = Literal["once", "session", "always"]
CLOSING_HINT = "Answer when the server is running again."
CHANGED = "what it would do has changed since it was asked"
_TRANSIENT_DETAILS = frozenset({"why"})  # the agent's words, which are lost at a restart
UNATTENDED = "unattended"
NOBODY_THERE = (
    "this job runs with nobody there to ask, and its policy does not allow it. Go on without it, and say what was not "
    "done: the person can allow it in the job's policy and run the job again."
)
TOO_LATE = "Nobody answered in time, so it was not done."


class ApprovalJournal(Protocol):
    """Records approvals and decisions before they are announced; what is written there is redacted."""

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        """Raises: StorageError, and then no one is asked."""
        ...

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: Resolution) -> None:
        """Raises: StorageError, and then the answer does not count."""
        ...

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: PolicyDecision) -> None:
        """A decision made without asking. Raises: StorageError, and then it does not count."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """How an approval was answered: the event for people, how far a yes reaches, and the grants that it creates."""

    event: ApprovalResolved
    reach: Reach | None = None
    grants: Sequence[Grant] = ()


@dataclass(frozen=True)
class PendingApproval:
    """A pending approval; `request` is what people see, `scope` what a yes can cover beyond this once.

    `shown` are the details of the preview, which must be the same when it runs; `allowed_in` is the session for which
    a yes to more than this once counts.
    """

    session_key: str
    request: ApprovalRequested
    agent_id: str
    scope: Scope
    shown: Mapping[str, Any]
    allowed_in: str


class ApprovalBroker:
    """All pending approvals of this server, and what was allowed for a session.

    What is allowed for a session lasts as long as the server: after a restart the user is asked again. What is always
    allowed is kept in the grants.
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
        answer_write_s: float = ANSWER_WRITE_S,
    ) -> None:
        """`redact` removes secrets from data: what it would change contains one, and can be allowed only once."""
        self._journal = journal
        self._grants = grants
        self._policy = policy or Policy(grants)
        self._redact = redact
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._room = PendingRequests[PendingApproval, ApprovalAnswer](clock, _refusal, answer_write_s=answer_write_s)
        self._allowed: dict[str, set[str]] = {}
        self._restored = Restored[ApprovalRequested]()

    async def ask(
        self,
        session_key: str,
        run_id: str,
        call: ToolCall,
        preview: ToolPreview,
        *,
        agent_id: str,
        auto: bool = False,
        allowed_in: str | None = None,
        unattended: bool = False,
    ) -> ApprovalAnswer:
        """Waits for an answer until the time is over; cancelling closes the approval as aborted.

        A cancellation with a message means that the user's next message closed it; its text is the reason.
        What is already allowed, and what is forbidden, is recorded and not asked. `allowed_in` is the session whose
        user is asked, if it is not the run's own: what is allowed for that one counts. `unattended`: nobody is asked,
        and what would have to be is denied.
        """
        allowed_in = allowed_in or session_key
        scope, cautions = await asyncio.to_thread(self._scope, call, preview)
        scope = self._policy.limited(scope)
        allowed = self._allowed.get(allowed_in, set())
        verdict = await self._policy.decide(agent_id, call, preview, scope, allowed, auto=auto)
        if unattended and verdict.decision == "ask":
            verdict = PolicyDecision("deny", UNATTENDED, NOBODY_THERE)
        restored, asked = self._restored.take(run_id, call.id)
        if verdict.decision == "deny" or (verdict.decision == "allow" and restored is None):
            asked.set()
            await self._journal.decided(session_key, run_id, call, verdict)
            return ApprovalAnswer(approved=verdict.decision == "allow", reason=verdict.reason)
        request, shown = self._request(run_id, call, preview, scope, cautions), preview.details
        if restored is not None:
            request, shown, scope = await asyncio.to_thread(self._again, restored, request, preview, scope)
        pending = PendingApproval(session_key, request, agent_id, scope, shown, allowed_in)

        async def opened() -> None:
            try:
                await self._journal.requested(session_key, request, restored=restored is not None)
            finally:
                asked.set()

        async def note(ending: Ending, reason: str | None) -> None:
            by = "timeout" if ending == "expired" else "message" if reason else "stop"
            why = TOO_LATE if ending == "expired" else reason
            await self._journal.resolved(session_key, request, Resolution(_resolved(pending, ending, by, why)))

        expires_at = datetime.fromisoformat(request.expires_at)
        silence = ApprovalAnswer(approved=False, reason=TOO_LATE)
        return await self._room.ask(Waiting(request.approval_id, pending, expires_at, silence, note), opened)

    def forbidden(self, call: ToolCall) -> str | None:
        """The reason why that call is forbidden here, if there is one."""
        verdict = self._policy.forbidden(call)
        return verdict.reason if verdict else None

    async def refuse(self, session_key: str, run_id: str, call: ToolCall) -> str | None:
        """Like `forbidden`, for a call of a run; a refusal is recorded."""
        verdict = self._policy.forbidden(call)
        if verdict is None:
            return None
        _, asked = self._restored.take(run_id, call.id)
        asked.set()
        await self._journal.decided(session_key, run_id, call, verdict)
        return verdict.reason

    async def approve(self, approval_id: str, by: str, reach: Reach, version: str | None = None) -> None:
        """A yes to the approval as it was shown under that `version`. `session` counts as `once` if it offers no more.

        Raises: NotFound, AlreadyResolved, StorageError; InvalidRequest if it cannot be allowed always, or was shown
        again meanwhile.
        """
        pending = self._room.open(approval_id).request
        if version not in (None, pending.request.version):
            message = "`version`: the request has changed since it was shown. Please review it again. Nothing was run."
            raise InvalidRequest(message, field="version")
        if reach == "always" and pending.scope.blocked is not None:
            reason = f"“Always” is not available, because {pending.scope.blocked}."
            raise InvalidRequest(f"`scope`: {reason} Nothing was run.", field="scope")
        if reach == "session" and not pending.scope.session_keys:
            reach = "once"
        grants = self._grants_for(pending, by) if reach == "always" else ()

        async def write() -> ApprovalAnswer:
            answer = Resolution(_resolved(pending, "approved", by), reach, grants)
            await self._journal.resolved(pending.session_key, pending.request, answer)
            return ApprovalAnswer(approved=True, shown=pending.shown)

        async def allow(_: ApprovalAnswer, __: bool) -> None:
            """Allows more than this once; the yes to this once holds even if that cannot be saved."""
            if reach == "session":
                self._allowed.setdefault(pending.allowed_in, set()).update(pending.scope.session_keys)
            if grants:
                await self._keep(grants)

        await self._room.answer(approval_id, write, allow)

    async def deny(self, approval_id: str, by: str, reason: str | None) -> None:
        """Raises: NotFound, AlreadyResolved, StorageError."""
        pending = self._room.open(approval_id).request

        async def write() -> ApprovalAnswer:
            answer = Resolution(_resolved(pending, "denied", by, reason))
            await self._journal.resolved(pending.session_key, pending.request, answer)
            return ApprovalAnswer(approved=False, reason=reason or "The user said no and gave no reason.")

        await self._room.answer(approval_id, write)

    def pending(self, session_key: str | None = None) -> list[PendingApproval]:
        """Open approvals, oldest first."""
        return [item for item in self._room.pending() if session_key in (None, item.session_key)]

    def restore(self, request: ApprovalRequested) -> asyncio.Event:
        """An approval from before a restart: when its call is asked about again, it keeps its id and its deadline.

        The event is set when that has happened and it can be answered. What is shown then comes from the call as it is
        now, since the request from the disk is without secrets.
        """
        return self._restored.keep(request.run_id, request.call_id, request)

    def close(self) -> None:
        """The server shuts down: open approvals stay open on disk, for the next start."""
        self._room.close()

    def _scope(self, call: ToolCall, preview: ToolPreview) -> tuple[Scope, Sequence[Caution]]:
        """How far a yes may reach, and the warnings about what the card contains."""
        cautions = cautions_of(call, preview, self._redact)
        return with_cautions(scope_of(call, preview), cautions), cautions

    def _again(
        self, restored: ApprovalRequested, fresh: ApprovalRequested, preview: ToolPreview, scope: Scope
    ) -> tuple[ApprovalRequested, Mapping[str, Any], Scope]:
        """The approval with its id and deadline, and what will run; or as it was, if what will run has changed.

        The details on disk are without secrets, so the current ones are compared without them, too.
        """
        now = self._redact(as_json(dict(preview.details)))
        if all(restored.details.get(name) == value for name, value in now.items()):
            details = {
                **{name: restored.details[name] for name in _TRANSIENT_DETAILS & restored.details.keys()},
                **fresh.details,
            }
            same = replace(fresh, approval_id=restored.approval_id, details=details, expires_at=restored.expires_at)
            return same, preview.details, scope
        only_once = blocked(CHANGED)
        details = {**restored.details, **_describe_scope(only_once)}
        return (
            replace(restored, details=details, version=fresh.version, activity=fresh.activity),
            restored.details,
            only_once,
        )

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
                **_describe_scope(scope),
                **({"cautions": [*cautions]} if cautions else {}),
            },
            expires_at=timestamp(expires),
            version=self._ids.new(),
            activity=preview.activity,
        )

    def _grants_for(self, pending: PendingApproval, by: str) -> Sequence[Grant]:
        tool = pending.request.tool_name
        return [self._grants.new(pending.agent_id, tool, item.what, item.digest, by) for item in pending.scope.items]

    async def _keep(self, grants: Sequence[Grant]) -> None:
        try:
            await self._grants.add(grants)
        except StorageError as error:
            raise StorageError(
                f"It was allowed this once, but “Always” could not be saved. {error}", hint=error.hint
            ) from error


def _describe_scope(scope: Scope) -> dict[str, Any]:
    """What a yes beyond this once would mean."""
    reach = {"sessionScope": scope.session_text, "alwaysScope": scope.always_text}
    return {**reach, "alwaysBlocked": scope.blocked} if scope.blocked else reach


def _resolved(pending: PendingApproval, decision: Decision, by: str, reason: str | None = None) -> ApprovalResolved:
    return ApprovalResolved(pending.request.approval_id, decision, by, reason)


def _refusal(approval_id: str, why: Refusal) -> OnyxError:
    match why:
        case "unknown":
            return NotFound(f"There is no open approval {approval_id!r}.")
        case "answered":
            return AlreadyResolved("This approval has already been answered.", hint="There is nothing left to do.")
        case "late":
            return AlreadyResolved("This approval timed out, so the action was not done.", hint="Ask for it again.")
        case "unsaved":
            message = "Your answer could not be saved before the approval timed out, so the action was not done."
            return AlreadyResolved(message, hint="Ask for it again.")
        case "closing":
            return OnyxError("Onyx is shutting down, so nothing was done.", hint=CLOSING_HINT)
