"""Whatever jobs, clocks, disks and people do, no planned time runs twice, and none is lost without a record.

The real scheduler on real files: it is killed and started again, the log is torn and begun anew, the disk is full, the
clock jumps, and jobs are paused, changed, away from the file and started by hand.
"""

import asyncio
import errno
import json
import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onyx_jupyter.errors import InvalidRequest, NotFound, StorageError
from onyx_jupyter.schedule import job_state, run_log
from onyx_jupyter.schedule.cron import check_cron, next_cron
from onyx_jupyter.schedule.job_state import moment_of
from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.jobs import Cron, Every, Job
from onyx_jupyter.schedule.planned_times import next_time
from onyx_jupyter.schedule.run_log import RunLog
from onyx_jupyter.schedule.scheduler import Occurrence, RunResult, Scheduler
from onyx_jupyter.schedule.timetable import MAX_CAUGHT_UP, STAGGER
from tests.schedule.made_jobs import START, made

IDS = ("a", "b", "c")
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Asia/Kolkata",
    "Africa/Casablanca",
    "Pacific/Chatham",
)
MOST_CHECKED = 1500
_append_lines = run_log.append_lines


class JumpingClock:
    """A clock that is set as one likes."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return (self.moment - START).total_seconds()


class World:
    """A home and its scheduler, whose looks are made one at a time; `full` is its disk."""

    def __init__(self, folder: Path, jobs: Sequence[Job]) -> None:
        self.folder = folder
        self.clock = JumpingClock()
        self.furthest = START
        self.full = False
        self.jobs = {job.id: job for job in jobs}
        self.begun: list[str] = []
        self.ends: dict[str, asyncio.Future[str]] = {}
        self.missed: set[tuple[str, str, str]] = set()
        self.reset: dict[str, datetime] = {}
        self.wrong: list[str] = []
        self.start()

    def start(self) -> None:
        store = JobStore(self.folder / "jobs.json")
        log = RunLog(self.folder / "runs.jsonl", max_bytes=2500)
        self.scheduler = Scheduler(store, log, self.run, self.clock)

    async def run(self, occurrence: Occurrence) -> RunResult:
        job_id = occurrence.job.id
        if job_id in self.ends:
            self.wrong.append(f"{job_id} overlaps itself")
        if occurrence.key not in (self.folder / "runs.jsonl").read_text():
            self.wrong.append(f"{occurrence.key} is not on disk")
        if occurrence.planned is not None:
            self.begun.append(occurrence.key)
        self.ends[job_id] = asyncio.get_running_loop().create_future()
        try:
            return RunResult(await self.ends[job_id])  # type: ignore[arg-type] - one of the outcomes
        finally:
            del self.ends[job_id]

    def append(self, path: Path, items: Any) -> None:
        if self.full:
            raise StorageError("No space is left on the disk.") from OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _append_lines(path, items)
        self.missed |= {(one["job"], one["from"], one["until"]) for one in items if one["kind"] == "missed"}

    def move(self, seconds: float) -> None:
        self.clock.moment = max(self.clock.moment + timedelta(seconds=seconds), START)
        self.furthest = max(self.furthest, self.clock.moment)

    async def look(self) -> None:
        await self.scheduler._look()
        await self.settle()

    async def settle(self) -> None:
        """Runs that have begun have got to where they wait."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def end(self, job_id: str, outcome: str) -> None:
        self.ends[job_id].set_result(outcome)
        await asyncio.wait([self.scheduler._running[job_id]])

    async def kill(self, torn: str) -> None:
        tasks = list(self.scheduler._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(FileNotFoundError), (self.folder / "runs.jsonl").open("r+") as file:
            file.seek(0, os.SEEK_END)
            file.write(torn)
        self.start()

    async def update(self, job_id: str, **fields: Any) -> None:
        with suppress(NotFound):
            changed = await self.scheduler.update(job_id, lambda job: job.model_copy(update=fields))
            self.jobs[job_id] = changed.job
            self.reset[job_id] = max(self.reset.get(job_id, START), self.clock.now())

    def edit(self, job_id: str) -> None:
        """A person takes a job out of the file; `put_back` brings it back as it was."""
        path = self.folder / "jobs.json"
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({**whole, "jobs": [one for one in whole["jobs"] if one["id"] != job_id]}))

    async def put_back(self, job_id: str) -> None:
        await self.scheduler.put(self.jobs[job_id])


