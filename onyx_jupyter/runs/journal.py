"""Writes approvals and questions into their session's transcript, then notifies its watchers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onyx_jupyter.events import ApprovalRequested, QuestionAsked, QuestionResolved, camel_data
from onyx_jupyter.human_requests.approval_policy import PolicyDecision
from onyx_jupyter.human_requests.broker import Resolution
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.runs.audit_trail import APPROVED, AuditTrail, listed
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.store import SessionStore


class TranscriptJournal:
    """A request is on disk before anyone is asked, an answer before anything runs.

    A decision goes to the audit file first: an approval that got no further is on record, and ran nothing. Requests
    arrive with the secrets that they contain; the transcript and the audit file remove them from what they write.
    """

    def __init__(self, sessions: SessionStore, streams: SessionStreams, audit: AuditTrail) -> None:
        self._sessions = sessions
        self._streams = streams
        self._audit = audit

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        if not restored:
            transcript = await self._sessions.get(session_key)
            await transcript.append(
                "system", "", {"kind": "approval_request", **camel_data(replace(request, version=None))}
            )
        self._streams.publish(session_key, request)

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: Resolution) -> None:
        event, reach = answer.event, {"scope": answer.reach} if answer.reach else {}
        by = event.by if event.decision in ("expired", "aborted") else f"user:{event.by}"
        known = {"approvalId": request.approval_id, "tool": request.tool_name, "details": request.details, **reach}
        grants = {"grants": listed(answer.grants)} if answer.grants else {}
        reason = {"reason": event.reason} if event.reason else {}
        await self._audit.decision(
            session_key, request.run_id, request.call_id, event.decision, by, {**known, **grants, **reason}
        )
        transcript = await self._sessions.get(session_key)
        facts = {"kind": "approval_resolved", "runId": request.run_id, **camel_data(event), **reach}
        await transcript.append("system", "", facts)
        self._streams.publish(session_key, event)

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: PolicyDecision) -> None:
        decision = APPROVED if verdict.decision == "allow" else "denied"
        facts: dict[str, Any] = {"tool": call.name, "arguments": dict(call.arguments), "reason": verdict.reason}
        await self._audit.decision(session_key, run_id, call.id, decision, verdict.by, facts)

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None:
        if not restored:
            transcript = await self._sessions.get(session_key)
            await transcript.append("system", "", {"kind": "question", **camel_data(asked)})
        self._streams.publish(session_key, asked)

    async def answered(self, session_key: str, resolved: QuestionResolved) -> None:
        transcript = await self._sessions.get(session_key)
        await transcript.append("system", "", {"kind": "question_resolved", **camel_data(resolved)})
        self._streams.publish(session_key, resolved)
