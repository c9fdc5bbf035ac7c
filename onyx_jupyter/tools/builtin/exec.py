"""The tool that runs a shell command. It never leaves a process behind, and never shows a command the server's keys."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
import shutil
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.protocols import Exactly, ToolPreview
from onyx_jupyter.tools.builtin.output_buffer import OutputBuffer, share
from onyx_jupyter.tools.builtin.process_tree import MARKER_VARIABLE, end_process_tree
from onyx_jupyter.tools.context import ToolContext
from onyx_jupyter.tools.spec import Arguments, Tool

MAX_TIMEOUT_MS = 600_000
_SUMMARY_CHARS = 60
_PIPES_CLOSE_S = 0.2
_SECRET_NAMES = re.compile(
    r"ONYX_.*|.*_API_KEY|.*_API_TOKEN|.*_AUTH_TOKEN|JUPYTER.*TOKEN|JPY.*TOKEN|.*PROXY_AUTH_TOKEN", re.IGNORECASE
)


class ExecArguments(Arguments):
    command: str = Field(min_length=1, max_length=100_000, description="The shell command.")
    cwd: str | None = Field(
        default=None, description="Folder to run it in, as in the file browser; the server's root if left out."
    )
    timeout_ms: int | None = Field(
        default=None, ge=1, le=MAX_TIMEOUT_MS, description="Ends the command after that many milliseconds."
    )


class ExecTool(Tool[ExecArguments]):
    """Runs `bash -c` (or `sh -c`) without input, in a session of its own.

    When the command ends, times out or is cancelled, all it has started ends with it. The environment is the server's
    without what looks like a key of a provider, of Onyx or of Jupyter (`*_API_KEY`, `ONYX_*`, `JUPYTER_TOKEN`, …).
    """

    name = "exec"
    description = (
        "Runs a shell command on the user's machine and returns its output and exit code. It gets no input, and "
        "what it starts ends with it. Use it for files, packages, git and programs; notebook_run_cell runs cells."
    )
    risk: ClassVar[Risk] = "execute"
    family: ClassVar[str] = "process"
    arguments = ExecArguments

    def __init__(self, *, progress_every_s: float = 5.0) -> None:
        self._progress_every_s = progress_every_s

    async def preview(self, arguments: ExecArguments, context: ToolContext) -> ToolPreview:
        cwd = _folder(arguments, context)
        line = arguments.command.strip().splitlines()[0] if arguments.command.strip() else ""
        shortened = line[:_SUMMARY_CHARS] + "…" if line[:_SUMMARY_CHARS] != arguments.command.strip() else line
        return ToolPreview(
            summary=f"Run `{shortened}`",
            details={
                "command": arguments.command,
                "cwd": str(cwd),
                "timeoutMs": round(_timeout_s(arguments, context) * 1000),
            },
            grant=f"exec {json.dumps([arguments.command, str(cwd)], ensure_ascii=False)}",
            grant_text=f"this exact command in {cwd}",
            exactly=Exactly({"cwd": str(cwd)}, without=("command", "cwd", "timeoutMs"), shell=arguments.command),
        )

    async def run(self, arguments: ExecArguments, context: ToolContext) -> ToolResult:
        timeout_s = _timeout_s(arguments, context)
        marker = secrets.token_hex(16)
        process, output = await _start(arguments.command, _folder(arguments, context), marker, context.max_output_bytes)
        in_time = False
        try:
            in_time = await self._wait(output, timeout_s, context)
        finally:
            left_behind = await _end(process, output, marker)
        if not in_time:
            ending = (
                f"exec failed (timeout): still running after {timeout_s:g} s, so it was stopped with everything it had "
                f"started. timeoutMs may be up to {MAX_TIMEOUT_MS}."
            )
            return output.result(ending, None, context.max_output_bytes)
        code = process.get_returncode()
        endings = [f"exit code {code}" if code is None or code >= 0 else f"ended by signal {-code}"]
        if left_behind:
            endings.append(
                f"It left {left_behind} running in the background: stopped, as everything ends with its call."
            )
        return output.result("\n".join(endings), code, context.max_output_bytes)

    async def _wait(self, output: _Output, timeout_s: float, context: ToolContext) -> bool:
        """Whether the command ended by itself in time; tells every few seconds that it still runs."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        while (left_s := start + timeout_s - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(output.exited.wait(), min(self._progress_every_s, left_s))
                return True
            context.progress(f"Running for {loop.time() - start:.0f} s")
        return output.exited.is_set()


class _Output(asyncio.SubprocessProtocol):
    """What a process says, and when it ends."""

    def __init__(self, limit_bytes: int) -> None:
        self.stdout = OutputBuffer(limit_bytes)
        self.stderr = OutputBuffer(limit_bytes)
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self.stdout if fd == 1 else self.stderr).add(data)

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()

    def result(self, ending: str, exit_code: int | None, limit_bytes: int) -> ToolResult:
        """Both streams within the limit, each under its name where there are two, and how it ended."""
        limits = share(limit_bytes, self.stdout.total_bytes, self.stderr.total_bytes)
        stdout, stderr = self.stdout.text(limits[0]), self.stderr.text(limits[1])
        parts = [stdout] if stdout and not stderr else []
        if stderr:
            parts = [*([f"stdout:\n{stdout}"] if stdout else []), f"stderr:\n{stderr}"]
        return ToolResult(
            output="\n".join(part.removesuffix("\n") for part in [*parts, ending]),
            ok=exit_code == 0,
            exit_code=exit_code,
            truncated=self.stdout.total_bytes > limits[0] or self.stderr.total_bytes > limits[1],
        )


async def _start(command: str, cwd: Path, marker: str, limit_bytes: int) -> tuple[asyncio.SubprocessTransport, _Output]:
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        raise ToolError("There is no shell (bash or sh) on this machine's PATH, so no command can run.")
    environment = {name: value for name, value in os.environ.items() if not _SECRET_NAMES.fullmatch(name)}
    environment |= {MARKER_VARIABLE: marker, "GIT_TERMINAL_PROMPT": "0"}
    try:
        return await asyncio.get_running_loop().subprocess_exec(
            lambda: _Output(limit_bytes),
            shell,
            "-c",
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    except (UnicodeEncodeError, ValueError) as error:  # a lone surrogate, a NUL: nothing a shell could be given
        raise InvalidArguments(f"`command` holds a character that no shell takes: {error}.") from error
    except OSError as error:
        raise ToolError(f"The command could not be started in {cwd}: {error.strerror or error}.") from error


async def _end(process: asyncio.SubprocessTransport, output: _Output, marker: str) -> int:
    """Ends what still runs and closes the pipes, whatever happens to the caller; how many had been left behind."""
    ending = asyncio.ensure_future(_end_now(process, output, marker))
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        await ending
        raise


async def _end_now(process: asyncio.SubprocessTransport, output: _Output, marker: str) -> int:
    ended = await asyncio.to_thread(end_process_tree, process.get_pid(), marker)
    with contextlib.suppress(TimeoutError):  # a process that hides even its environment may hold the pipes open
        await asyncio.wait_for(output.closed.wait(), _PIPES_CLOSE_S)
    process.close()
    return ended


def _folder(arguments: ExecArguments, context: ToolContext) -> Path:
    cwd = context.paths.resolve(arguments.cwd or "")
    if not cwd.is_dir():
        raise ToolError(f"The folder {arguments.cwd!r} does not exist.")
    return cwd


def _timeout_s(arguments: ExecArguments, context: ToolContext) -> float:
    return arguments.timeout_ms / 1000 if arguments.timeout_ms is not None else context.timeout_s
