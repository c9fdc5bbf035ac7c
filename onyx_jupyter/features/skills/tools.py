"""The tools that read and run skills.

Unlike other tools they are created for each run, since skills come and go: one tool per notebook, with the notebook's
parameters as its arguments.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import PathNotAllowed, SkillNotReady, ToolError
from onyx_jupyter.features.skills.arguments import (
    SkillArguments,
    allowed_paths,
    arguments_of,
    checked_parameters,
    parameters_schema,
    without_texts,
)
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.messages import Failure, FailureKind, Risk, ToolDefinition, ToolResult
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.security.external_content import one_line_excerpt
from onyx_jupyter.skills.markdown_skill import SKILL_FILE, read_file
from onyx_jupyter.skills.parameters import Parameters
from onyx_jupyter.skills.runner import RunOutcome, RunRequest, SkillRunner
from onyx_jupyter.skills.skill import Listed, Skill, SkillProblem
from onyx_jupyter.toolsets.arguments import Arguments, ByModel
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import PerCall, Tool, tool

FAMILY = "skills"
RESULT_CHARS = 12_000
NOTE_CHARS = 1_000
_FAILURES: Mapping[str, FailureKind] = {"timeout": "timed_out", "stopped": "aborted"}
_UNREAD = "(untrusted: nobody has read this description)"
_TRUSTS = "Allowing it trusts this version, until the skill changes again."


class Skills(Protocol):
    """One agent's skills, as their tools need them."""

    async def get(self, name: str) -> Listed:
        """The skill as it is on disk now. Raises: NotFound."""
        ...

    async def trust(self, skill: Skill, by: str) -> None:
        """Raises: StorageError."""
        ...


def skill_tools(offered: Sequence[Listed], skills: Skills, runner: SkillRunner) -> list[Tool[Any]]:
    """The tools for the skills that an agent is offered; none if there are no skills."""
    desk = RunSkills({item.skill.name: item for item in offered}, skills)
    notebooks = [item.skill for item in offered if item.skill.kind == "notebook"]
    return [_read_tool(desk), *(_notebook_tool(skill, desk, runner) for skill in notebooks)] if offered else []


class RunSkills:
    """What the tools of one run know about the skills, and which version the user was shown for which call."""

    def __init__(self, offered: Mapping[str, Listed], skills: Skills) -> None:
        self._known = dict(offered)
        self._skills = skills
        self._shown: dict[str, str] = {}

    def is_trusted(self, name: str) -> bool:
        """As last known, without looking at the disk."""
        return name in self._known and self._known[name].trusted

    def is_trusted_version(self, skill: Skill) -> bool:
        """Like `is_trusted`, for exactly this version."""
        return self.is_trusted(skill.name) and self._known[skill.name].skill.digest == skill.digest

    async def reload(self, name: str) -> Listed:
        """The skill as it is now. Raises: NotFound, SkillNotReady."""
        item = self._known[name] = await self._skills.get(name)
        if not item.usable:
            raise SkillNotReady(item.state, f"The skill {name} cannot be used. {item.reason}")
        return item

    async def show(self, name: str, context: ToolContext) -> tuple[Listed, dict[str, Any]]:
        """For an approval: the skill, and the details about its trust."""
        item = await self.reload(name)
        self._shown[context.call_id] = item.skill.digest
        return item, await asyncio.to_thread(_trust_details, item)

    async def allowed(self, name: str, context: ToolContext) -> Skill:
        """The skill; trusts it if the user was shown exactly this version. Raises: NotFound, SkillNotReady."""
        item = await self.reload(name)
        if not item.trusted:
            if self._shown.get(context.call_id) != item.skill.digest:
                raise SkillNotReady("untrusted", f"The skill {name} has changed meanwhile. Call it again.")
            await self._skills.trust(item.skill, f"approval:{context.call_id}")
            self._known[name] = await self._skills.get(name)
        return item.skill


class SkillReadArguments(Arguments):
    name: str
    path: str | None = Field(default=None, description="A file in its folder; default: the skill itself.")


def _read_tool(desk: RunSkills) -> Tool[SkillReadArguments]:
    def risk_of(arguments: SkillReadArguments) -> Risk:
        return "read" if desk.is_trusted(arguments.name) else "execute"

    async def preview(arguments: SkillReadArguments, context: ToolContext) -> ToolPreview:
        item, trust = await desk.show(arguments.name, context)
        skill = item.skill
        return ToolPreview(
            summary=f"Follow the skill {skill.name}",
            details={"skill": skill.name, "path": _shown_path(skill, context), "hash": skill.digest} | trust,
            grant=f"skill_read {skill.digest}",
            grant_text=f"reading {skill.name} as it is now",
            exactly=ExactScope({"skill": skill.digest}, without=("path",)),
            must_ask=_why_asked(item),
        )

    @tool(
        name="skill_read",
        activity=Activity("read_skill", "name"),
        arguments=SkillReadArguments,
        description="Reads a skill in full: its instructions, or one of its files.",
        risk="read",
        family=FAMILY,
        deferred=True,
        listed=False,
        risk_of=risk_of,
        preview=preview,
    )
    async def skill_read_tool(arguments: SkillReadArguments, context: ToolContext) -> ToolResult:
        """Returns a skill's text. An untrusted skill becomes an instruction only after the user has seen it.

        A trusted skill is meant to be followed, so its text is not fenced.
        """
        skill = await desk.allowed(arguments.name, context)
        if arguments.path is not None and skill.kind == "text":
            try:
                return ToolResult(await asyncio.to_thread(read_file, skill, arguments.path), origin="own")
            except SkillProblem as problem:
                raise ToolError(str(problem)) from problem
        if skill.kind == "notebook":
            head = f"A notebook. {skill.tool} runs it with other parameters."
            return ToolResult(f"{head}\n\n{skill.text}", origin="own")
        files = f"\n\nFiles beside {SKILL_FILE}: {', '.join(skill.files)}" if skill.files else ""
        return ToolResult(f"{skill.instructions}{files}", origin="own")

    return skill_read_tool


