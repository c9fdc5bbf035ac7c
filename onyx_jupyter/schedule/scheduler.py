"""Runs jobs when they are due: one timer for the next planned time, and each run in a task of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import InvalidRequest, NotFound, OnyxError, StorageError
from onyx_jupyter.schedule.job_state import ALERT_AFTER, JobState, Outcome
from onyx_jupyter.schedule.job_store import JobStore, StoredJobs
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.run_log import RunLog, Start, key_of
from onyx_jupyter.schedule.timetable import Look, Timetable

log = logging.getLogger(__name__)
T = TypeVar("T")
MAX_SLEEP_S = 30.0
"""A timer stands still while a laptop sleeps, and does not see a changed clock: so it is set for no longer."""
RETRY_S = 30.0
CUT_SHORT = "The server ended during this run."
NOT_OWNER = "Another server on this ONYX_HOME runs the scheduled jobs. Use that one, or stop it."


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One run of a job; `planned` is None if a person started it."""

    job: Job
    key: str
    planned: datetime | None
    caught_up: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended; `facts` are kept with it in the log."""

    outcome: Outcome
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that has ended, and what that means for its job. `alert`: it has failed again, or will not run again."""

    occurrence: Occurrence
    result: RunResult
    alert: bool
    disabled: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class JobNow:
    """A job with its state and when it runs next by itself."""

    job: Job
    state: JobState
    next_at: datetime | None


