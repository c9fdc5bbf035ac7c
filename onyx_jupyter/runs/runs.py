"""Creates runs from messages and takes them through their session's queue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onyx_jupyter.agent.run_lifecycle import run_turn
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.events import ChatAborted, ChatError, ChatStarted, RunEvent
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.log_context import log_context
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.runs.modes import RunMode
from onyx_jupyter.runs.run_builder import RunBuilder
from onyx_jupyter.runs.run_tree import RunTree
from onyx_jupyter.runs.services import RunServices
from onyx_jupyter.runs.session_queue import SessionQueue
from onyx_jupyter.runs.shielded_write import finish_despite_cancel
from onyx_jupyter.runs.steering_inbox import SteeringInbox
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.run_order import messages_of
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.usage.call_context import model_calls

log = logging.getLogger(__name__)
WhenBusy = Literal["steer", "followup", "interrupt"]
_ROLES = {"job": "cron", "heartbeat": "heartbeat"}


@dataclass(frozen=True)
class Sent:
    """Where a message went: `run_id` answers it; `started` means that nothing else was in progress.

    `context` is what was sent along with it, as the model gets it.
    """

    run_id: str
    delivery: Literal["started", "steer", "followup", "interrupt"]
    context: Sequence[Mapping[str, Any]] = ()


class Runs:
    """Every run of this server. A session with work is locked against other servers, and unlocked when it has none."""

    def __init__(
        self,
        surroundings: RunServices,
        streams: SessionStreams,
        approvals: ApprovalBroker,
        questions: Questions,
        audit: AuditTrail,
        on_change: Callable[[SessionTranscript], None],
    ) -> None:
        self._around = surroundings
        self._streams = streams
        self._approvals = approvals
        self._questions = questions
        self._on_change = on_change
        self._maker = RunBuilder(surroundings, streams, approvals, questions, audit)
        self.model_choice = self._maker.model_choice
        self._queues: dict[str, SessionQueue] = {}
        self._inboxes: dict[str, SteeringInbox] = {}
        self._tree = RunTree()
        self._closing = False

    def activity(self, session_key: str) -> str:
        """idle, running, or waiting for a person."""
        if session_key not in self._queues:
            return "idle"
        asked = self._approvals.pending(session_key) or self._questions.pending(session_key)
        waits = asked or self._streams.open_requests(session_key)
        return "waiting" if waits else "running"

    def is_under_way(self, run_id: str) -> bool:
        """Whether the run works, waits for a person, or waits for its turn."""
        return run_id in self._inboxes

    @property
    def busy(self) -> bool:
        return bool(self._queues)

    @property
    def working(self) -> bool:
        """Whether any run is in progress that does not wait for a person."""
        return any(self.activity(session_key) == "running" for session_key in self._queues)

    async def send(
        self, transcript: SessionTranscript, text: str, meta: Mapping[str, Any], when_busy: WhenBusy
    ) -> Sent:
        """Claims the session, saves the message, and ensures that a run answers it, even if cancelled.

        What a run or a job sends is answered by a run of its own, which neither joins nor interrupts another one.
        Raises: SessionBusy, StorageError, InvalidRequest (the parent is over); then nothing has begun.
        """
        origin = RunOrigin.read(meta)
        self._tree.check(origin, transcript.session_key)
        if origin.parent_run is not None or origin.is_unattended:
            when_busy = "followup"
        queue = self._claim(transcript)
        has_to_wait = self._closing or not queue.is_idle
        inbox = self._inboxes.get(queue.front or "")
        with queue.reserve():
            if when_busy == "steer" and inbox is not None and inbox.is_open:
                await inbox.take(text, meta)
                return Sent(inbox.run_id, "steer")
            interrupts = has_to_wait and when_busy == "interrupt"

            def queue_it(message: Entry) -> None:
                if interrupts and queue.front is not None:
                    self._stop(queue, queue.front)
                if not self._closing:  # else the next start answers it
                    self._enqueue(queue, transcript, message, next_in_line=interrupts)

            run_id = self._around.ids.new()
            writing = transcript.append_user(run_id, text, {**meta, "queued": True} if has_to_wait else meta)
            await finish_despite_cancel(writing, queue_it)
        return Sent(run_id, "started" if not has_to_wait else "interrupt" if interrupts else "followup")

    def resume(self, transcript: SessionTranscript, message: Entry) -> None:
        """Queues the run of a message that was saved before a restart. Raises: SessionBusy, StorageError."""
        self._enqueue(self._claim(transcript), transcript, message)

    async def abort(self, run_id: str, find: Callable[[str], Awaitable[SessionTranscript]]) -> bool:
        """Stops a run in progress, or withdraws a waiting one; False if there is none."""
        for session_key, queue in list(self._queues.items()):
            if self._stop(queue, run_id):
                return True
            if queue.take_waiting(run_id):
                self._forget(run_id)
                transcript = await find(session_key)
                await self._end_before_start(transcript, run_id, "aborted", {}, ChatAborted(run_id))
                return True
        return False

    def abort_session(self, session_key: str) -> None:
        """Stops the run in progress there, if there is one."""
        queue = self._queues.get(session_key)
        if queue is not None and queue.front is not None:
            self._stop(queue, queue.front)

    async def close(self) -> None:
        """Stops all work without ending the runs: a later start continues those that wait for a person."""
        self._closing = True
        await asyncio.gather(*(queue.close() for queue in list(self._queues.values())))
        await self._maker.close()

    def _claim(self, transcript: SessionTranscript) -> SessionQueue:
        key = transcript.session_key
        if key not in self._queues:
            transcript.lock()
            self._queues[key] = SessionQueue(lambda: self._release(transcript))
        return self._queues[key]

    def _enqueue(
        self, queue: SessionQueue, transcript: SessionTranscript, message: Entry, *, next_in_line: bool = False
    ) -> None:
        run_id = message.run_id or ""
        mode = RunMode([message, *messages_of(run_id, transcript.entries)], self._around.ceiling)
        node = self._tree.add(run_id, transcript.session_key, message.origin, mode)
        if node.parent is not None:
            self._streams.relay(run_id, node.parent.session_key, node.parent.run_id)
        inbox = SteeringInbox(
            run_id, transcript, mode, lambda event: self._streams.publish(transcript.session_key, event)
        )
        self._inboxes[run_id] = inbox
        queue.add(run_id, lambda: self._run(transcript, message, inbox), next_in_line=next_in_line)

    def _stop(self, queue: SessionQueue, run_id: str) -> bool:
        """Stops the run and its children, and closes its inbox; False if it is not the current run."""
        is_current = queue.stop_current(run_id)
        if is_current and run_id in self._inboxes:
            self._inboxes[run_id].close()
            self._stop_children(run_id)
        return is_current

    def _stop_children(self, run_id: str) -> None:
        """Children that are still queued end when their turn comes."""
        for child in self._tree.children(run_id):
            if child.session_key in self._queues:
                self._stop(self._queues[child.session_key], child.run_id)

    async def _run(self, transcript: SessionTranscript, message: Entry, inbox: SteeringInbox) -> None:
        node = self._tree.node(inbox.run_id)
        role = "subagent" if node.parent else _ROLES.get(message.origin.kind, "default")
        conversation = node.root.session_key
        with (
            log_context(session=transcript.session_key, run=message.run_id, operation="run"),
            model_calls(role, session_key=conversation, run_id=message.run_id),
        ):
            try:
                await self._answer(transcript, message, inbox)
            finally:
                inbox.close()
                self._forget(inbox.run_id)

    def _forget(self, run_id: str) -> None:
        """Removes a run that is over, and stops its children."""
        if not self._closing:
            self._stop_children(run_id)
        self._tree.end(run_id)
        self._streams.end_relay(run_id)
        self._inboxes.pop(run_id, None)

    async def _answer(self, transcript: SessionTranscript, message: Entry, inbox: SteeringInbox) -> None:
        log.info("The run begins")
        self._on_change(transcript)
        node = self._tree.node(inbox.run_id)
        try:
            if message.origin.parent_run is not None and node.parent is None:
                raise asyncio.CancelledError  # the run that waited for it is over
            run = await self._maker.make(transcript, message, inbox, node)
        except OnyxError as error:
            details = {"code": error.code, "message": str(error)} | ({"hint": error.hint} if error.hint else {})
            event = ChatError(message.run_id or "", error.code, str(error), error.hint)
            inbox.close()
            await self._end_before_start(transcript, event.run_id, "error", details, event)
        except asyncio.CancelledError:
            if self._closing:
                raise  # the next start answers it
            inbox.close()
            await self._end_before_start(transcript, inbox.run_id, "aborted", {}, ChatAborted(inbox.run_id))
        else:
            await run_turn(run, lambda: self._closing)
        self._on_change(transcript)

    async def _end_before_start(
        self, transcript: SessionTranscript, run_id: str, outcome: str, details: Mapping[str, str], event: RunEvent
    ) -> None:
        """Announces the end of a run that never called a model, even if the disk fails."""
        self._streams.publish(transcript.session_key, ChatStarted(run_id))
        try:
            await transcript.append_end(run_id, outcome, details)
        except OnyxError as error:
            event = ChatError(run_id, error.code, str(error), error.hint)
        self._streams.publish(transcript.session_key, event)

    def _release(self, transcript: SessionTranscript) -> None:
        if self._queues.pop(transcript.session_key, None) is not None:
            transcript.unlock()
            if not self._closing:
                self._on_change(transcript)
