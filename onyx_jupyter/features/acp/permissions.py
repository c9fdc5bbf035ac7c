"""An agent's permission requests as Onyx's approvals: the same rules, grants, cards and audit. Silence is a no."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onyx_jupyter.acp.translate import AgentCall
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.steering import unless_steered
from onyx_jupyter.agent.tool_calls import WHY
from onyx_jupyter.errors import InvalidArguments, PathNotAllowed, ToolError
from onyx_jupyter.features.acp.own_calls import command_of, diff_text, files_of, label_of
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.instruction_files import why_asked

ONLY_READS = "The user chose Ask mode: nothing is changed or run."
NOT_AS_A_FILE = (
    "A notebook is not changed as a file: it may be open, and its cells have ids. Use Onyx's notebook tools."
)
FOR_GOOD = "this agent offers no yes for once: after it, it asks no more"
CREDENTIALS = "it holds credentials"
_READS = ("read", "search", "think")
_UNASKED = ("read", "search")
_WRITES = ("edit", "delete", "move")
_TOOLS: Mapping[str, str] = {
    "read": "read",
    "search": "search",
    "edit": "edit",
    "delete": "write",
    "move": "write",
    "execute": "exec",
    "fetch": "web_fetch",
}
"""Onyx's own tool for each kind of call. Where that may not be used, the agent's may not either."""
_SHOWN_AS_COMMAND = frozenset({"command", "cwd", "description", "timeout"})
_SUMMARY_CHARS = 80


@dataclass(frozen=True, slots=True)
class Decision:
    """`reason` is for the conversation; the protocol has no place for it."""

    allowed: bool
    reason: str = ""


async def decide(asked: AgentCall, call: ToolCall, run: Run, *, only_for_good: bool) -> Decision:
    """Whether the agent may make the call. Raises: Steered, StorageError (then it may not)."""
    context = run.context_for(call)
    try:
        _check_rules(asked, run)
        reals = [context.paths.resolve(path) for path in files_of(asked)]
    except ToolError as error:
        return Decision(False, str(error))
    if asked.kind in _WRITES and any(real.suffix == ".ipynb" for real in reals):
        return Decision(False, NOT_AS_A_FILE)
    card, preview = await asyncio.to_thread(_preview, asked, call, reals, context, run.model.id)
    if only_for_good:
        preview = replace(preview, must_ask=preview.must_ask or FOR_GOOD)
    forbidden = await run.approver.refuse(run.session_key, run.run_id, card)
    if forbidden is not None:
        return Decision(False, forbidden)
    if asked.kind in _UNASKED and reals and not preview.must_ask:
        return Decision(True)  # as Onyx's own tools read them
    if run.why:
        preview = replace(preview, details={**preview.details, WHY: run.redact(run.why)})
    with run.work.paused():
        asking = run.approver.ask(
            run.session_key,
            run.run_id,
            card,
            preview,
            agent_id=context.agent_id,
            auto=_runs_unasked(asked, run),
            allowed_in=run.asked_in,
            unattended=run.unattended,
        )
        answer = await unless_steered(asking, run.inbox)
    return Decision(answer.approved, answer.reason or "")


def _check_rules(asked: AgentCall, run: Run) -> None:
    """Raises: ToolError if this run must not do such a thing, even if a person would allow it."""
    name = _TOOLS.get(asked.kind)
    if name is not None:
        run.tools.get(name)
    elif run.toolbox.mode == "ask" and asked.kind not in _READS:
        raise ToolError(ONLY_READS)


def _runs_unasked(asked: AgentCall, run: Run) -> bool:
    """Whether Auto mode covers it: what it covers of Onyx's own tools."""
    name = _TOOLS.get(asked.kind)
    if name is None:
        return False
    command = command_of(asked)
    likely: Mapping[str, Any] = {
        "read": {"path": "x"},
        "search": {"pattern": "x"},
        "edit": {"path": "x", "oldText": "x", "newText": "y"},
        "write": {"path": "x", "content": ""},
        "exec": {"command": command or ""},
        "web_fetch": {"url": "https://example.org"},
    }[name]
    tool = run.tools.get(name)
    try:
        return run.toolbox.runs_unasked(tool, tool.check(likely))
    except InvalidArguments:
        return False


def _preview(
    asked: AgentCall, call: ToolCall, reals: list[Path], context: ToolContext, model_id: str
) -> tuple[ToolCall, ToolPreview]:
    """The call as its card shows it, and what the person reads. Blocks: it looks at files."""
    card, details, scope = _shown(asked, call, context, model_id)
    shown = [context.paths.shown(real) for real in reals]
    title = asked.title.strip() or asked.kind
    summary = title if len(title) <= _SUMMARY_CHARS else f"{title[: _SUMMARY_CHARS - 1]}…"
    what = json.dumps(shown or [title, details], ensure_ascii=False, sort_keys=True, default=str)
    preview = ToolPreview(
        summary=summary,
        details=details,
        grant=f"{model_id} {asked.kind} {what}",
        grant_text=f"every {asked.kind} of {', '.join(shown)} by {model_id}" if shown else "exactly this call",
        exactly=scope,
        must_ask=_must_ask(asked, reals, context),
        activity=label_of(asked, context.paths, is_done=False),
    )
    return card, preview


def _must_ask(asked: AgentCall, reals: list[Path], context: ToolContext) -> str:
    if asked.kind in _WRITES:
        return next((reason for real in reals if (reason := why_asked(real, context))), "")
    credentials = any(holds_credentials(path, real) for path, real in zip(files_of(asked), reals, strict=True))
    return CREDENTIALS if credentials else ""


def _shown(
    asked: AgentCall, call: ToolCall, context: ToolContext, model_id: str
) -> tuple[ToolCall, Mapping[str, Any], ExactScope]:
    """As Onyx's own card where that shows all there is, else by its arguments. "Always" holds for this agent alone."""
    facts = {"agent": model_id}
    given = asked.given if isinstance(asked.given, Mapping) else {}
    command = command_of(asked) if asked.kind == "execute" else None
    if command is not None and given.keys() <= _SHOWN_AS_COMMAND:
        cwd = str(given.get("cwd") or context.server_root)
        scope = ExactScope({**facts, "cwd": cwd}, without=("command",), shell=command)
        return replace(call, name="exec", arguments={"command": command}), {"command": command, "cwd": cwd}, scope
    changed = {diff.path for diff in asked.diffs}
    if asked.kind == "edit" and len(changed) == 1 and asked.diffs:
        path = _path_shown(next(iter(changed)), context)
        diff = "\n".join(map(diff_text, asked.diffs))
        arguments = {"path": path, "diff": diff}
        return replace(call, name="edit", arguments=arguments), arguments, ExactScope(facts)
    details = {**call.arguments, "kind": asked.kind}
    details |= {f"diff of {diff.path}": diff_text(diff) for diff in asked.diffs}
    if asked.text:
        details["says"] = asked.text
    unsure = "" if asked.given is not None or asked.diffs else "the agent does not show exactly what it would do"
    return replace(call, arguments=details), details, ExactScope(facts, unsure=unsure)


def _path_shown(path: str, context: ToolContext) -> str:
    try:
        return context.paths.shown(context.paths.resolve(path))
    except PathNotAllowed:
        return path
