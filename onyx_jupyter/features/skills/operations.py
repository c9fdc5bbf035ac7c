"""`skills.*`: list, read, trust, run and save skills; a cell waits until the user trusts one in the card below it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.clock import timestamp
from onyx_jupyter.errors import ToolError
from onyx_jupyter.features.skills.arguments import parameters_schema
from onyx_jupyter.features.skills.author import SkillSource
from onyx_jupyter.features.skills.skill_service import SKILLS
from onyx_jupyter.features.skills.wire import (
    SkillAsked,
    SkillCopy,
    SkillDetail,
    SkillList,
    SkillParams,
    SkillProposal,
    SkillQuestion,
    SkillQuestionParams,
    SkillResult,
    SkillRunList,
    SkillRunParams,
    SkillRunStarted,
    SkillsAnswerParams,
    SkillsAskParams,
    SkillsListParams,
    SkillsProposeParams,
    SkillsRunParams,
    SkillsRunsParams,
    SkillsSaveParams,
    SkillsTrustParams,
    SkillTrusted,
)
from onyx_jupyter.files.diff import unified_diff
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED, HOST
from onyx_jupyter.operations.limits import MAX_FRAME_BYTES
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok
from onyx_jupyter.security.drive_folders import browser_paths
from onyx_jupyter.skills.parameters import Parameter, Parameters, ParametersProblem, parse_parameters
from onyx_jupyter.skills.skill import Listed, Skill

MAX_LISTED = 150
MAX_RESULT_CHARS = 12_000


async def list_skills(params: SkillsListParams, caller: Caller) -> dict[str, Any]:
    listed = await caller.get(SKILLS).library.all(params.agent_id)
    infos = await asyncio.to_thread(_infos, listed[:MAX_LISTED], params.agent_id, caller)
    return {"skills": infos, "leftOut": max(0, len(listed) - MAX_LISTED)}


async def get(params: SkillParams, caller: Caller) -> dict[str, Any]:
    return await detail(
        await caller.get(SKILLS).library.get(params.name, params.agent_id, id=params.id), params.agent_id, caller
    )


async def trust(params: SkillsTrustParams, caller: Caller) -> dict[str, Any]:
    library, by = caller.get(SKILLS).library, f"user:{caller.user}"
    item = await library.trust(params.name, params.hash, by, params.agent_id, id=params.id)
    return {"skill": (await asyncio.to_thread(_infos, [item], params.agent_id, caller))[0]}


async def run(params: SkillsRunParams, caller: Caller) -> dict[str, Any]:
    record = await caller.get(SKILLS).start(
        params.name, params.parameters, f"user:{caller.user}", path=params.path, agent_id=params.agent_id
    )
    return {"runId": record.run_id}


async def stop(params: SkillRunParams, caller: Caller) -> dict[str, Any]:
    return {"ok": await caller.get(SKILLS).runs.stop(params.run_id)}


async def list_runs(params: SkillsRunsParams, caller: Caller) -> dict[str, Any]:
    return {"runs": await caller.get(SKILLS).runs.infos(params.name, params.limit)}


async def result(params: SkillRunParams, caller: Caller) -> dict[str, Any]:
    runs = caller.get(SKILLS).runs
    outcome = await runs.outcome(params.run_id)
    rendered = await asyncio.to_thread(render_outputs, outcome.outputs, MAX_RESULT_CHARS)
    outputs = await asyncio.to_thread(_fitting, outcome.outputs)
    return {
        "run": await runs.info(outcome.record),
        "outputs": await asyncio.to_thread(caller.get(CONFIGURED).redact_data, outputs),
        "text": caller.get(CONFIGURED).redact(rendered.text),
    }


async def copy(params: SkillRunParams, caller: Caller) -> dict[str, Any]:
    record, notebook = await caller.get(SKILLS).runs.notebook(params.run_id)
    info = await caller.get(SKILLS).runs.info(record)
    if await asyncio.to_thread(_size, notebook) > MAX_FRAME_BYTES:
        raise ToolError(f"The executed notebook is too large to send. It is saved as {info['copyLocation']}.")
    return {"run": info, "notebook": await asyncio.to_thread(caller.get(CONFIGURED).redact_data, notebook)}


async def propose(params: SkillsProposeParams, caller: Caller) -> dict[str, Any]:
    proposal, kernel, problem = await caller.get(SKILLS).author.propose(params.path)
    fields: list[dict[str, Any]] = []
    try:
        fields = fields_of(parse_parameters(proposal.parameters))
    except ParametersProblem as error:
        problem = str(error)
    return {
        "name": proposal.name,
        "description": proposal.description,
        "parameters": proposal.parameters,
        "fields": fields,
        "kernel": kernel.get("name"),
        "problem": problem,
    }


async def save(params: SkillsSaveParams, caller: Caller) -> dict[str, Any]:
    wish = SkillSource(
        params.path, params.name, params.description, params.parameters, params.place, overwrite=params.overwrite
    )
    item = await caller.get(SKILLS).author.save(wish, f"user:{caller.user}", params.agent_id)
    return {"skill": (await asyncio.to_thread(_infos, [item], params.agent_id, caller))[0]}


async def detail(item: Listed, agent_id: str | None, caller: Caller) -> dict[str, Any]:
    """Everything that the user reads before trusting a skill."""
    diff = None
    if item.changed and item.trusted_text is not None:
        diff = await asyncio.to_thread(unified_diff, item.trusted_text, item.skill.text)
    return {
        "skill": (await asyncio.to_thread(_infos, [item], agent_id, caller))[0],
        "text": item.skill.text,
        "instructions": item.skill.instructions,
        "diff": diff,
    }


def _fitting(outputs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """As many outputs as fit into a frame, with a notice about the rest."""
    kept: list[dict[str, Any]] = []
    left = MAX_FRAME_BYTES
    for output in outputs:
        left -= _size(output)
        if left < 0:
            text = "The rest is too large to show here. Open the executed notebook.\n"
            return [*kept, {"output_type": "stream", "name": "stderr", "text": text}]
        kept.append(dict(output))
    return kept


def _size(content: Mapping[str, Any]) -> int:
    return len(json.dumps(content))


def fields_of(parameters: Parameters) -> list[dict[str, Any]]:
    """The parameters in wire format, in order."""
    return [_field(item) for item in parameters.items]


def _infos(listed: Sequence[Listed], agent_id: str | None, caller: Caller) -> list[dict[str, Any]]:
    """Blocks, so call it in a thread: builds each skill's parameter model and looks up its path on disk."""
    root = caller.get(AGENTS).agent(agent_id).paths.server_root
    paths = browser_paths([item.skill.path for item in listed], root, caller.get(HOST).drive)
    return [_info(item, path) for item, path in zip(listed, paths, strict=True)]


