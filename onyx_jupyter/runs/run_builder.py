"""Builds a run that can start: its model, prompt, tools and limits, from the configuration at that moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from onyx_jupyter.agent.planned_calls import KnownAnswer, PlannedCalls
from onyx_jupyter.agent.processor import Processors
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.run_timeout import RunTimeout
from onyx_jupyter.agent.steering import unless_steered
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.model_choice import ModelChoice
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.cell_mode.model import CellModel
from onyx_jupyter.context.attachments import mark_sent_as_seen
from onyx_jupyter.context.cell_context import CellContext, skill_facts
from onyx_jupyter.context.waiting_kernel import asking_notebook
from onyx_jupyter.events import RunEvent, ToolProgress
from onyx_jupyter.files.result_files import ResultFiles
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.notebook.review.recording import Author
from onyx_jupyter.notebook.seen_cells import SeenCells
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.processes.run_processes import RunProcesses
from onyx_jupyter.protocols import (
    Model,
    ModelRequest,
    UserAnswer,
    UserQuestion,
)
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.runs.event_replay import earlier_events
from onyx_jupyter.runs.modes import RunTools
from onyx_jupyter.runs.run_prompt import RunPrompt
from onyx_jupyter.runs.run_tree import RunNode
from onyx_jupyter.runs.services import RunServices
from onyx_jupyter.runs.steering_inbox import SteeringInbox
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.attachments import notebook_in_front
from onyx_jupyter.sessions.by_job import allowed_unattended, planned_calls
from onyx_jupyter.sessions.conversation import chosen_effort, chosen_tool_mode, summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.partial_answer import PartialFile
from onyx_jupyter.sessions.run_order import begun_runs
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.toolsets.context import ToolContext

MAX_SEEN_CELLS = 100
BEAT_FAMILIES = ("fs", "memory", "schedule")
"""The tools of a heartbeat: with its prompt they stay below 3,000 tokens."""


class RunBuilder:
    """Gathers for each run what it works with, from the services that all runs share."""

    def __init__(
        self,
        surroundings: RunServices,
        streams: SessionStreams,
        approvals: ApprovalBroker,
        questions: Questions,
        audit: AuditTrail,
    ) -> None:
        self._around = surroundings
        self._streams = streams
        self._approvals = approvals
        self._questions = questions
        self._audit = audit
        self.model_choice = ModelChoice(surroundings.clock, surroundings.waits, surroundings.model_of)
        self._reaper = ProcessReaper()
        self._seen_cells: dict[str, SeenCells] = {}

    async def close(self) -> None:
        """Ends the processes that runs left behind."""
        await self._reaper.close()

    async def make(self, transcript: SessionTranscript, message: Entry, inbox: SteeringInbox, node: RunNode) -> Run:
        """Raises: OnyxError if the message cannot be answered at present."""
        around, run_id = self._around, message.run_id or ""
        summary = summarise(transcript.entries)
        parts = around.agent(summary.agent_id)
        settings = around.settings()
        skills = await around.skills(parts)
        seen_cells = self._seen_cells_of(transcript.session_key)
        mark_sent_as_seen(seen_cells, message, parts.paths)
        inbox.on_join = lambda joined: mark_sent_as_seen(seen_cells, joined, parts.paths)
        is_beat = message.origin.kind == "heartbeat"
        gathered = await around.tools(parts, skills.toolset)
        if is_beat:
            gathered = replace(gathered, tools=[tool for tool in gathered.tools if tool.family in BEAT_FAMILIES])
        job = message.origin.job
        auto = settings.config.security.auto if job is None else allowed_unattended(job)
        tools = RunTools(gathered, inbox.mode, auto, lambda: model)

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
                short=is_beat,
            )

        async def request_for(other: Model, request: ModelRequest) -> ModelRequest:
            system = settings.secrets.apply(await prompt(other).build(run.note))
            return tools.equip(replace(request, system=system))

        chosen = message.meta.get("model", summary.model) if message.origin.is_unattended else summary.model
        model = self.model_choice.open(around.models(), settings.config, parts.config, chosen, request_for)
        model_id = chosen or around.model_of(parts.config)
        external_agent = around.external_agent(model_id, transcript, parts)
        if external_agent is None and self.model_choice.uses_cell_mode(
            settings.config, model_id, chosen_tool_mode(message)
        ):
            author = Author(parts.config.id, transcript.session_key, run_id)
            notebook = CellContext(
                message,
                around.notebooks_for(author),
                around.kernels,
                parts.paths,
                skill_facts(skills),
                parts.templates,
            )
            model = CellModel(model, notebook, settings.secrets.apply)
        if job is not None and (calls := planned_calls(job)):
            model = PlannedCalls(model, calls, asks=job.get("asks") is True)
        if job is not None and isinstance(answer := job.get("answer"), str):
            model = KnownAnswer(model, answer)
        max_chars = settings.config.tools.max_result_chars
        results = ResultFiles(parts.paths, transcript.session_key, around.clock, max_chars)
        processes = RunProcesses(results=results, reaper=self._reaper, redact=settings.secrets.apply)
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
            work=RunTimeout(around.clock, settings.config.runtime.default_timeout_ms / 1000),
            processors=Processors(around.processors(settings)),
            earlier=tuple(earlier_events(transcript.entries, run_id)),
            has_waited=run_id not in begun_runs(transcript.entries),
            asked_in=node.root.session_key,
            unattended=node.unattended,
            spent=node.spent,
            temperature=parts.config.temperature,
            max_tokens=parts.config.max_tokens,
            effort=chosen_effort(message),
            compaction=settings.config.runtime.compaction,
            reflection_prompt=parts.config.reflection_prompt or None,
            external_agent=external_agent,
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
        inbox: SteeringInbox,
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
            seen_cells=self._seen_cells_of(transcript.session_key),
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
            scheduler=self._around.scheduler,
            time_zone=self._around.time_zone(),
        )

    def _seen_cells_of(self, session_key: str) -> SeenCells:
        """The cells that the session's model has seen; kept for the most recently used sessions."""
        seen_cells = self._seen_cells[session_key] = self._seen_cells.pop(session_key, SeenCells())
        if len(self._seen_cells) > MAX_SEEN_CELLS:
            del self._seen_cells[next(iter(self._seen_cells))]
        return seen_cells
