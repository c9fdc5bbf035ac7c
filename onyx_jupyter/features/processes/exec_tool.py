"""The tool that runs a shell command. It leaves no process behind and hides the server's keys from commands."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import Failure, ToolResult
from onyx_jupyter.processes.job import Job
from onyx_jupyter.protocols import ExactScope, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import Tool, tool

MAX_TIMEOUT_MS = 600_000
_SUMMARY_CHARS = 60


class ExecArguments(Arguments):
    command: str = Field(min_length=1, max_length=100_000, description="The shell command.")
    cwd: str | None = Field(
        default=None, description="Folder to run in, as in the file browser; default: the server's root."
    )
    timeout_ms: int | None = Field(
        default=None, ge=1, le=MAX_TIMEOUT_MS, description="Stops the command after this many milliseconds."
    )
    background: bool | None = Field(
        default=None, description="Run it in the background: a server, a long job. It ends with the turn at the latest."
    )


async def _preview(arguments: ExecArguments, context: ToolContext) -> ToolPreview:
    cwd = _folder(arguments, context)
    line = arguments.command.strip().splitlines()[0] if arguments.command.strip() else ""
    shortened = line[:_SUMMARY_CHARS] + "…" if line[:_SUMMARY_CHARS] != arguments.command.strip() else line
    details: dict[str, Any] = {"command": arguments.command, "cwd": str(cwd)}
    if arguments.background:
        details |= {"background": True} | ({"timeoutMs": arguments.timeout_ms} if arguments.timeout_ms else {})
    else:
        details |= {"timeoutMs": round(_timeout_s(arguments, context) * 1000)}
    return ToolPreview(
        summary=f"Run `{shortened}`" + (" in the background" if arguments.background else ""),
        details=details,
        grant=f"exec {json.dumps([arguments.command, str(cwd)], ensure_ascii=False)}",
        grant_text=f"this exact command in {cwd}",
        exactly=ExactScope({"cwd": str(cwd)}, without=("command", "cwd", "timeoutMs"), shell=arguments.command),
    )


def make_exec_tool(*, progress_every_s: float = 5.0) -> Tool[ExecArguments]:
    """Creates the tool; a silent command reports every `progress_every_s` seconds that it is still running."""

    @tool(
        name="exec",
        activity=Activity("run_command", "command", "code"),
        arguments=ExecArguments,
        description=(
            "Runs a shell command on the user's machine and returns its output and exit code. It gets no input, and "
            "whatever it starts ends with it. Use it for packages, git and programs; notebook_run_cell runs cells. "
            "With background it returns at once, with an id for the process tool."
        ),
        risk="execute",
        family="process",
        preview=_preview,
    )
    async def exec_tool(arguments: ExecArguments, context: ToolContext) -> ToolResult:
        """Runs `bash -c` (or `sh -c`) in its own OS session, without input unless it runs in the background.

        When the command ends, times out or is cancelled, everything it started ends too; a background command ends with
        the turn at the latest. The environment is the server's, without variables that look like keys of a provider,
        of Onyx or of Jupyter (`*_API_KEY`, `ONYX_*`, `JUPYTER_TOKEN`, …).
        """
        cwd = _folder(arguments, context)
        if arguments.background:
            return await _start_background(arguments, cwd, context)
        timeout_s = _timeout_s(arguments, context)
        job = await context.processes.start(
            arguments.command, cwd, context.call_id, context.max_output_bytes, context.progress
        )
        in_time = False
        try:
            in_time = await _ended(job, timeout_s, progress_every_s, context)
        finally:
            await job.end(None if in_time else "stopped")
        if not in_time:
            late = f"still running after {timeout_s:g} s, so it was stopped with everything it had started."
            result = job.result(f"exec failed (timeout): {late} timeoutMs may be up to {MAX_TIMEOUT_MS}.")
            return replace(result, failure=Failure("timed_out", late))
        endings = [job.state]
        if job.left_behind:
            endings.append(
                f"It left {job.left_behind} running in the background: stopped, since everything ends with its call. "
                "With background: true it can run until the end of the turn."
            )
        return job.result("\n".join(endings))

    return exec_tool


async def _ended(job: Job, timeout_s: float, progress_every_s: float, context: ToolContext) -> bool:
    """Whether the command ended by itself in time; reports progress while it is silent."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    while (left_s := start + timeout_s - loop.time()) > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(progress_every_s, left_s)):
                await job.exited.wait()
            return True
        if job.live.last_at < loop.time() - progress_every_s:
            context.progress(f"Running for {loop.time() - start:.0f} s")
    return job.exited.is_set()


async def _start_background(arguments: ExecArguments, cwd: Path, context: ToolContext) -> ToolResult:
    job_id, job = await context.processes.start_background(
        arguments.command, cwd, context.call_id, context.max_output_bytes
    )
    if arguments.timeout_ms is not None:
        job.end_after(arguments.timeout_ms / 1000)
    return ToolResult(
        f"Started in the background as {job_id}. Use process to check on it (poll, log), type into it (write) or end "
        "it (kill). It is stopped when this turn ends.",
        origin="own",
    )


def _folder(arguments: ExecArguments, context: ToolContext) -> Path:
    cwd = context.paths.resolve(arguments.cwd or "")
    if not cwd.is_dir():
        raise ToolError(f"The folder {arguments.cwd!r} does not exist.").mark_message_safe()
    return cwd


def _timeout_s(arguments: ExecArguments, context: ToolContext) -> float:
    return arguments.timeout_ms / 1000 if arguments.timeout_ms is not None else context.timeout_s
