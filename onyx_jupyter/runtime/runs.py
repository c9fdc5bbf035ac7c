"""Makes runs out of messages and sees them through their session's queue. It never reads frames or files itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from onyx_jupyter.agent.processor import Processor, Processors
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.steering import unless_steered
from onyx_jupyter.agent.turn import run_turn
from onyx_jupyter.agent.work_clock import WorkClock
from onyx_jupyter.cell_mode.model import CellModel
from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.events import ChatAborted, ChatError, ChatStarted, RunEvent, ToolProgress
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.log_context import log_context
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.notebook.review.recording import Author
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.protocols import (
    Kernels,
    Knowledge,
    Model,
    ModelRequest,
    Models,
    Notebooks,
    Search,
    Sessions,
    UserAnswer,
    UserQuestion,
)
from onyx_jupyter.providers.retry import Waits
from onyx_jupyter.runtime.agents import AgentParts
from onyx_jupyter.runtime.asking_cell import asking_notebook
from onyx_jupyter.runtime.audit_trail import AuditTrail
from onyx_jupyter.runtime.cell_surroundings import CellSurroundings, skill_facts
from onyx_jupyter.runtime.earlier_events import earlier_events
from onyx_jupyter.runtime.inbox import RunInbox
from onyx_jupyter.runtime.model_choice import ModelChoice
from onyx_jupyter.runtime.modes import RunMode, RunTools
from onyx_jupyter.runtime.run_prompt import RunPrompt
from onyx_jupyter.runtime.sent_context import know_sent
from onyx_jupyter.runtime.session_queue import SessionQueue
from onyx_jupyter.runtime.settings import Settings
from onyx_jupyter.runtime.skills import Offered
from onyx_jupyter.runtime.streams import SessionStreams
from onyx_jupyter.runtime.writing import even_if_cancelled
from onyx_jupyter.sessions.conversation import chosen_tool_mode, summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.partial import PartialFile
from onyx_jupyter.sessions.run_order import begun_runs, messages_of
from onyx_jupyter.sessions.sent_along import notebook_in_front
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.tools.context import ToolContext, nowhere
from onyx_jupyter.tools.notebooks.sights import NotebookSights
from onyx_jupyter.tools.processes.guardian import Guardian
from onyx_jupyter.tools.processes.run_processes import RunProcesses
from onyx_jupyter.tools.result_files import ResultFiles
from onyx_jupyter.toolsets.gathered import GatheredTools

log = logging.getLogger(__name__)
MAX_SIGHTS = 100
WhenBusy = Literal["steer", "followup", "interrupt"]


@dataclass(frozen=True)
class Sent:
    """Where a message went: `run_id` answers it; `started` says that nothing else was going on.

    `context` is what went along with it, as the model gets it.
    """

    run_id: str
    delivery: Literal["started", "steer", "followup", "interrupt"]
    context: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Surroundings:
    """What runs draw on; asked for anew at each run, so that a changed configuration counts from the next one on.

    `model_of` is an agent's own model; `notebooks_for` gives an author the notebooks in which its changes are kept,
    `notebook_of` the notebook of a kernel; `project` gives the instructions in the server's root that a person trusts;
    `tools` gathers an agent's, with those of the toolsets that are named beside it;
    `memory_search` is an agent's, and so are `facts`; `other_sessions` takes an agent, a session key and the message
    that a run answers there; `prompt_sections` are what features have to say.
    """

    settings: Callable[[], Settings]
    models: Callable[[], Models]
    agent: Callable[[str], AgentParts]
    model_of: Callable[[AgentConfig], str]
    notebooks_for: Callable[[Author], Notebooks]
    tools: Callable[..., Awaitable[GatheredTools]]
    skills: Callable[[AgentParts], Awaitable[Offered]]
    project: Callable[[], Awaitable[Instructions | None]]
    notebook_of: Callable[[str], Awaitable[str | None]]
    other_sessions: Callable[[str, str, Entry], Sessions]
    memory_search: Callable[[str], Search]
    facts: Callable[[AgentParts], FactStore]
    processors: Callable[[Settings], Sequence[Processor]]
    clock: Clock
    ids: IdSource
    waits: Waits = field(default_factory=Waits)
    ceiling: Ceiling = field(default_factory=Ceiling)
    kernels: Kernels | None = None
    knowledge: Knowledge | None = None
    open_notebooks: Callable[[], tuple[Sequence[str], str | None]] = lambda: ((), None)
    show_notebook: Callable[[str], Awaitable[bool]] = nowhere
    prompt_sections: Callable[[], Sequence[str]] = tuple


class Runs:
    """Every run of this server. A session with work is locked against other servers, and unlocked when it has none."""

    def __init__(
        self,
        surroundings: Surroundings,
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
        self._audit = audit
        self._on_change = on_change
        self.model_choice = ModelChoice(surroundings.clock, surroundings.waits, surroundings.model_of)
        self._guardian = Guardian()
        self._queues: dict[str, SessionQueue] = {}
        self._inboxes: dict[str, RunInbox] = {}
        self._sights: dict[str, NotebookSights] = {}
        self._closing = False

    def activity(self, session_key: str) -> str:
        """idle, running, or waiting for a person."""
        if session_key not in self._queues:
            return "idle"
        waits = self._approvals.pending(session_key) or self._questions.pending(session_key)
        return "waiting" if waits else "running"

    def is_under_way(self, run_id: str) -> bool:
        """Whether the run works, waits for a person, or waits for its turn."""
        return run_id in self._inboxes

    @property
    def busy(self) -> bool:
        return bool(self._queues)

    @property
    def working(self) -> bool:
        """Whether a run goes on anywhere that does not wait for a person."""
        return any(self.activity(session_key) == "running" for session_key in self._queues)

    async def send(
        self, transcript: SessionTranscript, text: str, meta: Mapping[str, Any], when_busy: WhenBusy
    ) -> Sent:
        """Claims the session, puts the message on disk, and sees to it that a run answers it, also when cancelled.

        Raises: SessionBusy, StorageError; then nothing has begun.
        """
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
            await even_if_cancelled(writing, queue_it)
        return Sent(run_id, "started" if not has_to_wait else "interrupt" if interrupts else "followup")

    def resume(self, transcript: SessionTranscript, message: Entry) -> None:
        """Queues the run of a message that is on disk since before a restart. Raises: SessionBusy, StorageError."""
        self._enqueue(self._claim(transcript), transcript, message)

    async def abort(self, run_id: str, find: Callable[[str], Awaitable[SessionTranscript]]) -> bool:
        """Stops a run that goes on, or takes one back that waits; False where there is none."""
        for session_key, queue in list(self._queues.items()):
            if self._stop(queue, run_id):
                return True
            if queue.take_waiting(run_id):
                del self._inboxes[run_id]
                transcript = await find(session_key)
                await self._end_unbegun(transcript, run_id, "aborted", {}, ChatAborted(run_id))
                return True
        return False

    async def close(self) -> None:
        """Ends all work without ending the runs: a later start goes on with what waits for a person."""
        self._closing = True
        await asyncio.gather(*(queue.close() for queue in list(self._queues.values())))
        await self._guardian.close()

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
        inbox = RunInbox(run_id, transcript, mode, lambda event: self._streams.publish(transcript.session_key, event))
        self._inboxes[run_id] = inbox
        queue.add(run_id, lambda: self._run(transcript, message, inbox), next_in_line=next_in_line)

    def _stop(self, queue: SessionQueue, run_id: str) -> bool:
        """False where it is not the run that goes on. What comes from now on is not for it."""
        is_current = queue.stop_current(run_id)
        if is_current and run_id in self._inboxes:
            self._inboxes[run_id].close()
        return is_current

    async def _run(self, transcript: SessionTranscript, message: Entry, inbox: RunInbox) -> None:
        with log_context(session=transcript.session_key, run=message.run_id, operation="run"):
            try:
                await self._answer(transcript, message, inbox)
            finally:
                inbox.close()
                self._inboxes.pop(inbox.run_id, None)

    async def _answer(self, transcript: SessionTranscript, message: Entry, inbox: RunInbox) -> None:
        log.info("The run begins")
        self._on_change(transcript)
        try:
            run = await self._make(transcript, message, inbox)
        except OnyxError as error:
            details = {"code": error.code, "message": str(error)} | ({"hint": error.hint} if error.hint else {})
            event = ChatError(message.run_id or "", error.code, str(error), error.hint)
            inbox.close()
            await self._end_unbegun(transcript, event.run_id, "error", details, event)
        except asyncio.CancelledError:
            if self._closing:
                raise  # the next start answers it
            inbox.close()
            await self._end_unbegun(transcript, inbox.run_id, "aborted", {}, ChatAborted(inbox.run_id))
        else:
            await run_turn(run, lambda: self._closing)
        self._on_change(transcript)

    async def _end_unbegun(
        self, transcript: SessionTranscript, run_id: str, outcome: str, details: Mapping[str, str], event: RunEvent
    ) -> None:
        """Tells of a run that ends before a model was asked; a disk that refuses does not silence it."""
        self._streams.publish(transcript.session_key, ChatStarted(run_id))
        try:
            await transcript.append_end(run_id, outcome, details)
        except OnyxError as error:
            event = ChatError(run_id, error.code, str(error), error.hint)
        self._streams.publish(transcript.session_key, event)

    async def _make(self, transcript: SessionTranscript, message: Entry, inbox: RunInbox) -> Run:
        around, run_id = self._around, message.run_id or ""
        summary = summarise(transcript.entries)
        parts = around.agent(summary.agent_id)
        settings = around.settings()
        skills = await around.skills(parts)
        sights = self._sights_of(transcript.session_key)
        know_sent(sights, message, parts.paths)
        inbox.on_join = lambda joined: know_sent(sights, joined, parts.paths)
        gathered = await around.tools(parts, skills.toolset)
        tools = RunTools(gathered, inbox.mode, settings.config.security.auto, lambda: model)

        def emit(event: RunEvent) -> None:
            self._streams.publish(transcript.session_key, event)

        async def audit(call: ToolCall, status: str, facts: Mapping[str, Any]) -> None:
            await self._audit.tool_run(transcript.session_key, run_id, call, status, facts)

        def prompt(model: Model) -> RunPrompt:
            return RunPrompt(
                parts,
                tools,
                skills.lines,
                transcript,
                around.facts(parts),
                around.project,
                model=model,
                of_features=around.prompt_sections,
            )

        async def request_for(other: Model, request: ModelRequest) -> ModelRequest:
            system = settings.secrets.apply(await prompt(other).build(run.note))
            return tools.equip(replace(request, system=system))

        model = self.model_choice.open(around.models(), settings.config, parts.config, summary.model, request_for)
        model_id = summary.model or around.model_of(parts.config)
        if self.model_choice.acts_in_cells(settings.config, model_id, chosen_tool_mode(message)):
            author = Author(parts.config.id, transcript.session_key, run_id)
            notebook = CellSurroundings(
                message,
                around.notebooks_for(author),
                around.kernels,
                parts.paths,
                skill_facts(skills),
                parts.templates,
            )
            model = CellModel(model, notebook, settings.secrets.apply)
        max_chars = settings.config.tools.max_result_chars
        results = ResultFiles(parts.paths, transcript.session_key, around.clock, max_chars)
        processes = RunProcesses(results=results, guardian=self._guardian, redact=settings.secrets.apply)
        run = Run(
            run_id=run_id,
            session_key=transcript.session_key,
            model=model,
            transcript=transcript,
            partial=PartialFile(transcript.partial_path),
            toolbox=tools,
            results=results,
            processes=processes,
            context_for=lambda call: self._context(call, message, transcript, parts, settings, processes, inbox, emit),
            approver=self._approvals,
            inbox=inbox,
            build_prompt=lambda note: prompt(model).build(note),
            audit=audit,
            emit=emit,
            secrets=settings.secrets,
            clock=around.clock,
            new_id=around.ids.new,
            max_turns=settings.config.runtime.max_turns,
            work=WorkClock(around.clock, settings.config.runtime.default_timeout_ms / 1000),
            processors=Processors(around.processors(settings)),
            earlier=tuple(earlier_events(transcript.entries, run_id)),
            has_waited=run_id not in begun_runs(transcript.entries),
            temperature=parts.config.temperature,
            max_tokens=parts.config.max_tokens,
            compaction=settings.config.runtime.compaction,
            reflection_prompt=parts.config.reflection_prompt or None,
        )
        return run

    def _context(
        self,
        call: ToolCall,
        message: Entry,
        transcript: SessionTranscript,
        parts: AgentParts,
        settings: Settings,
        processes: RunProcesses,
        inbox: RunInbox,
        emit: Callable[[RunEvent], None],
    ) -> ToolContext:
        run_id = message.run_id or ""

        async def ask(question: UserQuestion) -> UserAnswer:
            asking = self._questions.ask(transcript.session_key, run_id, call.id, question)
            return await unless_steered(asking, inbox)

        return ToolContext(
            session_key=transcript.session_key,
            agent_id=parts.config.id,
            run_id=run_id,
            call_id=call.id,
            workspace=parts.workspace,
            server_root=parts.paths.server_root,
            paths=parts.paths,
            notebooks=self._around.notebooks_for(
                Author(parts.config.id, transcript.session_key, run_id, call_id=call.id)
            ),
            kernels=self._around.kernels,
            knowledge=self._around.knowledge,
            sights=self._sights_of(transcript.session_key),
            open_notebooks=self._around.open_notebooks,
            show_notebook=self._around.show_notebook,
            notebook_in_front=notebook_in_front(message),
            memory=parts.memory,
            memory_search=self._around.memory_search(parts.config.id),
            clock=self._around.clock,
            timeout_s=settings.config.tools.timeout / 1000,
            max_output_bytes=settings.config.tools.max_output_bytes,
            web=settings.config.tools.web,
            progress=lambda line: emit(ToolProgress(run_id, call.id, call.name, settings.secrets.apply(line))),
            processes=processes,
            max_result_chars=settings.config.tools.max_result_chars,
            asking_notebook=partial(asking_notebook, message, self._around.notebook_of),
            ask=ask if message.origin.interactive else None,
            sessions=self._around.other_sessions(parts.config.id, transcript.session_key, message),
            facts=self._around.facts(parts),
        )

    def _sights_of(self, session_key: str) -> NotebookSights:
        """What its model saw of notebooks; the sessions that were used last are remembered."""
        sights = self._sights[session_key] = self._sights.pop(session_key, NotebookSights())
        if len(self._sights) > MAX_SIGHTS:
            del self._sights[next(iter(self._sights))]
        return sights

    def _release(self, transcript: SessionTranscript) -> None:
        if self._queues.pop(transcript.session_key, None) is not None:
            transcript.unlock()
            if not self._closing:
                self._on_change(transcript)