class Scheduler:
    """The jobs of a home. Every server can list and change them; the one that has called `begin` runs them.

    `run` does one occurrence; `on_change` is told of a job that has changed or begun (None: of several),
    `on_finished` of each run that has ended.
    """

    def __init__(
        self,
        store: JobStore,
        run_log: RunLog,
        run: Callable[[Occurrence], Awaitable[RunResult]],
        clock: Clock,
        *,
        on_change: Callable[[str | None], None] = lambda job_id: None,
        on_finished: Callable[[Finished], None] = lambda finished: None,
    ) -> None:
        self._store = store
        self._log = run_log
        self._run = run
        self._clock = clock
        self._on_change = on_change
        self._on_finished = on_finished
        self._timetable = Timetable(run_log)
        self._jobs: Mapping[str, Job] = {}
        self._has_begun = False
        self._files = asyncio.Lock()
        self._wakeup = asyncio.Event()
        self._timer: asyncio.Task[None] | None = None
        self._running: dict[str, asyncio.Task[None]] = {}
        self.problem: str | None = None

    @property
    def is_owner(self) -> bool:
        """Whether this server runs the jobs."""
        return self._timer is not None

    @property
    def running(self) -> Sequence[str]:
        """The ids of the jobs that run now."""
        return list(self._running)

    async def begin(self) -> None:
        """This server runs the jobs from now on. What was cut short is recorded, and not repeated.

        If the disk fails, nothing starts until it works again.
        """
        if self._timer is None:
            try:
                await self._with_files(self._begin)
            except StorageError as error:
                self._report(str(error))
            self._timer = asyncio.create_task(self._work(), name="onyx schedule")

    async def close(self) -> None:
        """Starts nothing more, and stops what runs: the next start records it as interrupted."""
        tasks = [task for task in (self._timer, *self._running.values()) if task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=5)

    def check_due(self) -> None:
        """Looks at the clock again; for a clock that was moved."""
        self._wakeup.set()

    async def list(self) -> tuple[Sequence[JobNow], Sequence[str]]:
        """All jobs, in the order of the file, and what is wrong with it. Changes nothing. Raises: StorageError."""

        def read() -> tuple[Sequence[JobNow], Sequence[str]]:
            stored = self._read()
            return [self._now_of(job) for job in stored.jobs.values()], stored.problems

        return await self._with_files(read)

    async def get(self, job_id: str) -> JobNow:
        """Raises: NotFound, StorageError."""

        def read() -> JobNow | None:
            job = self._read().jobs.get(job_id)
            return None if job is None else self._now_of(job)

        if (found := await self._with_files(read)) is None:
            raise NotFound(f"There is no job {job_id!r}. schedule.list shows all.")
        return found

    async def put(self, job: Job) -> JobNow:
        """Adds the job, or replaces the one of that id; on disk on return. Raises: StorageError."""
        await self._change(lambda jobs: {**jobs, job.id: job}, job.id)
        return await self.get(job.id)

    async def update(self, job_id: str, change: Callable[[Job], Job]) -> JobNow:
        """Changes the job as it is on disk now. Raises: NotFound, StorageError, what `change` raises."""
        await self._change(lambda jobs: {**jobs, job_id: change(_known(jobs, job_id))}, job_id)
        return await self.get(job_id)

    async def cancel(self, job_id: str) -> Job:
        """Removes the job; a run in progress goes on, and its history stays. Raises: NotFound, StorageError."""
        removed: list[Job] = []

        def without(jobs: Mapping[str, Job]) -> Mapping[str, Job]:
            removed.append(_known(jobs, job_id))
            return {key: job for key, job in jobs.items() if key != job_id}

        await self._change(without, job_id)
        return removed[0]

    async def allow_again(self, job_id: str) -> None:
        """Ends the rest or the pause after failures.

        Raises: StorageError; InvalidRequest on a server that runs no jobs.
        """
        if not self.is_owner:
            raise InvalidRequest(NOT_OWNER)

        def allow() -> None:
            self._begin()
            self._reset([job_id])
            self._timetable.plan([job_id])

        await self._with_files(allow)
        self._wakeup.set()

    async def run_now(self, job_id: str) -> str:
        """Starts the job, enabled or not, and returns the key of the run; the planned times stay as they are.

        Raises: NotFound, StorageError; InvalidRequest if it is running, or this server runs no jobs.
        """
        if not self.is_owner:
            raise InvalidRequest(NOT_OWNER)
        job = (await self.get(job_id)).job
        now = self._clock.now()
        async with self._files:
            if job_id in self._running:
                raise InvalidRequest(f"The job “{job.name}” is running already.")
            key = f"{key_of(job_id, now)}/now"
            await _in_thread(lambda: self._begin_now(Start(key, job_id, job.name, None), now))
            self._start(Occurrence(job, key, None))
        return key

    async def history(
        self, job_id: str | None, limit: int, before: str | None = None, since: datetime | None = None
    ) -> Sequence[dict[str, Any]]:
        """See `RunLog.history`. Raises: StorageError."""
        return await asyncio.to_thread(self._log.history, job_id, limit, before, since)

    def _begin(self) -> None:
        """Raises: StorageError if it is not known what has run; then the next look tries again."""
        if self._has_begun:
            return
        for key in self._log.load():
            try:
                self._log.finished(
                    key, self._clock.now(), "interrupted", {"error": "The server ended during this run."}
                )
            except StorageError as error:  # it counts all the same, and the next start finds it again
                self._report(str(error))
        self._jobs, self._timetable = {}, Timetable(self._log)  # what was planned before is another server's
        self._has_begun = True
        self._take(self._store.read())

    def _begin_now(self, start: Start, now: datetime) -> None:
        self._begin()
        self._log.started([start], now)
        self._timetable.plan([start.job_id])

    async def _work(self) -> None:
        while True:
            self._wakeup.clear()
            wait_s = await self._look()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_s):  # `wait_for` may swallow a cancel
                    await self._wakeup.wait()

    async def _look(self) -> float:
        """Starts what is due; returns the seconds until the next look."""
        try:
            async with self._files:
                due = await _in_thread(self._take_due)
                for occurrence in due:
                    self._start(occurrence)
                next_at = self._timetable.next_at
        except StorageError as error:  # what is not recorded does not run
            self._report(str(error))
            return RETRY_S
        except Exception:  # no failure may end the timer
            log.exception("The schedule could not be looked at")
            return RETRY_S
        self.problem = None
        wait_s = MAX_SLEEP_S if next_at is None else (next_at - self._clock.now()).total_seconds()
        return min(max(wait_s, 0.0), MAX_SLEEP_S)

    def _take_due(self) -> Sequence[Occurrence]:
        self._begin()
        self._take(self._store.read())
        now = self._clock.now()
        look = self._timetable.look(now)
        looked_at = [*(missed.job_id for missed in look.missed), *(due.job.id for due in look.due)]
        try:
            self._log.missed(look.missed, now)
            due = [Occurrence(one.job, key_of(one.job.id, one.planned), one.planned, one.caught_up) for one in look.due]
            self._log.started([Start(one.key, one.job.id, one.job.name, one.planned) for one in due], now)
        finally:
            self._timetable.plan(looked_at)
        return due

    def _start(self, occurrence: Occurrence) -> None:
        job_id = occurrence.job.id
        task = asyncio.create_task(self._occur(occurrence), name=f"onyx job {job_id}")
        self._running[job_id] = task
        self._on_change(job_id)

    async def _occur(self, occurrence: Occurrence) -> None:
        try:
            result = await self._run(occurrence)
        except OnyxError as error:
            result = RunResult("failed", {"error": str(error)} | ({"hint": error.hint} if error.hint else {}))
        except Exception as error:
            log.exception("A job failed")
            result = RunResult("failed", {"error": f"Internal error ({type(error).__name__}). See the server log."})
        job_id = occurrence.job.id
        async with self._files:
            try:
                finished = await _in_thread(lambda: self._end(occurrence, result))
            finally:
                del self._running[job_id]
        self._wakeup.set()
        self._on_finished(finished)
        self._on_change(job_id)

    def _end(self, occurrence: Occurrence, result: RunResult) -> Finished:
        job_id, now = occurrence.job.id, self._clock.now()
        try:
            self._log.finished(occurrence.key, now, result.outcome, result.facts)
            look = Look()
            self._timetable.missed_while_running(job_id, now, look)
            self._log.missed(look.missed, now)
        except StorageError as error:
            self._report(str(error))
        self._timetable.plan([job_id])
        state = self._log.state(job_id, occurrence.job.created_at)
        is_over = self._timetable.next_of(job_id) is None and not state.is_disabled
        alert = result.outcome == "failed" and (state.failures == ALERT_AFTER or is_over)
        return Finished(occurrence, result, alert, state.is_disabled and result.outcome == "failed", now)

    async def _change(self, change: Callable[[Mapping[str, Job]], Mapping[str, Job]], job_id: str) -> None:
        def work() -> None:
            stored = self._store.change(change)
            if self._has_begun:
                self._take(stored)

        await self._with_files(work)
        self._on_change(job_id)
        self._wakeup.set()

    async def _with_files(self, work: Callable[[], T]) -> T:
        async with self._files:
            return await _in_thread(work)

    def _read(self) -> StoredJobs:
        stored = self._store.read()
        if self._has_begun:
            self._take(stored)
        else:
            self._log.load()
            self._timetable.set_jobs(stored.jobs)
            self._timetable.plan(stored.jobs)
        return stored

    def _take(self, stored: StoredJobs) -> None:
        """These are the jobs from now on; one with a new schedule, or enabled again, begins anew."""
        if stored.jobs is self._jobs:
            return
        old, new = self._jobs, stored.jobs
        self._reset([job_id for job_id, job in new.items() if job_id in old and _begins_anew(old[job_id], job)])
        self._timetable.set_jobs(new)
        self._log.keep(new.keys())
        self._jobs = new

    def _reset(self, job_ids: Sequence[str]) -> None:
        """Counts until the next start even if it cannot be written."""
        try:
            self._log.reset(job_ids, self._clock.now())
        except StorageError as error:
            self._report(str(error))

    def _now_of(self, job: Job) -> JobNow:
        return JobNow(job, self._log.state(job.id, job.created_at), self._timetable.next_of(job.id))

    def _report(self, problem: str) -> None:
        if problem != self.problem:
            log.error("Scheduled jobs cannot be recorded, so none starts: %s", problem)
        self.problem = problem


async def _in_thread(work: Callable[[], T]) -> T:
    """Waits for its end even if cancelled: until then, nothing else may touch what it works on."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # nobody is left to hear of it
        raise


def _known(jobs: Mapping[str, Job], job_id: str) -> Job:
    if job_id not in jobs:
        raise NotFound(f"There is no job {job_id!r}. It may be removed already; schedule.list shows all.")
    return jobs[job_id]


def _begins_anew(old: Job, new: Job) -> bool:
    return old.schedule != new.schedule or (new.enabled and not old.enabled)
