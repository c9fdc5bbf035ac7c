"""Takes one tool call from the model's request to its paired result: check, ask, run, filter, save, announce."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.agent.processor import Halt
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.steering import Steered, unless_steered
from onyx_jupyter.errors import InvalidArguments, OnyxError, ToolError
from onyx_jupyter.events import ToolFinished, ToolStarted
from onyx_jupyter.log_context import log_context
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.security.secret_redactor import marked, redact_off_loop
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.call_repair import RepairedCall, repair_call
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import failed
from onyx_jupyter.toolsets.results import completed, started
from onyx_jupyter.toolsets.tool import Tool

log = logging.getLogger(__name__)
WHY = "why"
SKIPPED = ToolResult("Skipped: the user sent a new message.", ok=False, origin="own")


async def perform(call: ToolCall, run: Run) -> None:
    """When it returns, the result is on disk and announced. If cancelled, the call stays open until the run's end."""
    started_at = run.clock.monotonic()
    with log_context(operation=f"tool {call.name}"):
        outcome = await _outcome(call, run)
    status, repaired = outcome.status, outcome.repaired
    result = completed(repaired or call, outcome.result, status, run.tools.activity((repaired or call).name))
    result = await redact_off_loop(run.secrets.redact_result, result)
    result = await run.results.fit(call.id, result)
    facts: dict[str, Any] = {"durationMs": round((run.clock.monotonic() - started_at) * 1000)}
    if repaired is not None:
        taken = {"tool": repaired.name, "arguments": dict(repaired.arguments)}
        facts["takenAs"] = await redact_off_loop(run.secrets.redact_data, taken)
    try:
        result = await run.processors.after_tool(repaired or call, result)
    except Halt as halt:
        await record(call, halt.result or result, status, run, facts)  # it was done, whatever comes next
        raise
    await record(call, result, status, run, facts)


async def record(call: ToolCall, result: ToolResult, status: str, run: Run, meta: Mapping[str, Any]) -> None:
    """Saves the paired result, then notifies the watchers and the audit."""
    if result.label is None and result.failure is None:  # it did not run
        result = completed(call, result, status, run.tools.activity(call.name))
    await run.transcript.append_result(run.run_id, call, result, {"status": status, **meta})
    attachments = result.attachments or None
    shown = unfenced(result.output)
    # Watchers have not seen the arguments of a call that never began.
    given = None if status == "ok" else await redact_off_loop(run.secrets.redact_data, dict(call.arguments))
    run.emit(
        ToolFinished(
            run.run_id,
            call.id,
            call.name,
            result.ok,
            shown,
            attachments,
            status,
            given,
            data=result.data,
            label=result.label,
            failure=result.failure,
        )
    )
    await run.audit(call, status, meta)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """`status` is ok, failed, denied or skipped; `repaired` is the call that ran instead of the original."""

    status: str
    result: ToolResult
    repaired: ToolCall | None = None


async def _outcome(call: ToolCall, run: Run) -> _Outcome:
    """No error of a tool gets past this function."""
    if run.inbox.waiting:
        return _Outcome("skipped", SKIPPED)
    try:
        forbidden = await run.approver.refuse(run.session_key, run.run_id, call)
        if forbidden is not None:
            return _Outcome("denied", ToolResult(f"Denied: {forbidden}", ok=False, origin="own"))
        context = run.context_for(call)
        repaired = await repair_call(call, run.tools, context)
    except Exception as error:
        return _Outcome("failed", _failure(call.name, error, run))
    status, result = await _done(call, repaired, context, run)
    return _Outcome(status, repaired.with_note(result), repaired.call if repaired.note else None)


async def _done(call: ToolCall, repaired: RepairedCall, context: ToolContext, run: Run) -> tuple[str, ToolResult]:
    """Runs the repaired call; returns its status and result. Watchers see the original call."""
    tool, arguments = repaired.tool, repaired.arguments
    try:
        forbidden = await run.approver.refuse(run.session_key, run.run_id, repaired.call) if repaired.note else None
        if forbidden is not None:
            return "denied", ToolResult(f"Denied: {forbidden}", ok=False, origin="own")
        if await tool.risk_here(arguments, context) != "read":
            _refuse_marks(repaired.call)
            refusal = await _ask(tool, arguments, repaired.call, context, run)
            if refusal is not None:
                return "denied", ToolResult(refusal, ok=False, origin="person")
        activity = started(repaired.call, tool.activity)
        run.emit(ToolStarted(run.run_id, call.id, call.name, dict(call.arguments), activity))
        with run.work.paused() if tool.is_untimed(arguments) else nullcontext():
            result = await run.toolbox.call(tool, arguments, context)
        return ("ok" if result.ok else "failed"), result
    except Steered:
        return "skipped", SKIPPED
    except Exception as error:
        return "failed", _failure(tool.name, error, run)


def _failure(name: str, error: Exception, run: Run) -> ToolResult:
    if not isinstance(error, OnyxError):
        log.error("Tool %s failed in session %s", name, run.session_key, exc_info=error)
    return failed(name, error)


async def _ask(tool: Tool[Any], arguments: Checked, call: ToolCall, context: ToolContext, run: Run) -> str | None:
    """Returns None if the call may run, else the refusal for the model.

    The person who decides sees exactly what will run. Secrets are removed wherever it is saved or passed on.
    """
    preview = await tool.preview(arguments, context)
    others = [_also(name, tool, run) for name in preview.also]
    if run.why:
        preview = replace(preview, details={**preview.details, WHY: run.redact(run.why)})
    preview = replace(preview, activity=started(call, tool.activity))
    exact = replace(call, arguments=arguments.canonical())
    auto = run.toolbox.runs_unasked(tool, arguments, others)
    with run.work.paused():
        asking = run.approver.ask(
            run.session_key,
            run.run_id,
            exact,
            preview,
            agent_id=context.agent_id,
            auto=auto,
            allowed_in=run.asked_in,
            unattended=run.unattended,
        )
        answer = await unless_steered(asking, run.inbox)
    if not answer.approved:
        return f"Denied: {answer.reason}" if answer.reason else "Denied."
    if answer.shown is not None and not await _is_approval_current(answer.shown, tool, arguments, context, run):
        return "Not done: what it would do has changed since the user allowed it. Look again, then repeat the call."
    return None


def _also(name: str, tool: Tool[Any], run: Run) -> Tool[Any]:
    """Raises: ToolError if the call would do the work of a tool that cannot be used."""
    try:
        return run.tools.get(name)
    except ToolError as error:
        message = f"This {tool.name} call would also do the work of {name}, which cannot be used here. Do it without."
        raise ToolError(message).mark_message_safe() from error


def _refuse_marks(call: ToolCall) -> None:
    """Redacted text is not the real one, so it is neither run nor written. Raises: InvalidArguments."""
    place = marked(call.arguments)
    if place is not None:
        raise InvalidArguments(
            f"`{place}` contains [redacted:…], a mark in place of a secret that was removed. The secret is not known "
            "here, so nothing was run or written. Pass a secret through an environment variable: name the variable. "
            "To change text around a mark, choose a part without it, or ask the user to do it."
        )


async def _is_approval_current(
    shown: Mapping[str, Any], tool: Tool[Any], arguments: Checked, context: ToolContext, run: Run
) -> bool:
    """An approval is for what the person saw: a cell that was edited in the meantime needs a new one."""
    now = (await tool.preview(arguments, context)).details
    return dict(now) == {name: value for name, value in shown.items() if name != WHY}
