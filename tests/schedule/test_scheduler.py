"""The scheduler on real files with a clock that tests move: what runs, what is on disk, and what a kill leaves."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidRequest, NotFound
from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.run_log import RunLog
from onyx_jupyter.schedule.scheduler import Finished, Occurrence, RunResult, Scheduler
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.schedule.made_jobs import START, made
from tests.waiting import until


class Bench:
    """A scheduler whose jobs say what they did; a job in `held` runs until it is released."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock(START)
        self.ran: list[str] = []
        self.finished: list[Finished] = []
        self.outcomes: Callable[[Occurrence], RunResult] = lambda occurrence: RunResult("ok", {"text": "Done"})
        self.released = asyncio.Event()
        self.released.set()
        self.scheduler = self.made()

    def made(self) -> Scheduler:
        store, run_log = JobStore(self.folder / "jobs.json"), RunLog(self.folder / "runs.jsonl")
        return Scheduler(store, run_log, self.run, self.clock, on_finished=self.finished.append)

    async def run(self, occurrence: Occurrence) -> RunResult:
        self.ran.append(occurrence.key)
        await self.released.wait()
        return self.outcomes(occurrence)

    async def advance(self, seconds: float, runs: int | None = None) -> None:
        """Moves the clock, and waits until so many runs have ended in all."""
        self.clock.advance(seconds)
        self.scheduler.check_due()
        if runs is not None:
            await until(lambda: len(self.finished) == runs)
            await until(lambda: not self.scheduler.running)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "runs.jsonl").read_text().splitlines()]


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    made_bench = Bench(folder)
    await made_bench.scheduler.begin()
    try:
        yield made_bench
    finally:
        made_bench.released.set()
        await made_bench.scheduler.close()


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


async def test_job_is_on_disk_before_it_starts(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        seen: list[str] = []
        b.outcomes = lambda occurrence: RunResult("ok", {"seen": seen.append(b.lines()[-1]["kind"])})
        await b.scheduler.put(made(every_ms=60_000))
        await b.advance(60, runs=1)
        assert b.ran == ["a@2026-03-01T12:01:00Z"]
        assert seen == ["started"]
        assert [line["kind"] for line in b.lines()] == ["started", "finished"]
        (run,) = await b.scheduler.history("a", 10)
        assert (run["planned"], run["outcome"]) == ("2026-03-01T12:01:00Z", "ok")
        assert (await b.scheduler.get("a")).next_at == START + timedelta(minutes=2)


async def test_running_a_job_never_rewrites_jobs_file(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made("once", at=START + timedelta(seconds=5)))
        before = (tmp_path / "jobs.json").stat().st_mtime_ns, (tmp_path / "jobs.json").read_text()
        await b.advance(5, runs=1)
        assert ((tmp_path / "jobs.json").stat().st_mtime_ns, (tmp_path / "jobs.json").read_text()) == before
        once = await b.scheduler.get("once")
        assert (once.next_at, list(once.state.recent)) == (None, ["ok"])


async def test_listing_changes_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made())
        before = stamps(tmp_path)
        for _ in range(3):
            await b.scheduler.list()
        assert stamps(tmp_path) == before


