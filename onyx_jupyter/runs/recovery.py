"""After a kill or a restart: pairs interrupted calls, resumes runs that wait for a person, starts those still queued.

Nothing that was in progress is repeated.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from onyx_jupyter.agent.steering import NEW_MESSAGE
from onyx_jupyter.agent.tool_calls import SKIPPED
from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.errors import OnyxError, SessionBusy
from onyx_jupyter.events import ApprovalRequested, QuestionAsked
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.questions import SILENCE, Questions
from onyx_jupyter.log_context import log_context
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.runs.runs import Runs
from onyx_jupyter.sessions.conversation import open_approvals, open_questions
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.partial_answer import recovered_texts
from onyx_jupyter.sessions.run_order import (
    placed,
    stranded_messages,
    unfinished_runs,
    unjoined_messages,
    waiting_messages,
)
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript

log = logging.getLogger(__name__)
RETRY_APPROVAL_S = 5.0

CUT_OFF = ToolResult(
    "The server stopped during this call. It may be partly done; check before you repeat it.",
    ok=False,
    origin="own",
)
TOO_LATE = ToolResult("Denied: nobody answered in time.", ok=False, origin="own")
ORPHANED = ToolResult("Not done: the run waiting for this one was interrupted.", ok=False, origin="own")
NO_ANSWER = ToolResult(SILENCE, ok=False, origin="own")

Waiting = ApprovalRequested | QuestionAsked


async def recover(
    sessions: SessionStore,
    runs: Runs,
    approvals: ApprovalBroker,
    questions: Questions,
    audit: AuditTrail,
    clock: Clock,
    ids: IdSource,
) -> None:
    """Goes through every session with something unfinished. A failure is logged and does not affect the others."""
    for session in await sessions.list():
        if not session.summary.unfinished_runs and not session.summary.stranded_messages:
            continue
        with log_context(session=session.session_key, operation="recover"):
            try:
                transcript = await sessions.get(session.session_key)
                await _recover_session(transcript, runs, approvals, questions, audit, clock, ids)
            except SessionBusy:
                continue  # another server is working in it
            except OnyxError as error:
                log.error("Session %s could not be recovered: %s", session.session_key, error)
            except Exception:  # a file written by a person or another version may contain anything
                log.exception("Session %s could not be recovered", session.session_key)


async def _recover_session(
    transcript: SessionTranscript,
    runs: Runs,
    approvals: ApprovalBroker,
    questions: Questions,
    audit: AuditTrail,
    clock: Clock,
    ids: IdSource,
) -> None:
    if runs.activity(transcript.session_key) != "idle":
        return
    transcript.lock()
    try:
        await transcript.load()
        rescued = await asyncio.to_thread(recovered_texts, transcript.partial_path)
        not_begun = {message.run_id for message in waiting_messages(transcript.entries)}
        begun = [run_id for run_id in unfinished_runs(transcript.entries) if run_id not in not_begun]
        requests = [await _recover_run(transcript, run_id, rescued, audit, clock) for run_id in begun]
        await asyncio.to_thread(transcript.partial_path.unlink, missing_ok=True)
        for message in stranded_messages(transcript.entries):
            facts = {"kind": "requeued", "messageId": message.id, "runId": ids.new()}
            await transcript.append("system", "", facts)
        for request in requests:
            if request is not None:
                await _reopen_request(request, transcript, runs, approvals, questions)
        for message in waiting_messages(transcript.entries):
            if message.origin.is_unattended:  # its time has passed: the schedule says what becomes of it
                await transcript.append_end(message.run_id or "", "interrupted", {})
            else:
                runs.resume(transcript, message)
    finally:
        transcript.unlock()


async def _reopen_request(
    request: Waiting, transcript: SessionTranscript, runs: Runs, approvals: ApprovalBroker, questions: Questions
) -> None:
    asked = approvals.restore(request) if isinstance(request, ApprovalRequested) else questions.restore(request)
    runs.resume(transcript, _message_of(request.run_id, transcript))
    with contextlib.suppress(TimeoutError):  # a client that reconnects asks for the open approvals first
        await asyncio.wait_for(asked.wait(), RETRY_APPROVAL_S)


async def _recover_run(
    transcript: SessionTranscript,
    run_id: str,
    rescued: Mapping[str, str],
    audit: AuditTrail,
    clock: Clock,
) -> Waiting | None:
    """Returns what the run waits for if it can continue; else ends the run."""
    calls = list(transcript.open_calls(run_id))
    approvals, questions = open_approvals(transcript.entries, run_id), open_questions(transcript.entries, run_id)
    request = _approval_of(calls, approvals) or _question_of(calls, questions)
    steered = bool(unjoined_messages(placed(transcript.entries), run_id))
    is_child = _message_of(run_id, transcript).origin.parent_run is not None
    if request is not None and not (steered or is_child) and datetime.fromisoformat(request.expires_at) > clock.now():
        return request
    text = rescued.get(run_id)
    if text and not _is_in(transcript, run_id, text):
        await transcript.append_assistant(run_id, text, (), None, {"partial": True})
    if request is not None:
        await _close_question(request, transcript, calls.pop(0), audit, steered=steered, is_child=is_child)
    # They came after what was asked, so none of them had begun.
    skipped = request is not None and (steered or is_child)
    for call in calls:
        result, status = (SKIPPED, "skipped") if skipped else (CUT_OFF, "interrupted")
        await transcript.append_result(run_id, call, result, {"status": status})
        await audit.tool_run(transcript.session_key, run_id, call, status, {})
    await transcript.append_end(run_id, "interrupted", {})
    return None


async def _close_question(
    request: Waiting, transcript: SessionTranscript, call: ToolCall, audit: AuditTrail, *, steered: bool, is_child: bool
) -> None:
    """Closes what can no longer be answered: it timed out, the user sent another message, or its parent run is gone."""
    key, run_id = transcript.session_key, request.run_id
    outcome, by = ("aborted", "message") if steered else ("aborted", "stop") if is_child else ("expired", "timeout")
    if isinstance(request, ApprovalRequested):
        about = {"approvalId": request.approval_id, "tool": request.tool_name}
        await audit.decision(key, run_id, request.call_id, outcome, by, about)
        facts = {"kind": "approval_resolved", "approvalId": request.approval_id, "decision": outcome, "by": by}
        facts |= {"reason": NEW_MESSAGE} if steered else {}
        result, status = TOO_LATE, "denied"
    else:
        facts = {"kind": "question_resolved", "questionId": request.question_id, "callId": request.call_id}
        facts |= {"outcome": outcome, "by": by}
        result, status = NO_ANSWER, "failed"
    if steered or is_child:
        result, status = SKIPPED if steered else ORPHANED, "skipped"
    await transcript.append("system", "", {"runId": run_id, **facts})
    await transcript.append_result(run_id, call, result, {"status": status})
    await audit.tool_run(key, run_id, call, status, {})


def _is_in(transcript: SessionTranscript, run_id: str, text: str) -> bool:
    """Whether the kill came between saving the reply and deleting its partial text."""
    replies = [entry.content for entry in transcript.entries if entry.role == "assistant" and entry.run_id == run_id]
    return bool(replies) and replies[-1].startswith(text)


def _question_of(calls: list[ToolCall], questions: list[Mapping[str, Any]]) -> QuestionAsked | None:
    """The question that the first open call waits for."""
    for meta in questions:
        if calls and meta.get("callId") == calls[0].id:
            return QuestionAsked(
                question_id=meta["questionId"],
                run_id=meta["runId"],
                call_id=meta["callId"],
                question=meta["question"],
                choices=tuple(meta["choices"]),
                free_text=meta["freeText"],
                expires_at=meta["expiresAt"],
            )
    return None


def _approval_of(calls: list[ToolCall], requests: list[Mapping[str, Any]]) -> ApprovalRequested | None:
    """The open approval, if it is about the first open call: then nothing of the run was in progress."""
    for meta in requests:
        if calls and meta.get("callId") == calls[0].id:
            return ApprovalRequested(
                approval_id=meta["approvalId"],
                run_id=meta["runId"],
                call_id=meta["callId"],
                tool_name=meta["toolName"],
                summary=meta["summary"],
                details=meta["details"],
                expires_at=meta["expiresAt"],
            )
    return None


def _message_of(run_id: str, transcript: SessionTranscript) -> Entry:
    lines = placed(transcript.entries)
    return next(e for e in lines if e.role == "user" and e.run_id == run_id and not e.is_steer)