def _info(item: Listed, path: str | None) -> dict[str, Any]:
    skill = item.skill
    needs = skill.requires
    return {
        "id": skill.id,
        "name": skill.name,
        "kind": skill.kind,
        "description": skill.description,
        "source": skill.source,
        "path": path,
        "location": str(skill.path),
        "state": item.state,
        "reason": item.reason,
        "trusted": item.trusted,
        "changed": item.changed,
        "hash": skill.digest,
        "tool": skill.tool,
        "kernel": skill.kernel,
        "requires": {"bins": [*needs.bins], "env": [*needs.env], "python": [*needs.python]},
        "parameters": _parameters(skill),
        "files": [*skill.files],
    }


def _parameters(skill: Skill) -> dict[str, Any] | None:
    if skill.parameters is None or skill.problem is not None:
        return None
    return {
        "jsonSchema": parameters_schema(skill),
        "fields": fields_of(skill.parameters),
        "freeForm": skill.parameters.free_form,
    }


def _field(item: Parameter) -> dict[str, Any]:
    kind = item.type
    return {
        "name": item.name,
        "type": kind.name,
        "required": item.required,
        "nullable": kind.nullable,
        "itemType": kind.item.name if kind.item else None,
        "choices": [*kind.choices] if kind.name == "choice" else None,
        "hasDefault": item.has_default,
        "default": item.default,
        "defaultText": item.source,
        "description": item.description,
    }


async def ask(params: SkillsAskParams, caller: Caller) -> dict[str, Any]:
    asked = await caller.get(SKILLS).questions.ask(params.name, params.agent_id, caller.own_tab)
    return {"questionId": asked.id}


async def question(params: SkillQuestionParams, caller: Caller) -> dict[str, Any]:
    found = await caller.get(SKILLS).questions.refresh(params.question_id)
    if found is None:
        return {"open": False}
    asked, item = found
    shown = await detail(item, asked.agent_id, caller)
    return {"open": True, "expiresAt": timestamp(asked.expires_at), "detail": shown}


async def answer(params: SkillsAnswerParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SKILLS).questions.answer(params.question_id, params.hash, f"user:{caller.user}")
    return {"ok": True}


OPERATIONS = (
    Operation("skills.list", SkillsListParams, SkillList, list_skills, "read"),
    Operation("skills.get", SkillParams, SkillDetail, get, "read"),
    Operation("skills.trust", SkillsTrustParams, SkillTrusted, trust, "admin"),
    Operation("skills.run", SkillsRunParams, SkillRunStarted, run, "admin"),
    Operation("skills.stop", SkillRunParams, Ok, stop, "chat", dispatch="beside"),
    Operation("skills.runs", SkillsRunsParams, SkillRunList, list_runs, "read"),
    Operation("skills.result", SkillRunParams, SkillResult, result, "read", dispatch="beside"),
    Operation("skills.copy", SkillRunParams, SkillCopy, copy, "admin", dispatch="beside"),
    Operation("skills.propose", SkillsProposeParams, SkillProposal, propose, "chat", dispatch="beside"),
    Operation("skills.save", SkillsSaveParams, SkillTrusted, save, "admin", dispatch="beside"),
    Operation("skills.ask", SkillsAskParams, SkillAsked, ask, "chat", callers="tab"),
    Operation("skills.question", SkillQuestionParams, SkillQuestion, question, "read"),
    Operation("skills.answer", SkillsAnswerParams, Ok, answer, "admin"),
)
