"""One consolidation: a model reviews part of a conversation; its proposed operations are checked and carried out.

The plan is written to the transcript before any file is changed, and the note about it afterwards: a kill in between
neither repeats a request nor loses a change.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from onyx_jupyter.agent.processor import Halt, Processor, Processors, RunSoFar
from onyx_jupyter.agent.side_request import side_request
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.default_model import NO_MODEL
from onyx_jupyter.agents.model_choice import ModelChoice
from onyx_jupyter.agents.settings import Settings
from onyx_jupyter.clock import IdSource
from onyx_jupyter.config.roles import is_on_plan, role_model
from onyx_jupyter.errors import ModelError
from onyx_jupyter.features.memory.notes import MemoryNotes, plan_of
from onyx_jupyter.memory.change_plan import HISTORY_FILE, Plan, execute_plan, make_plan, memory_text, newest_version
from onyx_jupyter.memory.consolidation import SYSTEM, ProposedMemories, UnreadableAnswer, read_answer, request_text
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.operation_checks import Turn, grounded_in_user, no_secret, reject_instructions, unfounded
from onyx_jupyter.memory.operations import Check, Operation, apply_operations
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import MemoryText, Model, ModelRequest, Models
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import CONSOLIDATION, CONSOLIDATION_FAILED
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.sessions.unconsolidated import Unconsolidated, is_of_person, unconsolidated, unfinished_plan
from onyx_jupyter.toolsets.registry import ToolRegistry

log = logging.getLogger(__name__)
_TRIES = 2
_MARK_CHARS = 12
_MAX_TOKENS = 24_000


@dataclass(frozen=True)
class Consolidation:
    """Its inputs are looked up for each consolidation, so that a changed configuration applies to the next one."""

    settings: Callable[[], Settings]
    models: Callable[[], Models]
    agent: Callable[[str], AgentParts]
    processors: Callable[[Settings], Sequence[Processor]]
    choice: ModelChoice
    notes: MemoryNotes
    ids: IdSource

    async def run(self, transcript: SessionTranscript) -> None:
        """Reviews what no consolidation has seen yet. Raises: ModelError, StorageError, ToolError, NotFound."""
        summary = summarise(transcript.entries)
        parts = self.agent(summary.agent_id)
        await self._finish(transcript, parts.memory)
        part = unconsolidated(transcript.entries)
        if not part.user_text or not self.can(parts, summary.model):
            return
        turns = [
            Turn(one.entry.id, "person" if one.entry.role == "user" else "assistant", one.entry.content, one.own)
            for one in part.spoken
        ]
        await self._plan(transcript, parts, part, turns, summary.model)
        await self._finish(transcript, parts.memory)

    def can(self, parts: AgentParts, of_session: str | None) -> bool:
        """Whether the model is suitable: small ones ignore the format, so they are used only if configured.

        A subscription, or another agent that answers the session, is asked only if it is configured for this.
        """
        settings = self.settings()
        if role_model(settings.config, "consolidation"):
            return True
        model = self.model_for(parts, settings, of_session)
        return model.id != NO_MODEL and not model.light and not is_on_plan(model.id)

    def model_for(self, parts: AgentParts, settings: Settings, of_session: str | None) -> Model:
        """The model configured for consolidation, else the conversation's, else the agent's own.

        A user who chose a model for a conversation has not allowed another provider to read it.
        """

        async def as_it_is(other: Model, request: ModelRequest) -> ModelRequest:
            return request

        chosen = role_model(settings.config, "consolidation") or of_session
        return self.choice.open(self.models(), settings.config, parts.config, chosen, as_it_is)

    async def _plan(
        self,
        transcript: SessionTranscript,
        parts: AgentParts,
        part: Unconsolidated,
        turns: Sequence[Turn],
        of_session: str | None,
    ) -> None:
        settings = self.settings()
        asking = _Asking(self, self.model_for(parts, settings, of_session), parts, settings, turns)
        try:
            wishes, now = await asking.ask()
        except ModelError as error:
            if asking.usage is not None:
                facts = {"model": asking.model.id, "reason": settings.secrets.apply(str(error))}
                await transcript.append("system", "", {"kind": CONSOLIDATION_FAILED, **facts}, usage=asking.usage)
            raise
        typed = [entry.content for entry in transcript.entries if is_of_person(entry)]
        version = await newest_version(parts.memory, now)

        def planned() -> Plan:
            checks = [no_secret(settings.secrets.apply), reject_instructions]
            history = _history_line(wishes.history, turns, parts.memory, checks)
            checks.append(grounded_in_user(turns, typed))
            return make_plan(now, wishes.operations, checks, history, version=version)

        plan = await asyncio.to_thread(planned)  # a message may have a million characters
        facts = {"upTo": part.up_to, "of": part.run_id, "model": asking.model.id, "note": self.ids.new()}
        await transcript.append(
            "system", "", {"kind": CONSOLIDATION, **facts, "plan": asdict(plan)}, usage=asking.usage
        )

    async def _finish(self, transcript: SessionTranscript, memory: MemoryFiles) -> None:
        """Carries out the newest plan, unless a note says that it is done already."""
        entry = unfinished_plan(transcript.entries)
        plan = plan_of(entry) if entry is not None else None
        if entry is None or plan is None:
            return
        outcome = await execute_plan(plan, memory, "consolidation", transcript.session_key)
        if not outcome.done and not outcome.history:  # nothing to report; an entry without a plan needs no finishing
            meta = {name: entry.meta.get(name) for name in ("kind", "upTo", "of")}
            await transcript.append("system", "", meta)
            return
        outcome = replace(outcome, refused=(*plan.refused, *outcome.refused))
        await self.notes.complete(transcript, str(entry.meta.get("of")), str(entry.meta.get("note")), outcome)


class _Asking:
    """The side request of one consolidation; `usage` is its token usage so far."""

    def __init__(
        self, work: Consolidation, model: Model, parts: AgentParts, settings: Settings, turns: Sequence[Turn]
    ) -> None:
        self.usage: Usage | None = None
        self.model = model
        self._parts = parts
        self._turns = turns
        self._processors = Processors(work.processors(settings))
        self._mark = work.ids.new()[-_MARK_CHARS:]

    async def ask(self) -> tuple[ProposedMemories, MemoryText]:
        """The operations the model proposes, and the file it saw. Raises: ModelError, ToolError, StorageError."""
        await self._processors.begin(RunSoFar(ToolRegistry([]), (), Usage()))
        window = await asyncio.to_thread(lambda: self.model.context_window)
        now = await memory_text(self._parts.memory)
        complaint: str | None = None
        for _ in range(_TRIES):
            text = await asyncio.to_thread(
                request_text,
                self._turns,
                now.text,
                self._mark,
                min(_MAX_TOKENS, window // 2),
                self._parts.memory.local_now(),
                complaint,
            )
            answer = await self._answer(text)
            try:
                return read_answer(answer, self._turns, now.text), now
            except UnreadableAnswer as problem:
                complaint = str(problem)
        raise ModelError("bad_response", f"What to remember could not be read from the model's answer: {complaint}")

    async def _answer(self, text: str) -> str:
        config = self._parts.config
        request = ModelRequest(
            SYSTEM, [Message("user", text)], temperature=config.temperature, max_tokens=config.max_tokens
        )
        try:
            reply = await side_request(self.model, request, self._processors)
        except Halt as halt:
            raise ModelError("refused", halt.text) from halt
        self.usage = reply.usage if self.usage is None else self.usage + reply.usage
        return reply.text


def _history_line(history: str, turns: Sequence[Turn], memory: MemoryFiles, checks: Sequence[Check]) -> str:
    """A dated line on what was done; empty if nothing was, or if the conversation does not support the line."""
    if not history:
        return ""
    wish = Operation("add", "what was done", section="History", content=history)
    applied = apply_operations("", [wish], [*checks, lambda operation: unfounded(operation.content, turns)])
    for refused in applied.refused:
        log.info("The line for %s is left out: %s", HISTORY_FILE, refused.why)
    return f"- {memory.local_now():%Y-%m-%d %H:%M} · {applied.done[0].content}" if applied.done else ""
