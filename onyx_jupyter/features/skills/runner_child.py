"""The process of one skill run: started, followed line by line, and ended with its kernel."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.errors import ToolError
from onyx_jupyter.processes.environment import command_environment
from onyx_jupyter.processes.process_reaper import ProcessReaper
from onyx_jupyter.processes.process_tree import end_process_tree
from onyx_jupyter.skills.runner import CellProgress

log = logging.getLogger(__name__)
GRACE_S = 0.5
AFTER_TIMEOUT_S = 30.0
LINE_BYTES = 4_000_000
STDERR_CHARS = 2000
_PROCESS = "onyx_jupyter.features.skills.runner_process"


@dataclass(frozen=True)
class Task:
    """`job` is sent to the process; `variables` are passed even if they look like keys; `stopping` ends it."""

    job: Mapping[str, Any]
    variables: Collection[str]
    stopping: asyncio.Event


@dataclass(frozen=True)
class Ending:
    """How it ended; `said` is the last message of the process, empty if there was none."""

    status: str
    error: str | None = None
    said: Mapping[str, Any] = field(default_factory=dict)


class SkillWorker:
    """Starts processes that run skills; a reaper ends them if this server is killed."""

    def __init__(self) -> None:
        self._reaper = ProcessReaper()

    async def close(self) -> None:
        """Closes the reaper: no process is left to watch."""
        await self._reaper.close()

    async def work(self, task: Task, report: Callable[[CellProgress], None]) -> Ending:
        """Runs the task to its end. In any case, no process is left running. Raises: ToolError."""
        marker = secrets.token_hex(16)
        await self._reaper.watch(marker)
        process: asyncio.subprocess.Process | None = None
        try:
            process = await self._spawn(task, marker)
            await self._reaper.watch(marker, process.pid)
            return await self._converse(task, report, process)
        finally:
            ending = asyncio.ensure_future(self._end(process, marker))
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                await asyncio.wait([ending])
                raise

    async def _spawn(self, task: Task, marker: str) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        try:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _PROCESS),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=LINE_BYTES,
                env=command_environment(marker, task.variables),
                start_new_session=True,
            )
        except OSError as error:
            raise ToolError(f"The process for the skill could not be started: {error.strerror or error}.") from error

    async def _converse(
        self, task: Task, report: Callable[[CellProgress], None], process: asyncio.subprocess.Process
    ) -> Ending:
        """Sends the job, follows its output lines, and asks it to stop when `stopping` is set."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        complaints: deque[str] = deque(maxlen=40)
        reading = asyncio.create_task(_drain(process.stderr, complaints))
        following = asyncio.create_task(_follow(process.stdout, report))
        stopping = asyncio.create_task(task.stopping.wait())
        try:
            job = await asyncio.to_thread(json.dumps, task.job)
            process.stdin.write(job.encode() + b"\n")
            with contextlib.suppress(ConnectionError):
                await process.stdin.drain()
            patience_s = task.job["timeoutS"] + AFTER_TIMEOUT_S
            await asyncio.wait([following, stopping], timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
            if stopping.done() and not following.done():
                with contextlib.suppress(ConnectionError, RuntimeError):
                    process.stdin.write(b"stop\n")
                await asyncio.wait([following], timeout=GRACE_S)
                last = following.result() if following.done() else None
                return Ending("stopped", None, last or {})
            last = following.result() if following.done() else None
        finally:
            for waiting in (reading, following, stopping):
                waiting.cancel()
        if last is not None:
            return Ending(str(last["status"]), last.get("error"), last)
        why = "\n".join(complaints)[-STDERR_CHARS:]
        log.error("The process of a skill ended without a result: %s", why)
        return Ending("failed", "The process that ran the skill ended unexpectedly; it may have run out of memory.")

    async def _end(self, process: asyncio.subprocess.Process | None, marker: str) -> None:
        await asyncio.to_thread(end_process_tree, process.pid if process is not None else None, marker)
        if process is not None:
            with contextlib.suppress(TimeoutError):
                # To the end of its output: else its pipes stay open until the garbage collector finds them.
                await asyncio.wait_for(process.communicate(), GRACE_S)
        self._reaper.release(marker)


async def _follow(lines: asyncio.StreamReader, report: Callable[[CellProgress], None]) -> Mapping[str, Any] | None:
    """Follows the process until it reports how it ended; None if it ended without a report."""
    while line := await lines.readline():
        said = json.loads(line)
        if "finished" in said:
            ended: Mapping[str, Any] = said["finished"]
            return ended
        report(CellProgress(said["index"], said["total"], said["cell"], said["line"]))
    return None


async def _drain(stream: asyncio.StreamReader, kept: deque[str]) -> None:
    """Drains stderr, so that the process never blocks on it; the last lines are kept."""
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # a line over the limit
            continue
        if not line:
            return
        kept.append(line.decode("utf-8", "replace").rstrip())
