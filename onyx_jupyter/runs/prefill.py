"""Has a local model read the beginning of its next request while a person writes, or is about to.

Everything else has priority: nothing is read while a run works, and a real request ends a reading at once.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from onyx_jupyter.agent.processor import Halt, Processors, RunSoFar
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.cell_mode.model import CellModel
from onyx_jupyter.clock import timestamp
from onyx_jupyter.context.cell_context import CellContext
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.notebook.review.recording import Author
from onyx_jupyter.protocols import Model, ModelRequest, Prefills
from onyx_jupyter.runs.modes import RunMode, RunTools
from onyx_jupyter.runs.run_prompt import RunPrompt
from onyx_jupyter.runs.runs import Runs
from onyx_jupyter.runs.services import RunServices
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.transcript import SessionTranscript
from onyx_jupyter.toolsets.registry import ToolRegistry

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a person has written so far, and to whom; `session_key` is None for a conversation that has not begun."""

    session_key: str | None
    text: str
    model: str | None = None
    mode: str | None = None


class Prefill:
    """Only the newest draft counts, since a person writes one message at a time."""

    def __init__(
        self, around: RunServices, runs: Runs, transcript_of: Callable[[str], Awaitable[SessionTranscript]]
    ) -> None:
        self._around = around
        self._runs = runs
        self._transcript_of = transcript_of
        self._newest: Draft | None = None
        self._draft_task: asyncio.Task[None] | None = None
        self._wanted: list[ModelRequest] = []
        self._reading: asyncio.Task[None] | None = None

    def composing(self, draft: Draft) -> None:
        """The person has paused in writing, or has begun nothing yet. Returns at once."""
        if not self._around.settings().config.local.read_ahead:
            return
        self._newest = draft
        if self._draft_task is None or self._draft_task.done():
            self._draft_task = asyncio.create_task(self._process_drafts(), name="onyx looking ahead")

    async def close(self) -> None:
        """Cancels everything in progress."""
        tasks = [task for task in (self._reading, self._draft_task) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _process_drafts(self) -> None:
        while self._newest is not None:
            draft, self._newest = self._newest, None
            try:
                await self._begin(draft)
            except (OnyxError, Halt) as error:
                log.info("Reading ahead failed: %s", error)
            except Exception:
                log.exception("Reading ahead could not be prepared")

    async def _begin(self, draft: Draft) -> None:
        """Begins to read, and cancels the reading for another draft. Raises: OnyxError, Halt."""
        around, settings = self._around, self._around.settings()
        transcript = await self._transcript_of(draft.session_key) if draft.session_key else None
        if self._runs.working or (draft.session_key and self._runs.activity(draft.session_key) != "idle"):
            return
        summary = summarise(transcript.entries) if transcript else None
        parts = around.agent(summary.agent_id if summary else settings.agent(None).id)
        chosen = draft.model or (summary.model if summary else None)
        model_id = chosen or around.model_of(parts.config)
        wished = summary.tool_mode if summary else None
        if not self._runs.model_choice.uses_cell_mode(settings.config, model_id, wished):
            return
        model = around.models().open(model_id)
        if not isinstance(model, Prefills):
            return
        requests = await self._beginnings(draft, transcript, parts, model)
        if self._reading is not None and not self._reading.done():
            if requests == self._wanted:
                return
            self._reading.cancel()
        self._wanted = requests
        self._reading = asyncio.create_task(_read(model, requests), name="onyx reading ahead")

    async def _beginnings(
        self, draft: Draft, transcript: SessionTranscript | None, parts: AgentParts, inner: Model
    ) -> list[ModelRequest]:
        """The beginnings of the requests, built as a run would build them. Raises: OnyxError, Halt."""
        around, settings, message = self._around, self._around.settings(), self._as_sent(draft)
        notebooks = around.notebooks_for(Author(parts.config.id, draft.session_key or "", ""))
        notebook = CellContext(message, notebooks, around.kernels, parts.paths)
        model = CellModel(inner, notebook, settings.secrets.apply)
        gathered = await around.tools(parts)
        tools = RunTools(gathered, RunMode([message], around.ceiling), settings.config.security.auto, lambda: model)
        prompt = RunPrompt(
            parts,
            tools,
            (),
            transcript,
            around.facts(parts),
            around.project,
            model=model,
            of_features=around.prompt_sections,
        )
        messages = [*(transcript.conversation("") if transcript else ()), Message("user", draft.text)]
        processors = Processors(around.processors(settings))
        await processors.begin(RunSoFar(ToolRegistry([]), (), Usage()))
        request = ModelRequest(await prompt.build(_ignore_note), messages)
        return await model.beginnings(await processors.before_model(request))

    def _as_sent(self, draft: Draft) -> Entry:
        """The draft as a message, with the notebook that is active now."""
        front = self._around.open_notebooks()[1]
        facts = {"mode": draft.mode, "notebooks": {"front": front} if front else None}
        meta = {name: value for name, value in facts.items() if value}
        return Entry("", None, timestamp(self._around.clock.now()), "user", draft.text, meta=meta)


async def _read(model: Prefills, requests: Sequence[ModelRequest]) -> None:
    for request in requests:
        await model.prefill(request)


async def _ignore_note(kind: str, message: str, data: object) -> None:
    """Ignores notes: they are shown when the message is sent."""
