"""One consolidation: has a model look through a part of a conversation, checks what it wishes for, and has it done.

It decides nothing about when. A plan stands in the transcript before any file is changed, and the note that tells of it
only afterwards: a kill in between neither repeats a request nor forgets a change.
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
from onyx_jupyter.errors import ModelError
from onyx_jupyter.features.memory.notes import MemoryNotes, plan_of
from onyx_jupyter.memory.consolidation import SYSTEM, UnreadableAnswer, Wishes, read_answer, request_text
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.operation_checks import Turn, no_secret, no_steering, said_by_a_person, unfounded
from onyx_jupyter.memory.operations import Check, Operation, apply_operations
from onyx_jupyter.memory.plan import HISTORY_FILE, Plan, carry_out, make_plan, memory_text, newest_version
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
_MOST_TOKENS = 24_000


@dataclass(frozen=True)
class Consolidation:
    """What each one draws on; asked for anew, so that a changed configuration counts from the next one on."""

    settings: Callable[[], Settings]
    models: Callable[[], Models]
    agent: Callable[[str], AgentParts]
    processors: Callable[[Settings], Sequence[Processor]]
    choice: ModelChoice
    notes: MemoryNotes
    ids: IdSource

    async def run(self, transcript: SessionTranscript) -> None:
        """Looks through what no consolidation has seen yet. Raises: ModelError, StorageError, ToolError, NotFound."""
        summary = summarise(transcript.entries)
        parts = self.agent(summary.agent_id)
        await self._finish(transcript, parts.memory)
        part = unconsolidated(transcript.entries)
        if not part.words_of_person or not self.can(parts, summary.model):
            return
        turns = [
            Turn(one.entry.id, "person" if one.entry.role == "user" else "assistant", one.entry.content, one.own)
            for one in part.spoken
        ]
        await self._plan(transcript, parts, part, turns, summary.model)
        await self._finish(transcript, parts.memory)

    def can(self, parts: AgentParts, of_session: str | None) -> bool:
        """Small models keep to no form: those are asked only where the configuration says so. No model is none."""
        settings = self.settings()
        if settings.config.memory.consolidation_model:
            return True
        model = self.model_for(parts, settings, of_session)
        return model.id != NO_MODEL and not model.light

    def model_for(self, parts: AgentParts, settings: Settings, of_session: str | None) -> Model:
        """The one that the configuration names for this, else the conversation's, and only then the agent's own.

        A person who chose a model for a conversation has not said that another provider may read it.
        """

        async def as_it_is(other: Model, request: ModelRequest) -> ModelRequest:
            return request

        chosen = settings.config.memory.consolidation_model or of_session
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
            checks = [no_secret(settings.secrets.apply), no_steering]
            history = _history_line(wishes.history, turns, parts.memory, checks)
            checks.append(said_by_a_person(turns, typed))
            return make_plan(now, wishes.operations, checks, history, version=version)

        plan = await asyncio.to_thread(planned)  # a message may be of a million characters
        facts = {"upTo": part.up_to, "of": part.run_id, "model": asking.model.id, "note": self.ids.new()}
        await transcript.append(
            "system", "", {"kind": CONSOLIDATION, **facts, "plan": asdict(plan)}, usage=asking.usage
        )

    async def _finish(self, transcript: SessionTranscript, memory: MemoryFiles) -> None:
        """Does what the newest plan says, unless a note tells already that it is done."""
        entry = unfinished_plan(transcript.entries)
        plan = plan_of(entry) if entry is not None else None
        if entry is None or plan is None:
            return
        outcome = await carry_out(plan, memory, "consolidation", transcript.session_key)
        if not outcome.done and not outcome.history:  # nothing to tell; without a plan there is nothing to finish
            meta = {name: entry.meta.get(name) for name in ("kind", "upTo", "of")}
            await transcript.append("system", "", meta)
            return
        outcome = replace(outcome, refused=(*plan.refused, *outcome.refused))
        await self.notes.tell(transcript, str(entry.meta.get("of")), str(entry.meta.get("note")), outcome)


class _Asking:
    """The side request of one consolidation; `usage` is what it has cost so far."""

    def __init__(
        self, work: Consolidation, model: Model, parts: AgentParts, settings: Settings, turns: Sequence[Turn]
    ) -> None:
        self.usage: Usage | None = None
        self.model = model
        self._parts = parts
        self._turns = turns
        self._processors = Processors(work.processors(settings))
        self._mark = work.ids.new()[-_MARK_CHARS:]

    async def ask(self) -> tuple[Wishes, MemoryText]:
        """What the model wishes for, and the file that it saw. Raises: ModelError, ToolError, StorageError."""
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
                min(_MOST_TOKENS, window // 2),
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
    """A dated line on what was done; empty where nothing was, or where it says what nobody here said."""
    if not history:
        return ""
    wish = Operation("add", "what was done", section="History", content=history)
    applied = apply_operations("", [wish], [*checks, lambda operation: unfounded(operation.content, turns)])
    for refused in applied.refused:
        log.info("The line for %s is left out: %s", HISTORY_FILE, refused.why)
    return f"- {memory.local_now():%Y-%m-%d %H:%M} · {applied.done[0].content}" if applied.done else ""