async def test_second_failure_alerts_and_tenth_disables_until_allowed_again(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.outcomes = lambda occurrence: RunResult("failed", {"error": "no"})
        await b.scheduler.put(made(every_ms=60_000))
        for n in range(1, 11):
            await b.advance(3600, runs=n)
        assert [one.alert for one in b.finished[:3]] == [False, True, False]
        assert [one.disabled for one in b.finished] == [False] * 9 + [True]
        assert (await b.scheduler.get("a")).next_at is None
        assert (await b.scheduler.get("a")).job.enabled
        await b.scheduler.allow_again("a")
        b.outcomes = lambda occurrence: RunResult("ok")
        await b.advance(60, runs=11)
        assert (await b.scheduler.get("a")).state.failures == 0


async def test_failing_code_is_a_failed_run(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:

        def broken(occurrence: Occurrence) -> RunResult:
            raise ZeroDivisionError

        b.outcomes = broken
        await b.scheduler.put(made())
        await b.advance(60, runs=1)
        assert b.finished[0].result.outcome == "failed"
        assert "ZeroDivisionError" in b.finished[0].result.facts["error"]


async def test_paused_job_does_not_run_and_misses_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        job = made(catch_up=True)
        await b.scheduler.put(job)
        await b.scheduler.put(job.model_copy(update={"enabled": False}))
        await b.advance(3600)
        assert (await b.scheduler.get("a")).next_at is None
        await b.scheduler.put(job)
        assert (await b.scheduler.get("a")).next_at == START + timedelta(seconds=3660)
        assert b.ran == []


async def test_job_runs_by_hand_and_keeps_its_times(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made(enabled=False))
        key = await b.scheduler.run_now("a")
        await until(lambda: b.finished)
        assert b.ran == [key]
        b.released.clear()
        await b.scheduler.run_now("a")
        with pytest.raises(InvalidRequest, match="running already"):
            await b.scheduler.run_now("a")
        with pytest.raises(NotFound):
            await b.scheduler.run_now("b")


async def test_job_never_overlaps_itself(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.released.clear()
        await b.scheduler.put(made(every_ms=60_000))
        await b.advance(60)
        await until(lambda: b.ran)
        await b.advance(300)
        await b.scheduler.list()
        b.released.set()
        await until(lambda: b.finished)
        await b.advance(59)
        await b.scheduler.list()
        assert b.ran == ["a@2026-03-01T12:01:00Z"]
        (missed, _) = await b.scheduler.history("a", 10)
        assert (missed["kind"], missed["count"], missed["because"]) == ("missed", 5, "running")


async def test_full_disk_starts_nothing_and_loses_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made(every_ms=60_000))
        (tmp_path / "runs.jsonl").mkdir()  # cannot be written, like a full disk
        await b.advance(60)
        await until(lambda: b.scheduler.problem)
        assert b.ran == []
        (tmp_path / "runs.jsonl").rmdir()
        await b.advance(1, runs=1)
        assert b.ran == ["a@2026-03-01T12:01:00Z"]
        assert b.scheduler.problem is None


async def test_second_server_lists_and_changes_but_runs_nothing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        other = b.made()
        await other.put(made())
        await b.advance(60, runs=1)
        (job,), _ = await other.list()
        assert list(job.state.recent) == ["ok"]
        with pytest.raises(InvalidRequest, match="Another server"):
            await other.run_now("a")
        assert len(b.ran) == 1


async def test_next_server_records_interrupted_run_and_does_not_repeat_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.released.clear()
        await b.scheduler.put(made("once", at=START + timedelta(seconds=5), catch_up=True))
        await b.advance(5)
        await until(lambda: b.ran)
        await b.scheduler.close()
        b.scheduler = b.made()
        await b.scheduler.begin()
        await b.advance(5)
        (run,) = await b.scheduler.history("once", 10)
        assert run["outcome"] == "interrupted"
        assert len(b.ran) == 1


KILLED = """
import asyncio, os, sys
from datetime import timedelta
from pathlib import Path
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.jobs import job_of
from onyx_jupyter.schedule.run_log import RunLog
from onyx_jupyter.schedule.scheduler import Scheduler, RunResult

folder = Path(sys.argv[1])

async def run(occurrence):
    with (folder / "ran").open("a") as file:
        file.write(occurrence.key + "\\n")
        file.flush()
        os.fsync(file.fileno())
    await asyncio.sleep(0.02)
    return RunResult("ok")

async def main():
    run_log = RunLog(folder / "runs.jsonl", max_bytes=2000)
    scheduler = Scheduler(JobStore(folder / "jobs.json"), run_log, run, SystemClock())
    now = SystemClock().now()
    await scheduler.begin()
    for n in range(5):
        schedule = {"kind": "every", "everyMs": 1000, "anchor": now + timedelta(milliseconds=137 * n)}
        if not (await scheduler.list())[0][n:]:
            job = {"id": f"j{n}", "name": "j", "message": "m", "createdAt": now, "schedule": schedule, "catchUp": True}
            await scheduler.put(job_of(job))
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def test_kill_at_any_moment_repeats_no_planned_time(tmp_path: Path) -> None:
    for delay in (1.3, 1.1, 1.7):
        command = (sys.executable, "-c", KILLED, str(tmp_path))
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ}, stderr=subprocess.PIPE)
        runs_before = len(_keys(tmp_path))
        await until(lambda before=runs_before: len(_keys(tmp_path)) > before)
        await asyncio.sleep(delay)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    keys = _keys(tmp_path)
    assert len(keys) > 10
    assert len(keys) == len(set(keys))


def _keys(folder: Path) -> list[str]:
    path = folder / "ran"
    return path.read_text().split() if path.exists() else []
