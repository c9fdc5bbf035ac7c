"""The skill service for operations and runs: finding, trusting and running skills."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from onyx_jupyter.agent.prompt_sections import SkillLine
from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.offered_skills import OfferedSkills
from onyx_jupyter.errors import InvalidArguments, NotFound, SkillNotReady, ToolError
from onyx_jupyter.features.skills.arguments import checked_parameters, real_paths
from onyx_jupyter.features.skills.author import SkillAuthor
from onyx_jupyter.features.skills.library import SkillLibrary
from onyx_jupyter.features.skills.questions import SkillQuestions
from onyx_jupyter.features.skills.runs import SkillRuns
from onyx_jupyter.features.skills.tools import skill_tools
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.runs.audit_trail import AuditTrail
from onyx_jupyter.security.secret_redactor import marked
from onyx_jupyter.skills.run_record import RunRecord
from onyx_jupyter.skills.runner import RunRequest
from onyx_jupyter.skills.skill import Listed, Skill
from onyx_jupyter.toolsets.access import is_allowed

log = logging.getLogger(__name__)
MAX_OFFERED = 150

Forbidden = Callable[[ToolCall], str | None]
SKILLS: Key[Skills] = Key("skills")


class Skills:
    """The skills of one server. `forbidden` returns why a call must not run here, or None."""

    def __init__(
        self,
        library: SkillLibrary,
        runs: SkillRuns,
        author: SkillAuthor,
        questions: SkillQuestions,
        audit: AuditTrail,
        agent: Callable[[str | None], AgentParts],
        forbidden: Forbidden,
    ) -> None:
        self.library = library
        self.runs = runs
        self.author = author
        self.questions = questions
        self._audit = audit
        self._agent = agent
        self._forbidden = forbidden

    async def offered(self, parts: AgentParts) -> OfferedSkills:
        """The skills that the agent may use now. A failure leaves it without skills, not without an answer."""
        try:
            listed = await self.library.all(parts.config.id)
        except Exception:
            log.exception("The skills of agent %s could not be listed", parts.config.id)
            return OfferedSkills()
        usable = [item for item in listed if item.usable and item.skill.kind != "tool"][:MAX_OFFERED]
        access = parts.config.tools
        made = await asyncio.to_thread(skill_tools, usable, _AgentSkills(self.library, parts.config.id), self.runs)
        tools = [tool for tool in made if is_allowed(tool, access.allow, access.deny)]
        names = {tool.name for tool in tools}
        can_read = "skill_read" in names
        lines = [_line(item, names) for item in usable if can_read or item.skill.tool in names]
        return OfferedSkills(tools, lines)

    async def start(
        self, name: str, given: Mapping[str, Any], by: str, *, path: str | None = None, agent_id: str | None = None
    ) -> RunRecord:
        """Runs a skill for the user, in the folder of `path`.

        Raises: NotFound, SkillNotReady, InvalidArguments, PathNotAllowed, ToolError, StorageError.
        """
        item = await self.library.get(name, agent_id)
        skill = item.skill
        if skill.kind == "tool":
            raise ToolError(f"{name} contains tools for agents and cannot be run itself.")
        if item.state != "ready":
            raise SkillNotReady(item.state, f"The skill {name} cannot be run. {item.reason}")
        if skill.tool is None:
            raise ToolError(f"The skill {name} contains instructions, which are followed, not run.")
        paths = self._agent(agent_id).paths
        checked = await asyncio.to_thread(checked_parameters, skill, given)
        if (place := marked(checked.given())) is not None:  # copied from a former run, whose record is redacted
            raise InvalidArguments(
                f"`{place}` contains [redacted:…], the mark left where a secret was removed. Enter the value again."
            )
        real = real_paths(skill, checked.given(), paths)
        cwd = paths.server_root if path is None else _folder(paths.resolve(path))
        call = ToolCall("", skill.tool, checked.canonical())
        refusal = self._forbidden(call)
        if refusal is not None:
            raise ToolError(f"The skill {name} may not be run here: {refusal}")
        return (await self.runs.start(RunRequest(skill, real, cwd, by))).record

    async def ended(self, record: RunRecord) -> None:
        """Audits a user's run; an agent's runs are audited as tool calls."""
        if record.session_key is None:
            facts = {"skill": record.skill, "sha256": record.skill_hash, "arguments": record.parameters}
            await self._audit.skill_run({**facts, "status": record.status, "by": record.by, "run": record.run_id})


class _AgentSkills:
    """One agent's skills, for its tools."""

    def __init__(self, library: SkillLibrary, agent_id: str) -> None:
        self._library = library
        self._agent_id = agent_id

    async def get(self, name: str) -> Listed:
        item = await self._library.get(name, self._agent_id)
        if item.skill.kind == "tool":  # code for this server can be trusted only by the user, in the panel
            raise NotFound(f"There is no skill {name!r}.")
        return item

    async def trust(self, skill: Skill, by: str) -> None:
        await self._library.trust(skill.name, skill.digest, by, self._agent_id)


def _line(item: Listed, tools: Collection[str]) -> SkillLine:
    skill = item.skill
    tool = skill.tool if skill.tool in tools else None
    return SkillLine(skill.name, skill.description, tool, item.trusted)


def _folder(real: Path) -> Path:
    return real if real.is_dir() else real.parent
