"""The commands of one run: starts them, finds background ones by id, and ends them all with the run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

from onyx_jupyter.errors import ToolError
from onyx_jupyter.files.result_files import ResultFiles
from onyx_jupyter.processes.job import Job, Setting
from onyx_jupyter.processes.live_lines import LiveLines
from onyx_jupyter.processes.output_file import OutputFile
from onyx_jupyter.processes.process_reaper import ProcessReaper

MAX_BACKGROUND = 10


class RunProcesses:
    """One run's commands. Without `results` no output goes to files; without `reaper` they survive a killed server."""

    def __init__(
        self,
        *,
        results: ResultFiles | None = None,
        reaper: ProcessReaper | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        self._results = results
        self._reaper = reaper
        self._redact = redact
        self._background: dict[str, Job] = {}
        self._closed = False

    @property
    def background(self) -> Mapping[str, Job]:
        """The background commands by id, including ended ones."""
        return MappingProxyType(self._background)

    def get(self, job_id: str) -> Job:
        """Raises: ToolError that lists the known ids."""
        job = self._background.get(job_id)
        if job is None:
            known = ", ".join(self._background) or "none"
            raise ToolError(f"There is no process {job_id!r} in this turn. Processes: {known}.").mark_message_safe()
        return job

    async def start(
        self, command: str, cwd: Path, call_id: str, limit_bytes: int, progress: Callable[[str], None]
    ) -> Job:
        """Starts a command; the caller waits for it and ends it. Raises: ToolError."""
        return await Job.start(command, self._setting(cwd, call_id, limit_bytes, progress))

    async def start_background(self, command: str, cwd: Path, call_id: str, limit_bytes: int) -> tuple[str, Job]:
        """Starts a background command and returns it with its id. Raises: ToolError."""
        if sum(not job.ended.is_set() for job in self._background.values()) >= MAX_BACKGROUND:
            raise ToolError(f"{MAX_BACKGROUND} processes are running. End one with process first.").mark_message_safe()
        setting = self._setting(cwd, call_id, limit_bytes, lambda line: None, takes_input=True)
        job = await Job.start(command, setting)
        job_id = f"p{len(self._background) + 1}"
        self._background[job_id] = job
        if self._closed:  # the run ended meanwhile
            await job.end()
        return job_id, job

    async def close(self) -> None:
        """Ends all running commands; a command started later is ended at once."""
        self._closed = True
        running = [job for job in self._background.values() if not job.ended.is_set()]
        await asyncio.gather(*(job.end("stopped at the end of the turn") for job in running))

    def _setting(
        self,
        cwd: Path,
        call_id: str,
        limit_bytes: int,
        progress: Callable[[str], None],
        *,
        takes_input: bool = False,
    ) -> Setting:
        kept, kept_in = None, None
        if self._results is not None:
            begin_bytes = min(self._results.max_chars, limit_bytes)
            kept = OutputFile(partial(self._results.create, call_id), self._redact, begin_bytes)
            kept_in = self._results.path(call_id)
        live = LiveLines(progress, self._redact)
        return Setting(cwd, limit_bytes, live, kept, kept_in, self._reaper, takes_input)