def _notebook_tool(offered: Skill, desk: RunSkills, runner: SkillRunner) -> Tool[SkillArguments]:
    """Runs one notebook in a kernel of its own."""
    name, schema = offered.tool or "", parameters_schema(offered)

    def make_definition() -> ToolDefinition:
        """The tool's definition; for an untrusted skill the model sees as little of it as in the prompt."""
        if desk.is_trusted_version(offered):
            return ToolDefinition(name, offered.description, schema)
        return ToolDefinition(name, f"{_UNREAD} {one_line_excerpt(offered.description)}", without_texts(schema))

    async def preview(arguments: SkillArguments, context: ToolContext) -> ToolPreview:
        item, trust = await desk.show(offered.name, context)
        skill = item.skill
        given = _given(skill, arguments, context)
        cwd = str(context.server_root)
        about: dict[str, Any] = {"skill": skill.name, "parameters": _in_effect(skill, given), "cwd": cwd}
        about |= {"path": _shown_path(skill, context), "kernel": skill.kernel, "hash": skill.digest}
        about |= {"gets": [*skill.requires.env]} if skill.requires.env else {}
        return ToolPreview(
            summary=f"Run the skill {skill.name}",
            details=about | trust,
            grant=f"skill {skill.digest} {cwd}",
            grant_text=f"every run of {skill.name} as it is now, with any parameters",
            exactly=ExactScope({"skill": skill.digest, "cwd": cwd}),
            must_ask=_why_asked(item),
        )

    async def call(arguments: SkillArguments, context: ToolContext) -> ToolResult:
        skill = await desk.allowed(offered.name, context)
        given = _given(skill, arguments, context)
        by = f"agent:{context.agent_id}"
        request = RunRequest(skill, given, context.server_root, by, context.session_key)
        outcome = await runner.run(request, lambda progress: context.progress(str(progress)))
        return await asyncio.to_thread(_result, outcome, min(RESULT_CHARS, context.max_result_chars - NOTE_CHARS))

    return Tool(
        name=name,
        arguments=ByModel(arguments_of(offered), schema),
        description=offered.description,
        risk="execute",
        family=FAMILY,
        deferred=True,
        listed=False,
        untimed=True,
        activity=Activity("run_skill", otherwise=offered.name),
        call=call,
        per_call=PerCall(preview=preview),
        make_definition=make_definition,
    )


def _given(skill: Skill, arguments: SkillArguments, context: ToolContext) -> dict[str, Any]:
    """The arguments, checked against the current skill. Raises: InvalidArguments, PathNotAllowed."""
    checked = checked_parameters(skill, arguments.given())
    return allowed_paths(skill, checked.given(), context.paths)


def _why_asked(item: Listed) -> str:
    if item.trusted:
        return ""
    return "the skill has changed since it was trusted" if item.changed else "the skill is new here"


def _shown_path(skill: Skill, context: ToolContext) -> str:
    try:
        return context.paths.shown(context.paths.resolve(str(skill.path)))
    except PathNotAllowed:  # a folder that only Onyx itself reads
        return str(skill.path)


def _in_effect(skill: Skill, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter with its effective value, as far as it is known before the run."""
    items = (skill.parameters or Parameters()).items
    return {item.name: item.default for item in items if item.has_default} | dict(given)


def _trust_details(item: Listed) -> dict[str, Any]:
    if item.trusted:
        return {"trust": "trusted"}
    if item.changed and item.trusted_text is not None:
        diff = unified_diff(item.trusted_text, item.skill.text)
        changed = diff or "What is no text has changed: bytes of a file."
        notice = f"This skill has changed since it was trusted. {_TRUSTS}"
        return {"trust": "changed", "notice": notice, "diff": changed}
    return {"trust": "new", "notice": f"This skill is new here. {_TRUSTS}", "source": item.skill.text}


def _result(outcome: RunOutcome, max_chars: int) -> ToolResult:
    record = outcome.record
    rendered = render_outputs(outcome.outputs, max(500, max_chars))
    ending = {"ok": "succeeded", "failed": "failed", "stopped": "was stopped", "timeout": "took too long"}
    head = f"{record.skill} {ending.get(record.status, record.status)}."
    given = json.dumps(record.parameters, ensure_ascii=False)
    text = "".join(f"{part}\n" for part in (record.error, rendered.text) if part)
    tail = f"Run {record.run_id}, given {given[:300]}."
    tail = f"\n{tail}" if text else tail
    return ToolResult(
        output=f"{head}\n{text.removesuffix(chr(10))}{tail}",
        external=f"the skill {record.skill}",
        own_head=f"{head}\n",
        own_tail=tail,
        attachments=rendered.attachments,
        ok=record.status == "ok",
        truncated=rendered.truncated,
        failure=None if record.status == "ok" else Failure(_FAILURES.get(record.status, "failed"), head),
    )
