"""The system prompt of one run, from its agent's files and tools. It tells the person of files that did not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.agent.prompt import build_light_prompt, build_prompt, build_tiny_prompt
from onyx_jupyter.agent.prompt_sections import PromptFacts, SkillLine
from onyx_jupyter.memory.fact_store import CONTEXT_TOKENS, FactStore
from onyx_jupyter.memory.facts import CONTEXT_FACTS
from onyx_jupyter.memory.templates import written_since
from onyx_jupyter.protocols import BootstrapFile, Model
from onyx_jupyter.runtime.agents import AgentParts
from onyx_jupyter.runtime.modes import RunTools
from onyx_jupyter.sessions.transcript import SessionTranscript

# Facts, and tokens of them: a small model's prompt has little room.
_ROOM = {False: (CONTEXT_FACTS, CONTEXT_TOKENS), True: (5, 120)}
OVER_CAP = "bootstrap_over_cap"
Note = Callable[[str, str, Mapping[str, Any] | None], Awaitable[None]]


class RunPrompt:
    """Built anew for each model call, so that a file that was changed meanwhile counts."""

    def __init__(
        self,
        parts: AgentParts,
        tools: RunTools,
        skills: Sequence[SkillLine],
        transcript: SessionTranscript,
        remembered: FactStore,
        *,
        model: Model,
    ) -> None:
        self._parts = parts
        self._skills = skills
        self._tools = tools
        self._transcript = transcript
        self._remembered = remembered
        self._model = model

    async def build(self, note: Note) -> str:
        """The prompt as it is now. A small model's short one shows only beginnings, so it has nothing to tell."""
        files = await self._parts.memory.bootstrap_files()
        texts = {file.name: file.text for file in files}
        facts = PromptFacts(
            agent_name=self._parts.config.name,
            files=await asyncio.to_thread(self._own_words, texts) if self._model.tiny else texts,
            tools=self._tools.offered,
            skills=self._skills,
            only_reads=self._tools.mode == "ask",
            remembered=await self._remembered.context(*_ROOM[self._model.light]),
            today=self._parts.memory.local_now().date().isoformat(),
        )
        if self._model.light:
            return build_tiny_prompt(facts) if self._model.tiny else build_light_prompt(facts)
        await self._tell_of_cuts([file for file in files if file.left_out], note)
        return build_prompt(facts)

    def _own_words(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The files without what they were given: a tiny model takes a form to fill in for something to talk about."""
        return {name: written_since(self._parts.templates / name, text) for name, text in texts.items()}

    async def _tell_of_cuts(self, cut: Sequence[BootstrapFile], note: Note) -> None:
        """Once a session for each file, and again when it has grown or shrunk by a thousand characters."""
        for file in cut:
            data = {"file": file.name, "thousands": file.size // 1000}
            if not self._transcript.has_note(OVER_CAP, data):
                await note(OVER_CAP, _in_words(file), data)


def _in_words(file: BootstrapFile) -> str:
    shown = file.size - file.left_out
    how_much = f"only its first {shown:,} characters" if shown else "nothing of it"
    return (
        f"{file.name} is too long for the prompt: the model gets {how_much} of {file.size:,}. "
        "Shorten it, or move parts to files that are read when they are needed."
    )
