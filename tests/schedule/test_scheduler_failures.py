"""The scheduler when a disk fails, a caller gives up half-way, or another server has been at work."""

import asyncio
import errno
import os
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from onyx_jupyter.errors import NotFound
from onyx_jupyter.schedule.job_store import JobStore, StoredJobs
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.run_log import RunLog
from onyx_jupyter.schedule.scheduler import Scheduler
from onyx_jupyter.storage import jsonl
from tests.schedule.made_jobs import START, made
from tests.schedule.test_scheduler import Bench, bench
from tests.waiting import LIMIT_S, until


async def test_changed_job_keeps_its_new_times_if_the_log_cannot_be_written(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made(every_ms=3_600_000))
        (tmp_path / "runs.jsonl").mkdir()  # cannot be written, like a full disk
        await b.scheduler.put(made(every_ms=60_000))
        assert (await b.scheduler.get("a")).next_at == START + timedelta(seconds=60)
        (tmp_path / "runs.jsonl").rmdir()
        await b.advance(60, runs=1)
        assert b.ran == ["a@2026-03-01T12:01:00Z"]


class SlowStore(JobStore):
    """After a change it waits, with the jobs on disk already."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.changed, self.released = threading.Event(), threading.Event()

    def change(self, change: Callable[[Mapping[str, Job]], Mapping[str, Job]]) -> StoredJobs:
        stored = super().change(change)
        self.changed.set()
        assert self.released.wait(LIMIT_S)
        return stored


async def test_job_whose_maker_was_stopped_half_way_runs(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.close()
        store = SlowStore(tmp_path / "jobs.json")
        b.scheduler = Scheduler(store, RunLog(tmp_path / "runs.jsonl"), b.run, b.clock, on_finished=b.finished.append)
        await b.scheduler.begin()
        putting = asyncio.create_task(b.scheduler.put(made(every_ms=60_000)))
        await until(store.changed.is_set)
        putting.cancel()
        listing = asyncio.create_task(b.scheduler.list())
        store.released.set()
        await asyncio.wait([putting, listing])
        assert putting.cancelled()
        await b.advance(60, runs=1)
        assert b.ran == ["a@2026-03-01T12:01:00Z"]


async def test_server_that_takes_over_runs_what_it_saw_running_elsewhere(tmp_path: Path) -> None:
    first, second = Bench(tmp_path), Bench(tmp_path)
    await first.scheduler.begin()
    first.released.clear()
    await first.scheduler.put(made(every_ms=60_000))
    await first.advance(60)
    await until(lambda: first.ran)
    (seen,), _ = await second.scheduler.list()
    assert seen.state.running is not None
    await first.scheduler.close()
    second.clock.advance(100)
    await second.scheduler.begin()
    try:
        assert (await second.scheduler.get("a")).next_at == START + timedelta(seconds=120)
        await second.advance(20, runs=1)
        assert second.ran == ["a@2026-03-01T12:02:00Z"]
    finally:
        await second.scheduler.close()


async def test_jobs_run_as_soon_as_the_log_that_could_not_be_read_at_the_start_can_be(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made(every_ms=60_000))
        await b.advance(60, runs=1)
        await b.scheduler.close()
        (tmp_path / "runs.jsonl").rename(tmp_path / "kept")
        (tmp_path / "runs.jsonl").mkdir()
        b.scheduler = b.made()
        await b.scheduler.begin()
        assert b.scheduler.is_owner
        assert b.scheduler.problem
        await b.advance(60)
        await until(lambda: b.scheduler.problem)
        assert len(b.ran) == 1
        (tmp_path / "runs.jsonl").rmdir()
        (tmp_path / "kept").rename(tmp_path / "runs.jsonl")
        await b.advance(1, runs=2)
        assert b.ran == ["a@2026-03-01T12:01:00Z", "a@2026-03-01T12:02:00Z"]


async def test_cut_run_counts_as_interrupted_though_the_disk_is_full_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, line: bytes, size_before: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with bench(tmp_path) as b:
        b.released.clear()
        await b.scheduler.put(made(every_ms=60_000))
        await b.advance(60)
        await until(lambda: b.ran)
        await b.scheduler.close()
        with monkeypatch.context() as patch:
            patch.setattr(jsonl, "_write_whole", full)
            b.scheduler = b.made()
            await b.scheduler.begin()
        b.released.set()
        await b.advance(60, runs=1)
        assert b.ran == ["a@2026-03-01T12:01:00Z", "a@2026-03-01T12:02:00Z"]
        assert list((await b.scheduler.get("a")).state.recent) == ["interrupted", "ok"]


async def test_change_of_a_cancelled_job_does_not_bring_it_back(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.scheduler.put(made())
        await b.scheduler.cancel("a")
        with pytest.raises(NotFound, match="no job 'a'"):
            await b.scheduler.update("a", lambda job: job.model_copy(update={"name": "Other"}))
        assert (await b.scheduler.list())[0] == []


async def test_two_changes_at_once_both_count(tmp_path: Path) -> None:
    def paused(job: Job) -> Job:
        return job.model_copy(update={"enabled": False})

    def renamed(job: Job) -> Job:
        return job.model_copy(update={"name": "Other"})

    async with bench(tmp_path) as b:
        await b.scheduler.put(made())
        await asyncio.gather(b.scheduler.update("a", paused), b.scheduler.update("a", renamed))
        job = (await b.scheduler.get("a")).job
        assert (job.name, job.enabled) == ("Other", False)


async def test_job_cancelled_or_paused_while_it_runs_ends_its_run_and_comes_no_more(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        b.released.clear()
        await b.scheduler.put(made("a", every_ms=60_000))
        await b.scheduler.put(made("b", every_ms=60_000))
        await b.advance(60)
        await until(lambda: len(b.ran) == 2)
        await b.scheduler.cancel("a")
        await b.scheduler.update("b", lambda job: job.model_copy(update={"enabled": False}))
        b.released.set()
        await b.advance(600, runs=2)
        assert len(b.ran) == 2
        assert {line["kind"] for line in b.lines()} == {"started", "finished"}
        await b.scheduler.update("b", lambda job: job.model_copy(update={"enabled": True}))
        await b.advance(60, runs=3)
        assert b.ran[-1] == "b@2026-03-01T12:12:00Z"
