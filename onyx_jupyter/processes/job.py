"""One running shell command: its output as it arrives, its input, and its end with all that it started."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.messages import Failure, ToolResult, first_line
from onyx_jupyter.processes.environment import command_environment
from onyx_jupyter.processes.live_lines import LiveLines
from onyx_jupyter.processes.output_buffer import OutputBuffer, share
from onyx_jupyter.processes.output_file import OutputFile
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.processes.process_tree import end_process_tree

_PIPES_CLOSE_S = 0.2
_CARRIED_BYTES = 4_096


@dataclass(frozen=True)
class Setting:
    """What a command runs with: `kept` gets its output, `reaper` watches it, `limit_bytes` of output stay here."""

    cwd: Path
    limit_bytes: int
    live: LiveLines
    kept: OutputFile | None = None
    kept_in: str | None = None
    reaper: ProcessReaper | None = None
    takes_input: bool = False


class Job(asyncio.SubprocessProtocol):
    """A command in its own session; `start` creates one. When its shell ends, so do its remaining processes."""

    def __init__(self, command: str, setting: Setting) -> None:
        self.command = command
        self._setting = setting
        self.exited = asyncio.Event()
        self.ended = asyncio.Event()
        self.stopped: str | None = None
        self.left_behind = 0
        self._marker = secrets.token_hex(16)
        self._closed = asyncio.Event()
        self._output_event = asyncio.Event()
        self._stdout = OutputBuffer(setting.limit_bytes)
        self._stderr = OutputBuffer(setting.limit_bytes)
        self._log = OutputBuffer(setting.limit_bytes)
        self._unread = OutputBuffer(setting.limit_bytes)
        self._transport: asyncio.SubprocessTransport | None = None
        self._ending: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    async def start(cls, command: str, setting: Setting) -> Job:
        """Runs `bash -c` (or `sh -c`). Raises: ToolError, InvalidArguments."""
        job = cls(command, setting)
        shell = shutil.which("bash") or shutil.which("sh")
        if shell is None:
            raise ToolError("There is no shell (bash or sh) on this machine's PATH, so no command can run.")
        if setting.reaper is not None:
            await setting.reaper.watch(job._marker)
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: job,
                shell,
                "-c",
                command,
                stdin=asyncio.subprocess.PIPE if setting.takes_input else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=setting.cwd,
                env=command_environment(job._marker),
                start_new_session=True,
            )
        except (UnicodeEncodeError, ValueError) as error:  # a lone surrogate or a NUL, which no shell accepts
            job._forget()
            raise InvalidArguments(f"`command` contains a character that no shell accepts: {error}.") from error
        except OSError as error:
            job._forget()
            raise ToolError(f"The command could not be started in {setting.cwd}: {error.strerror or error}.") from error
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.to_thread(end_process_tree, None, job._marker))
            job._forget()
            raise
        if setting.reaper is not None:
            await setting.reaper.watch(job._marker, job._pid)
        return job

    # ── called by the event loop ────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        (self._stdout if fd == 1 else self._stderr).add(data)
        self._log.add(data)
        self._unread.add(data)
        self._output_event.set()
        self._setting.live.add(data)
        if self._setting.kept is not None:
            self._setting.kept.add(data)

    def process_exited(self) -> None:
        self.exited.set()
        self._schedule_end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    # ── for callers ─────────────────────────────────────────────────────────────────────────────────────

    async def end(self, why: str | None = None) -> None:
        """Ends it with everything that it started; returns only when that is done, even if cancelled meanwhile."""
        if why is not None and not self.exited.is_set():
            self.stopped = why
        ending = self._schedule_end()
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError:
            await asyncio.wait([ending])
            raise

    def end_after(self, timeout_s: float) -> None:
        """Ends it after that time, if it still runs."""

        def now() -> None:
            if not self.exited.is_set():
                self.stopped = f"stopped after {timeout_s:g} s, as timeoutMs said"
                self._schedule_end()

        self._timer = asyncio.get_running_loop().call_later(timeout_s, now)

    async def wait_for_output(self, timeout_s: float) -> None:
        """Returns when there is unread output, when it has ended, or after `timeout_s`."""
        waits = [asyncio.ensure_future(event.wait()) for event in (self._output_event, self.ended)]
        try:
            await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def unread(self) -> str:
        """The output since the last call. An unfinished line is returned again with the rest of it."""
        buffer, self._unread = self._unread, OutputBuffer(self._setting.limit_bytes)
        self._output_event.clear()
        if not self.ended.is_set():
            self._unread.add(buffer.unfinished_line(_CARRIED_BYTES))
        return buffer.text(self._setting.limit_bytes)

    def log(self) -> str:
        """The output of both streams in order of arrival; if long, its head and tail."""
        return self._log.text(self._setting.limit_bytes)

    def write(self, text: str) -> None:
        """Writes the text to its input. Raises: ToolError if it takes no more input."""
        pipe = self._input()
        try:
            pipe.write(text.encode())
        except (UnicodeEncodeError, OSError) as error:
            raise ToolError(f"The process does not accept this input: {error}.") from error

    def close_input(self) -> None:
        """Closes its input, like Ctrl-D."""
        self._input().close()

    @property
    def cwd(self) -> Path:
        """The folder in which it was started."""
        return self._setting.cwd

    @property
    def live(self) -> LiveLines:
        """Reports its newest lines."""
        return self._setting.live

    @property
    def state(self) -> str:
        """Its state in words."""
        if self.stopped is not None:
            return self.stopped
        if not self.exited.is_set():
            return "running"
        code = self.exit_code
        return f"exit code {code}" if code is None or code >= 0 else f"ended by signal {-code}"

    @property
    def exit_code(self) -> int | None:
        """None while it runs, or if it was stopped."""
        return None if self._transport is None or self.stopped is not None else self._transport.get_returncode()

    @property
    def kept_in(self) -> str | None:
        """The file with the whole output, if that was long enough for one."""
        kept = self._setting.kept
        return self._setting.kept_in if kept is not None and kept.is_kept else None

    def result(self, ending: str) -> ToolResult:
        """Both streams within the limit, with headings if both have output, and how it ended."""
        limits = share(self._setting.limit_bytes, self._stdout.total_bytes, self._stderr.total_bytes)
        stdout, stderr = self._stdout.text(limits[0]), self._stderr.text(limits[1])
        parts = [stdout] if stdout and not stderr else []
        if stderr:
            parts = [*([f"stdout:\n{stdout}"] if stdout else []), f"stderr:\n{stderr}"]
        text = "".join(f"{part.removesuffix(chr(10))}\n" for part in parts)
        result = ToolResult(
            text + ending,
            external="the output of the command",
            own_tail=f"\n{ending}" if text else ending,
            ok=self.exit_code == 0,
            exit_code=self.exit_code,
            truncated=self._stdout.total_bytes > limits[0] or self._stderr.total_bytes > limits[1],
            failure=None if self.exit_code == 0 else Failure("failed", first_line(stderr or stdout or ending, 300)),
        )
        return replace(result, kept_in=self.kept_in)

    # ── internal ────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _pid(self) -> int:
        assert self._transport is not None
        return self._transport.get_pid() or 0

    def _input(self) -> asyncio.WriteTransport:
        pipe = self._transport.get_pipe_transport(0) if self._transport is not None else None
        if not isinstance(pipe, asyncio.WriteTransport) or pipe.is_closing() or self.exited.is_set():
            raise ToolError("The process no longer accepts input.")
        return pipe

    def _schedule_end(self) -> asyncio.Task[None]:
        if self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end(), name="onyx command's end")
        return self._ending

    async def _end(self) -> None:
        assert self._transport is not None
        was_over = self.exited.is_set()
        ended = await asyncio.to_thread(end_process_tree, self._pid, self._marker)
        self.left_behind = ended if was_over else 0
        with contextlib.suppress(TimeoutError):  # a process that hides even its environment may hold the pipes open
            await asyncio.wait_for(self._closed.wait(), _PIPES_CLOSE_S)
        self._transport.close()
        self._setting.live.close()
        if self._setting.kept is not None:
            await self._setting.kept.close()
        self._forget()
        self.ended.set()

    def _forget(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._setting.reaper is not None:
            self._setting.reaper.release(self._marker)
