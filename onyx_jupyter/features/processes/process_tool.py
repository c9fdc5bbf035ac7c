"""The tool that manages the background commands of a turn. It starts none and reaches no other process."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.processes.job import Job
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_WAIT_MS = 60_000
WAIT_MS = 10_000
LOG_LINES = 200
_SUMMARY_CHARS = 60


class ProcessArguments(Arguments):
    action: Literal["list", "poll", "log", "write", "kill"]
    id: str | None = Field(default=None, description="From exec; for all actions but list.")
    text: str | None = Field(default=None, max_length=100_000, description="write: what to type, with its newline.")
    end_input: bool | None = Field(default=None, description="write: ends the input, like Ctrl-D.")
    wait_ms: int | None = Field(
        default=None,
        ge=0,
        le=MAX_WAIT_MS,
        description=f"poll: longest wait for output or the end; default {WAIT_MS}.",
    )
    lines: int | None = Field(default=None, ge=1, description=f"log: how many of the last lines; default {LOG_LINES}.")


async def _process_preview(arguments: ProcessArguments, context: ToolContext) -> ToolPreview:
    job_id, job = _job(arguments, context)
    text = _text(arguments)
    line = text.strip().partition("\n")[0]
    shown = line[:_SUMMARY_CHARS] + ("…" if line[:_SUMMARY_CHARS] != text.strip() else "")
    exact = json.dumps([job.command, text, bool(arguments.end_input)], ensure_ascii=False)
    return ToolPreview(
        summary=f"Type `{shown}` into {job_id}" if text else f"End the input of {job_id}",
        details={
            "id": job_id,
            "command": job.command,
            "text": text,
            **({"endInput": True} if arguments.end_input else {}),
        },
        grant=f"process {exact}",
        grant_text="exactly this input for this command",
        exactly=ExactScope({"command": job.command, "cwd": str(job.cwd)}, without=("id",)),
    )


def _process_risk(arguments: ProcessArguments) -> Risk:
    return "execute" if arguments.action == "write" else "read"


@tool(
    name="process",
    activity=Activity(
        "list_jobs",
        "id",
        when=(
            ("action", "poll", "look_at_job"),
            ("action", "log", "look_at_job"),
            ("action", "write", "type_into_job"),
            ("action", "kill", "end_job"),
        ),
    ),
    arguments=ProcessArguments,
    description=(
        "Manages commands that exec started in the background: list, poll (new output), log (last lines), write "
        "(type into it), kill."
    ),
    risk="execute",
    family="process",
    deferred=True,
    preview=_process_preview,
    risk_of=_process_risk,
)
async def process_tool(arguments: ProcessArguments, context: ToolContext) -> ToolResult:
    """Manages what `exec` started with `background`. Writing counts as executing; reading and killing do not.

    `kill` needs no approval: it ends only what this turn started, which would end with the turn anyway.
    """
    if arguments.action == "list":
        return ToolResult(_listed(context), origin="own")  # the commands are the model's own
    job_id, job = _job(arguments, context)
    match arguments.action:
        case "poll":
            wait_ms = WAIT_MS if arguments.wait_ms is None else arguments.wait_ms
            await job.wait_for_output(wait_ms / 1000)
            return _shown(job_id, job, job.unread(), "(no new output)")
        case "log":
            lines = job.log().splitlines()[-(arguments.lines or LOG_LINES) :]
            return _shown(job_id, job, "\n".join(lines), "(no output)")
        case "write":
            text = _text(arguments)
            if text:
                job.write(text)
            if arguments.end_input:
                job.close_input()
            return ToolResult(f"Typed {len(text)} characters into {job_id}. poll shows its reply.", origin="own")
        case _:
            await job.end("stopped by kill")
            return _shown(job_id, job, job.unread(), "(no new output)")


def _job(arguments: ProcessArguments, context: ToolContext) -> tuple[str, Job]:
    if arguments.id is None:
        raise InvalidArguments(f"`id` is missing: {arguments.action} needs one. list shows them.")
    return arguments.id, context.processes.get(arguments.id)


def _text(arguments: ProcessArguments) -> str:
    if not arguments.text and not arguments.end_input:
        raise InvalidArguments("`text` is missing: write needs it, or endInput.")
    return arguments.text or ""


def _listed(context: ToolContext) -> str:
    jobs = context.processes.background.items()
    return "\n".join(f"{job_id} ({job.state}): {job.command.strip()}" for job_id, job in jobs) or (
        "Nothing was started in the background in this turn."
    )


def _shown(job_id: str, job: Job, text: str, if_empty: str) -> ToolResult:
    kept = f" All its output is in {job.kept_in}." if job.kept_in else ""
    tail = f"{'' if text.strip() else if_empty}\n[{job_id}: {job.state}.{kept}]"
    source = f"the output of {job_id}"
    return ToolResult(f"{text.rstrip()}{tail}", exit_code=job.exit_code, external=source, own_tail=tail)