@st.composite
def crons(draw: st.DrawFn) -> str:
    def part(first: int, last: int, often: bool) -> st.SearchStrategy[str]:
        number = st.integers(first, last)
        several = st.lists(number, min_size=1, max_size=3).map(lambda found: ",".join(map(str, sorted(set(found)))))
        step = st.integers(2, max(2, last // 2)).map(lambda size: f"*/{size}")
        span = st.tuples(number, number).map(lambda ends: f"{min(ends)}-{max(ends)}")
        return st.one_of(st.just("*"), step, several, span) if often else st.one_of(st.just("*"), several, span)

    days, months = (draw(st.one_of(st.just("*"), part(*one, often=False))) for one in ((1, 31), (1, 12)))
    weekday = draw(st.one_of(st.just("*"), part(0, 6, often=False)))
    expression = f"{draw(part(0, 59, often=True))} {draw(part(0, 23, often=True))} {days} {months} {weekday}"
    try:
        check_cron(expression)
    except ValueError:
        return draw(st.sampled_from(["@hourly", "@daily", "30 2 * * *"]))
    return expression


SCHEDULES = st.one_of(
    st.builds(lambda cron, tz: Cron(cron=cron, tz=tz), crons(), st.sampled_from(ZONES)),
    st.builds(
        lambda every_ms, before_s: Every(every_ms=every_ms, anchor=START - timedelta(seconds=before_s)),
        st.one_of(st.integers(1000, 100_000), st.integers(100_000, 10**9)),
        st.integers(-1000, 10**6),
    ),
)
JOBS = st.one_of(
    st.builds(lambda schedule, catch_up: {"schedule": schedule, "catch_up": catch_up}, SCHEDULES, st.booleans()),
    st.builds(lambda seconds, catch_up: {"at": seconds, "catch_up": catch_up}, st.integers(1, 10**7), st.booleans()),
)
SECONDS = st.one_of(
    st.floats(0.001, 2),
    st.integers(1, 100),
    st.integers(100, 100_000),
    st.integers(10**5, 10**7),
    st.integers(-200_000, -1),
    st.sampled_from([-365 * 86_400, 365 * 86_400]),
)
OUTCOMES = st.sampled_from(["ok", "ok", "ok", "silent", "failed", "failed", "aborted"])
STEPS = st.one_of(
    st.tuples(st.just("due"), st.sampled_from([0, 0, 0.2, 59, 61, 3600])),
    st.tuples(st.just("due"), st.sampled_from([0, 0, 0.2, 59, 61, 3600])),
    st.tuples(st.just("look"), SECONDS),
    st.tuples(st.just("move"), SECONDS),
    st.tuples(st.just("look"), st.integers(-10_000, -1)),
    st.tuples(st.just("end"), OUTCOMES),
    st.tuples(st.just("end"), OUTCOMES),
    st.tuples(st.just("kill"), st.sampled_from(["", '{"kind":"started","key":"a@20', "\n", "null\n"])),
    st.tuples(st.just("now"), st.sampled_from(IDS)),
    st.tuples(st.just("full"), st.booleans()),
    st.tuples(st.just("away"), st.sampled_from(IDS)),
    st.tuples(st.just("pause"), st.sampled_from(IDS)),
    st.tuples(st.just("change"), st.tuples(st.sampled_from(IDS), SCHEDULES)),
)


def job_of(job_id: str, given_: dict[str, Any]) -> Job:
    if "at" in given_:
        return made(job_id, at=START + timedelta(seconds=given_["at"]), catch_up=given_["catch_up"])
    return made(job_id, catch_up=given_["catch_up"]).model_copy(update={"schedule": given_["schedule"]})


async def step(world: World, what: str, how: Any) -> None:
    match what:
        case "move":
            world.move(how)
        case "look":
            world.move(how)
            await world.look()
        case "due":
            next_at = world.scheduler._timetable.next_at or world.clock.now()
            world.move((next_at - world.clock.now()).total_seconds() + how)
            await world.look()
        case "end":
            for job_id in sorted(world.ends)[:1]:
                await world.end(job_id, how)
        case "kill":
            await world.kill(how)
        case "now":
            with suppress(InvalidRequest, StorageError, NotFound):
                world.scheduler._timer = asyncio.current_task()  # only the server that looks may start one
                await world.scheduler.run_now(how)
                await world.settle()
        case "full":
            world.full = how
        case "away":
            world.edit(how)
            await world.look()
            await world.put_back(how)
        case "pause":
            await world.update(how, enabled=False)
            await world.look()
            await world.update(how, enabled=True)
        case "change":
            await world.update(how[0], schedule=how[1])


async def play(folder: Path, jobs: Sequence[Job], steps: Sequence[tuple[str, Any]], patch: pytest.MonkeyPatch) -> None:
    world = World(folder, jobs)
    patch.setattr(run_log, "append_lines", world.append)
    for job in jobs:
        await world.scheduler.put(job)
    for what, how in steps:
        await step(world, what, how)
    world.full = False
    await world.kill("")
    world.clock.moment = world.furthest
    for _ in range(MAX_CAUGHT_UP + 1):
        await world.look()
        for job_id in list(world.ends):
            await world.end(job_id, "ok")
        world.move(STAGGER.total_seconds())
    await check(world, world.furthest - (MAX_CAUGHT_UP + 1) * STAGGER)


async def check(world: World, until: datetime) -> None:
    assert world.wrong == []
    assert [key for key, times in Counter(world.begun).items() if times > 1] == []
    ran: dict[str, set[datetime]] = defaultdict(set)
    for key in world.begun:
        job_id, _, planned = key.partition("@")
        ran[job_id].add(moment_of(planned))
    missed = defaultdict(list)
    for job_id, after, up_to in world.missed:
        missed[job_id].append((moment_of(after), moment_of(up_to)))
    known, problems = await world.scheduler.list()
    assert {one.job.id for one in known} == world.jobs.keys()
    assert problems == ()
    for now in known:
        job = now.job
        if now.state.is_disabled:
            continue
        moment = next_time(job.schedule, world.reset.get(job.id, START))
        for _ in range(MOST_CHECKED):
            if moment is None or moment > until:
                break
            accounted = moment in ran[job.id] or any(after < moment <= up_to for after, up_to in missed[job.id])
            assert accounted, f"{job.id} at {moment} is lost"
            moment = next_time(job.schedule, moment)
        following = next_time(job.schedule, world.clock.now())
        assert (now.next_at is None) is (following is None and next_time(job.schedule, until) in (None, *ran[job.id]))
        if now.next_at is not None and following is not None:
            assert now.next_at <= max(following, now.state.not_before or following), "it does not go on"


@given(jobs=st.lists(JOBS, min_size=1, max_size=3), steps=st.lists(STEPS, min_size=10, max_size=60))
@settings(max_examples=50, deadline=None)
def test_no_planned_time_runs_twice_and_none_is_lost(jobs: list[dict[str, Any]], steps: list[tuple[str, Any]]) -> None:
    made_jobs = [job_of(job_id, one) for job_id, one in zip(IDS, jobs, strict=False)]
    with (
        TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(job_state, "MAX_RANGES", 5)
        asyncio.run(play(Path(folder), made_jobs, [one for one in steps if _is_of(one, len(jobs))], patch))


def _is_of(one: tuple[str, Any], count: int) -> bool:
    """Whether the step is about one of the jobs, or about none."""
    job_id = one[1][0] if isinstance(one[1], tuple) else one[1]
    return job_id not in IDS[count:]


CHANGES = [
    datetime(2026, *change, tzinfo=UTC)
    for change in ((2, 15, 2), (3, 8, 7), (3, 29, 1), (4, 4, 14), (4, 4, 15), (9, 26, 14), (10, 3, 15, 30), (10, 25, 1))
]
"""Of the clocks of these zones."""


@given(
    cron=crons(),
    zone=st.sampled_from(ZONES),
    change=st.sampled_from(CHANGES),
    minutes=st.integers(-300, 300),
    share=st.floats(0, 1),
)
@settings(max_examples=200, deadline=None)
def test_next_time_is_the_same_from_wherever_one_looks_before_it(
    cron: str, zone: str, change: datetime, minutes: int, share: float
) -> None:
    moment = change + timedelta(minutes=minutes)
    following = next_cron(cron, zone, moment)
    if following is None:
        return
    span = following - moment
    second, hours = timedelta(seconds=1), timedelta(minutes=90)
    for later in (moment + span * share, moment + second, following - hours * share, following - second):
        if moment <= later < following:
            assert next_cron(cron, zone, later) == following, later


def test_clocks_that_change_by_half_an_hour_hide_no_minute() -> None:
    zone, after = "Australia/Lord_Howe", datetime(2026, 4, 4, 14, 30, tzinfo=UTC)
    assert next_cron("* 0 * * *", zone, after) == datetime(2026, 4, 5, 13, 30, tzinfo=UTC)
