"""Runs skills, each in its own process, and keeps their results. Callers check whether a skill may run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
from pydantic import ValidationError

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import NotFound, OnyxError, ToolError
from onyx_jupyter.events import camel_data
from onyx_jupyter.features.skills.runner_child import Ending, SkillWorker, Task
from onyx_jupyter.skills.injection import path_lines, path_values
from onyx_jupyter.skills.parameters import Parameters
from onyx_jupyter.skills.requirements import DEFAULT_KERNEL
from onyx_jupyter.skills.run_record import Owner, RunFolder, RunRecord, run_metadata
from onyx_jupyter.skills.run_result import result_outputs
from onyx_jupyter.skills.run_retention import RunLimits, prune_runs
from onyx_jupyter.skills.runner import CellProgress, RunOutcome, RunRequest

log = logging.getLogger(__name__)
MAX_RUNNING = 8
_FINAL_FIELDS = ("finishedAt", "error", "inputHash", "versions")

Announce = Callable[[str, dict[str, object]], None]


class LiveRun:
    """A run in progress: its record, its progress and its task."""

    def __init__(self, record: RunRecord, request: RunRequest) -> None:
        self.record = record
        self.request = request
        self.progress: CellProgress | None = None
        self.watchers: list[Callable[[CellProgress], None]] = []
        self.stopping = asyncio.Event()
        self.task: asyncio.Task[RunOutcome] | None = None


class SkillRuns:
    """Every run of this server.

    `announce` broadcasts an event; `redact` removes secrets from what is reported; `on_end` is called after each run;
    `opened_as` returns the paths by which JupyterLab opens files (it reads the disk); `limits` says what is kept.
    """

    def __init__(
        self,
        folder: RunFolder,
        clock: Clock,
        ids: IdSource,
        timeout_s: Callable[[], float],
        announce: Announce,
        redact: Callable[[Any], Any],
        on_end: Callable[[RunRecord], Awaitable[None]],
        opened_as: Callable[[Sequence[Path]], Sequence[str | None]],
        limits: Callable[[], RunLimits],
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._announce = announce
        self._redact = redact
        self._on_end = on_end
        self._opened_as = opened_as
        self._limits = limits
        self._live: dict[str, LiveRun] = {}
        self._worker = SkillWorker()
        self._owner = Owner(pid=os.getpid(), started=psutil.Process().create_time())

    async def start(self, request: RunRequest) -> LiveRun:
        """The run is on disk and announced on return. Raises: ToolError if too many are running, StorageError."""
        if len(self._live) >= MAX_RUNNING:
            raise ToolError(f"{MAX_RUNNING} skills are running. Wait until one ends, or stop one.")
        skill = request.skill
        record = RunRecord(
            run_id=self._ids.new(),
            skill=skill.name,
            skill_hash=skill.digest,
            skill_path=str(skill.path),
            parameters=self._redact(dict(request.given)),
            started_at=timestamp(self._clock.now()),
            kernel=skill.kernel or DEFAULT_KERNEL,
            by=request.by,
            session_key=request.session_key,
            owner=self._owner,
        )
        run = LiveRun(record, request)
        self._live[record.run_id] = run
        try:
            await asyncio.to_thread(self._folder.write, record)
            info = await self.info(record)
        except BaseException:
            del self._live[record.run_id]
            raise
        self._announce("skills.run_started", info)
        run.task = asyncio.create_task(self._run_to_end(run), name=f"onyx skill {skill.name}")
        run.task.add_done_callback(_logged)
        return run

    async def run(self, request: RunRequest, progress: Callable[[CellProgress], None]) -> RunOutcome:
        """Runs to the end; cancelling stops it. Raises: ToolError, StorageError."""
        run = await self.start(request)
        run.watchers.append(progress)
        assert run.task is not None
        try:
            return await asyncio.shield(run.task)
        except asyncio.CancelledError:
            run.stopping.set()
            await asyncio.wait([run.task])
            raise

    async def stop(self, run_id: str) -> bool:
        """Ends the run and its kernel, and returns when done. False if it was not running."""
        run = self._live.get(run_id)
        if run is None or run.task is None:
            return False
        run.stopping.set()
        await asyncio.wait([run.task])
        return True

    async def history(self, name: str | None, limit: int) -> Sequence[RunRecord]:
        """Newest first."""
        return [self._current(record) for record in await asyncio.to_thread(self._folder.newest, name, limit)]

    async def infos(self, name: str | None, limit: int) -> Sequence[dict[str, Any]]:
        """The history in wire format."""
        records = await self.history(name, limit)
        paths = await asyncio.to_thread(self._opened_as, [self._folder.copy_path(record) for record in records])
        return [self._info(record, path) for record, path in zip(records, paths, strict=True)]

    async def info(self, record: RunRecord) -> dict[str, Any]:
        """A run in wire format."""
        (path,) = await asyncio.to_thread(self._opened_as, [self._folder.copy_path(record)])
        return self._info(record, path)

    async def outcome(self, run_id: str) -> RunOutcome:
        """The outcome of a run, partial while it is in progress. Raises: NotFound, StorageError."""
        record = self._current(await asyncio.to_thread(self._folder.find, run_id))
        return await asyncio.to_thread(self._outcome, record)

    async def notebook(self, run_id: str) -> tuple[RunRecord, dict[str, Any]]:
        """The executed copy, partial while the run is in progress. Raises: NotFound, StorageError."""
        record = self._current(await asyncio.to_thread(self._folder.find, run_id))
        return record, await asyncio.to_thread(self._folder.notebook, record)

    async def recover(self) -> None:
        """Marks runs that a killed server left behind as interrupted; skips runs of another live server."""
        for record in await asyncio.to_thread(self._folder.unfinished):
            if record.run_id in self._live or _is_alive(record.owner):
                continue
            try:
                await asyncio.to_thread(self._interrupted, record)
            except OnyxError as error:
                log.error("Run %s could not be marked as interrupted: %s", record.run_id, error)
            except Exception:  # a file in a user folder must not keep the server from starting
                log.exception("Run %s could not be marked as interrupted", record.run_id)

    async def prune(self) -> None:
        """Deletes the oldest runs beyond the limits; never raises."""
        now = self._clock.now().timestamp()
        try:
            count = await asyncio.to_thread(prune_runs, self._folder, self._limits(), now)
        except OnyxError as error:
            log.warning("Old skill runs could not be deleted: %s", error)
            return
        if count:
            log.info("Deleted %d old skill runs", count)

    async def close(self) -> None:
        """Ends every run as interrupted."""
        for run in list(self._live.values()):
            if run.task is not None:
                run.task.cancel()
                await asyncio.wait([run.task])
        await self._worker.close()

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────

    async def _run_to_end(self, run: LiveRun) -> RunOutcome:
        ending = Ending("interrupted")
        try:
            task = Task(self._job(run), run.request.skill.requires.env, run.stopping)
            ending = await self._worker.work(task, lambda progress: self._report_progress(run, progress))
        except ToolError as error:
            ending = Ending("failed", str(error))
            raise
        finally:
            writing = asyncio.ensure_future(self._finish(run, ending))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait([writing])
                raise
        return await asyncio.to_thread(self._outcome, run.record)

    async def _finish(self, run: LiveRun, ending: Ending) -> None:
        status, error, said = ending.status, ending.error, ending.said
        facts = {name: said[name] for name in ("inputHash", "versions") if name in said}
        ended = {"status": status, "finishedAt": said.get("finishedAt") or timestamp(self._clock.now()), **facts}
        ended |= {"error": self._redact(error)} if error else {}
        run.record = RunRecord.model_validate({**run.record.plain(), **ended})
        try:
            is_written = said.get("status") == status
            await asyncio.to_thread(self._folder.write if is_written else self._folder.mark, run.record)
        except OnyxError as problem:
            log.error("The end of run %s could not be recorded: %s", run.record.run_id, problem)
        finally:
            self._live.pop(run.record.run_id, None)
            self._announce("skills.run_finished", await self.info(run.record))
            await self._on_end(run.record)
            await self.prune()

    def _report_progress(self, run: LiveRun, progress: CellProgress) -> None:
        run.progress = replace(progress, cell=self._redact(progress.cell), line=self._redact(progress.line))
        about = {"runId": run.record.run_id, "skill": run.record.skill}
        self._announce("skills.run_progress", {**about, **camel_data(run.progress)})
        for watcher in run.watchers:
            watcher(run.progress)

    def _info(self, record: RunRecord, copy_path: str | None) -> dict[str, Any]:
        live = self._live.get(record.run_id)
        progress = live.progress if live is not None and record.status == "running" else None
        return {
            "runId": record.run_id,
            "skill": record.skill,
            "status": record.status,
            "parameters": record.parameters,
            "startedAt": record.started_at,
            "finishedAt": record.finished_at,
            "by": record.by,
            "error": record.error,
            "progress": camel_data(progress) if progress is not None else None,
            "copyPath": copy_path,
            "copyLocation": str(self._folder.copy_path(record)),
            "hash": record.skill_hash,
            "kernel": record.kernel,
            "versions": record.versions,
        }

    def _job(self, run: LiveRun) -> dict[str, Any]:
        request, skill = run.request, run.request.skill
        parameters, given = skill.parameters or Parameters(), dict(request.given)
        return {
            "notebook": skill.content,
            "parameters": given,
            "pathLines": path_lines(parameters, given) if skill.language == "python" else [],
            "paths": path_values(parameters, given),
            "packages": [_distribution(name) for name in skill.requires.python],
            "kernel": run.record.kernel,
            "language": skill.language,
            "cwd": str(request.cwd),
            "copy": str(self._folder.copy_path(run.record)),
            "run": run.record.plain(),
            "timeoutS": self._timeout_s(),
        }

    def _outcome(self, record: RunRecord) -> RunOutcome:
        try:
            notebook = self._folder.notebook(record)
        except OnyxError:  # it ended before anything was saved
            notebook = {}
        return RunOutcome(record, tuple(result_outputs(notebook, record.status)), self._folder.copy_path(record))

    def _current(self, record: RunRecord) -> RunRecord:
        live = self._live.get(record.run_id)
        return live.record if live is not None else record

    def _interrupted(self, record: RunRecord) -> None:
        """Prefers what the copy says: the process may have finished while the server died."""
        said: Mapping[str, Any] = {}
        with contextlib.suppress(NotFound, OnyxError):
            said = run_metadata(self._folder.notebook(record))
        ended = {**record.plain(), "status": "interrupted", "finishedAt": timestamp(self._clock.now())}
        known = {name: said[name] for name in ("status", *_FINAL_FIELDS) if name in said}
        known |= {"status": "interrupted"} if known.get("status", "running") == "running" else {}
        try:
            marked = RunRecord.model_validate({**ended, **known})
        except ValidationError as error:
            log.warning("The result stored in the copy of run %s is damaged: %s", record.run_id, error)
            marked = RunRecord.model_validate(ended)
        self._folder.mark(marked)


def _is_alive(owner: Owner | None) -> bool:
    """Whether the server of a run is still running; its pid alone may have been reused."""
    if owner is None:
        return False
    try:
        return abs(psutil.Process(owner.pid).create_time() - owner.started) < 1.0
    except psutil.Error:
        return False


def _distribution(requirement: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(requirement).name
    except InvalidRequirement:
        return requirement


def _logged(task: asyncio.Task[Any]) -> None:
    """Logs a failure even if no caller awaits the run."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("A skill run failed: %s", error, exc_info=error)
