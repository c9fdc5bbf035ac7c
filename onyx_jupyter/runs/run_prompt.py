"""The system prompt of one run, from its agent's files and tools and the project's trusted instructions.

The user is notified of files that did not fit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.agent.prompt_sections import ProjectText, PromptFacts, SkillLine
from onyx_jupyter.agent.system_prompt import build_light_prompt, build_prompt, build_tiny_prompt
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.memory.bootstrap import MAX_BOOTSTRAP_CHARS, MAX_BOOTSTRAP_FILE_CHARS, within_cap
from onyx_jupyter.memory.fact_store import CONTEXT_TOKENS, FactStore
from onyx_jupyter.memory.facts import CONTEXT_FACTS
from onyx_jupyter.memory.templates import non_template_lines
from onyx_jupyter.project.instructions import Instructions
from onyx_jupyter.protocols import BootstrapFile, Model
from onyx_jupyter.runs.modes import RunTools
from onyx_jupyter.sessions.transcript import SessionTranscript

# Number of facts, and their tokens: a small model's prompt has little room, and least beside tools.
_ROOM, _TINY_ROOM, _LIGHT_ROOM = (CONTEXT_FACTS, CONTEXT_TOKENS), (5, 120), (3, 60)
OVER_CAP = "bootstrap_over_cap"
PROJECT_LABEL = "AGENTS.md of this project"
Note = Callable[[str, str, Mapping[str, Any] | None], Awaitable[None]]


class RunPrompt:
    """Rebuilt for each model call, so that a changed file takes effect."""

    def __init__(
        self,
        parts: AgentParts,
        tools: RunTools,
        skills: Sequence[SkillLine],
        transcript: SessionTranscript | None,
        remembered: FactStore,
        project: Callable[[], Awaitable[Instructions | None]],
        *,
        model: Model,
        of_features: Callable[[], Sequence[str]] = tuple,
        short: bool = False,
    ) -> None:
        """`short`: as for a small model, whichever answers."""
        self._parts = parts
        self._skills = skills
        self._tools = tools
        self._transcript = transcript
        self._remembered = remembered
        self._project = project
        self._model = model
        self._of_features = of_features
        self._light = short or model.light

    async def build(self, note: Note) -> str:
        """The current prompt. A small model's short one shows only beginnings, so cuts are not reported."""
        files = await self._parts.memory.bootstrap_files()
        texts = {file.name: file.text for file in files}
        project = None if self._light else await self._projects_text(files)
        room = _TINY_ROOM if self._model.tiny else _LIGHT_ROOM if self._light else _ROOM
        facts = PromptFacts(
            agent_name=self._parts.config.name,
            files=await asyncio.to_thread(self._without_templates, texts) if self._light else texts,
            tools=self._tools.offered,
            skills=self._skills,
            only_reads=self._tools.mode == "ask",
            remembered=await self._remembered.context(*room),
            project=ProjectText(self._parts.paths.server_root.name, project.text) if project else None,
            of_features=self._of_features(),
            today=self._parts.memory.local_now().date().isoformat(),
        )
        if self._light:
            return build_tiny_prompt(facts) if self._model.tiny else build_light_prompt(facts)
        shown = [*files, project] if project else files
        await self._notify_truncations([file for file in shown if file.left_out], note)
        return build_prompt(facts)

    async def _projects_text(self, own: Sequence[BootstrapFile]) -> BootstrapFile | None:
        """The project's trusted instructions, within the room that the agent's own files leave."""
        paths = self._parts.paths
        if paths.server_root == paths.workspace:  # it is the agent's own
            return None
        found = await self._project()
        room = max(0, MAX_BOOTSTRAP_CHARS - sum(len(file.text) for file in own))
        return within_cap(PROJECT_LABEL, found.text, min(room, MAX_BOOTSTRAP_FILE_CHARS)) if found else None

    def _without_templates(self, texts: Mapping[str, str]) -> Mapping[str, str]:
        """The files without their template text: a small model takes a form to fill in for something to talk about."""
        return {name: non_template_lines(self._parts.templates / name, text) for name, text in texts.items()}

    async def _notify_truncations(self, cut: Sequence[BootstrapFile], note: Note) -> None:
        """Notifies once per session and file, and again when the file has grown or shrunk by a thousand characters."""
        for file in cut:
            data = {"file": file.name, "thousands": file.size // 1000}
            if self._transcript is None or not self._transcript.has_note(OVER_CAP, data):
                await note(OVER_CAP, _describe_truncation(file), data)


def _describe_truncation(file: BootstrapFile) -> str:
    shown = file.size - file.left_out
    how_much = f"only its first {shown:,} characters" if shown else "nothing of it"
    return (
        f"{file.name} is too long for the prompt: the model gets {how_much} of {file.size:,}. "
        "Shorten it, or move parts to files that the model reads when it needs them."
    )
