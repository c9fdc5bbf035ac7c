"""Writes approvals and questions into their session's transcript and then tells its watchers. It never decides."""

from __future__ import annotations

from onyx_jupyter.approvals.broker import Scope
from onyx_jupyter.events import ApprovalRequested, ApprovalResolved, QuestionAsked, QuestionResolved, camel_data
from onyx_jupyter.runtime.streams import SessionStreams
from onyx_jupyter.sessions.store import SessionStore


class TranscriptJournal:
    """What is asked is on disk before anybody is asked, an answer before anything runs."""

    def __init__(self, sessions: SessionStore, streams: SessionStreams) -> None:
        self._sessions = sessions
        self._streams = streams

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None:
        if not restored:
            transcript = await self._sessions.get(session_key)
            await transcript.append("system", "", {"kind": "approval_request", **camel_data(request)})
        self._streams.publish(session_key, request)

    async def resolved(self, session_key: str, run_id: str, resolution: ApprovalResolved, scope: Scope | None) -> None:
        transcript = await self._sessions.get(session_key)
        facts = {"kind": "approval_resolved", "runId": run_id, **camel_data(resolution)}
        await transcript.append("system", "", facts | ({"scope": scope} if scope else {}))
        self._streams.publish(session_key, resolution)

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None:
        if not restored:
            transcript = await self._sessions.get(session_key)
            await transcript.append("system", "", {"kind": "question", **camel_data(asked)})
        self._streams.publish(session_key, asked)

    async def answered(self, session_key: str, resolved: QuestionResolved) -> None:
        transcript = await self._sessions.get(session_key)
        await transcript.append("system", "", {"kind": "question_resolved", **camel_data(resolved)})
        self._streams.publish(session_key, resolved)
