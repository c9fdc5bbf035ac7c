"""Which jobs are due, in the order of their next planned times, and what counts as missed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from onyx_jupyter.schedule.job_state import JobState
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.planned_times import last_time, next_time
from onyx_jupyter.schedule.run_log import Missed, MissedBecause, RunLog

GRACE = timedelta(seconds=60)
"""A planned time that is no older than this is not missed, but late."""
MAX_CAUGHT_UP = 5
"""Runs at once that make up for missed ones; each is of another job."""
STAGGER = timedelta(seconds=10)
"""Between the starts of two of them."""
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Due:
    """A job that is to run now for this planned time; `caught_up`: it was missed, and is made up for."""

    job: Job
    planned: datetime
    caught_up: bool = False


@dataclass
class Look:
    """What to do at one moment; `missed` is to be recorded first."""

    due: list[Due] = field(default_factory=list)
    missed: list[Missed] = field(default_factory=list)
    caught_up: int = 0


class Timetable:
    """The next planned time of each enabled job that is not running, in a heap."""

    def __init__(self, run_log: RunLog) -> None:
        self._log = run_log
        self._jobs: dict[str, Job] = {}
        self._next: dict[str, datetime] = {}
        self._heap: list[tuple[datetime, str]] = []
        self._now: datetime | None = None
        self._catching_up: set[str] = set()

    @property
    def next_at(self) -> datetime | None:
        """When to look again."""
        while self._heap and self._next.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def next_of(self, job_id: str) -> datetime | None:
        """When the job runs next; None if it does not by itself."""
        return self._next.get(job_id)

    def set_jobs(self, jobs: Mapping[str, Job]) -> None:
        """From now on these are the jobs; only those that differ are looked at."""
        changed = [job_id for job_id, job in jobs.items() if self._jobs.get(job_id) is not job]
        gone = [job_id for job_id in self._jobs if job_id not in jobs]
        self._jobs = dict(jobs)
        self.plan([*gone, *changed])

    def plan(self, job_ids: Iterable[str]) -> None:
        """Finds their next times anew."""
        for job_id in job_ids:
            moment = self._planned_next(job_id)
            if moment is None:
                self._next.pop(job_id, None)
            elif self._next.get(job_id) != moment:
                self._push(job_id, moment)
        if len(self._heap) > 2 * len(self._next) + 100:
            self._heap = [(moment, job_id) for job_id, moment in self._next.items()]
            heapq.heapify(self._heap)

    def look(self, now: datetime) -> Look:
        """What is due and what was missed. The caller records it, then calls `plan` for the jobs in it."""
        if self._now is None or now < self._now:
            self._set_back(now)
        self._now = now
        look = Look()
        while (moment := self.next_at) is not None and moment <= now:
            _, job_id = heapq.heappop(self._heap)
            del self._next[job_id]
            self._look_at(self._jobs[job_id], now, look)
        return look

    def missed_while_running(self, job_id: str, now: datetime, look: Look) -> None:
        """For the end of a run: what was planned meanwhile does not run."""
        self._now = max(now, self._now or now)
        job = self._jobs.get(job_id)
        state = self._state(job_id) if job is not None else None
        if job is None or state is None or not self._is_on(job, state):
            return
        newest, count = _newest(job, state, now)
        if newest is not None:
            look.missed.append(Missed(job_id, state.accounted, newest, count, "running"))

    def _look_at(self, job: Job, now: datetime, look: Look) -> None:
        state = self._state(job.id)
        newest, count = _newest(job, state, now)
        if newest is None:
            self.plan([job.id])
            return
        because: MissedBecause = "backoff" if state.not_before and newest < state.not_before else "off"
        is_late, has_waited = now - newest > GRACE, job.id in self._catching_up
        self._catching_up.discard(job.id)
        if is_late and not has_waited:
            if not job.catch_up or look.caught_up == MAX_CAUGHT_UP:
                look.missed.append(Missed(job.id, state.accounted, newest, count, because))
                return
            look.caught_up += 1
            if look.caught_up > 1:
                self._catching_up.add(job.id)
                self._push(job.id, now + (look.caught_up - 1) * STAGGER)
                return
        if count > 1:
            look.missed.append(Missed(job.id, state.accounted, newest - _INSTANT, count - 1, because))
        look.due.append(Due(job, newest, caught_up=is_late))

    def _push(self, job_id: str, moment: datetime) -> None:
        self._next[job_id] = moment
        heapq.heappush(self._heap, (moment, job_id))

    def _set_back(self, now: datetime) -> None:
        """The clock was set back, maybe while the server was off: what has not run yet comes due again."""
        back = [job_id for job_id in self._jobs if self._state(job_id).accounted > now]
        for job_id in back:
            self._state(job_id).set_back(now)
        self.plan(back)

    def _planned_next(self, job_id: str) -> datetime | None:
        job = self._jobs.get(job_id)
        if job is None:
            return None
        state = self._state(job_id)
        if not self._is_on(job, state) or state.running is not None:
            return None
        moment = next_time(job.schedule, state.accounted)
        while moment is not None and (ran := state.range_of(moment)) is not None:
            moment = next_time(job.schedule, ran[1])
        return max(moment, state.not_before) if moment and state.not_before else moment

    def _is_on(self, job: Job, state: JobState) -> bool:
        return job.enabled and not state.is_disabled

    def _state(self, job_id: str) -> JobState:
        return self._log.state(job_id, self._jobs[job_id].created_at)


def _newest(job: Job, state: JobState, now: datetime) -> tuple[datetime | None, int]:
    """The newest planned time up to now that has not run, and how many there are at most."""
    newest, count = last_time(job.schedule, state.accounted, now)
    while newest is not None and (ran := state.range_of(newest)) is not None:
        newest, count = last_time(job.schedule, state.accounted, ran[0])
    return newest, count
