"""What is due and what was missed, with a clock that runs on, sleeps and is set back."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from onyx_jupyter.schedule.job_state import JobState
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.run_log import Missed, RunLog, Start, key_of
from onyx_jupyter.schedule.timetable import MAX_CAUGHT_UP, STAGGER, Due, Look, Timetable
from tests.schedule.made_jobs import START, made


class Server:
    """A timetable and its log on disk; what runs ends when `end` is called."""

    def __init__(self, folder: Path, jobs: Sequence[Job]) -> None:
        self.folder, self.jobs = folder, {job.id: job for job in jobs}
        self.ran: list[tuple[str, datetime]] = []
        self.missed: list[Missed] = []
        self.keys: dict[str, str] = {}
        self.now = START
        self.restart()

    def restart(self) -> None:
        self.log = RunLog(self.folder / "runs.jsonl", max_bytes=3000)
        for key in self.log.load():
            self.log.finished(key, self.now, "interrupted", {})
        self.keys.clear()
        self.table = Timetable(self.log)
        self.table.set_jobs(self.jobs)

    def look(self, now: datetime) -> list[Due]:
        self.now = now
        found = self.table.look(now)
        self._record(found)
        starts = [Start(key_of(due.job.id, due.planned), due.job.id, "", due.planned) for due in found.due]
        self.log.started(starts, now)
        for start, due in zip(starts, found.due, strict=True):
            self.ran.append((due.job.id, due.planned))
            self.keys[due.job.id] = start.key
        self.table.plan([due.job.id for due in found.due])
        return found.due

    def end(self, job_id: str, outcome: str = "ok") -> None:
        self.log.finished(self.keys.pop(job_id), self.now, outcome, {})  # type: ignore[arg-type] - one of them
        look = Look()
        self.table.missed_while_running(job_id, self.now, look)
        self._record(look)
        self.table.plan([job_id])

    def _record(self, look: Look) -> None:
        self.log.missed(look.missed, self.now)
        self.missed += look.missed
        self.table.plan([missed.job_id for missed in look.missed])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "schedule"


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def test_job_runs_at_each_planned_time(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    for seconds in range(1, 301):
        for due in server.look(after(seconds)):
            server.end(due.job.id)
    assert server.ran == [("a", after(60 * n)) for n in range(1, 6)]
    assert server.missed == []


def test_times_during_a_run_are_recorded_as_missed(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    server.look(after(60))
    assert server.look(after(190)) == []
    server.end("a")
    assert server.missed == [Missed("a", after(60), after(180), 2, "running")]
    assert server.table.next_at == after(240)


def test_time_after_sleep_is_missed_and_recorded(folder: Path) -> None:
    server = Server(folder, [made(cron="0 * * * *")])
    assert server.look(after(10 * 3600 + 1800)) == []
    assert server.missed == [Missed("a", START, after(10 * 3600), 10, "off")]
    assert server.table.next_at == after(11 * 3600)


def test_newest_missed_run_is_caught_up_by_choice_at_most_five_staggered(folder: Path) -> None:
    server = Server(folder, [made(str(n), cron="0 * * * *", catch_up=True) for n in range(8)])
    now = after(10 * 3600 + 1800)
    begun = server.look(now)
    assert [(due.planned, due.caught_up) for due in begun] == [(after(10 * 3600), True)]
    for n in range(1, MAX_CAUGHT_UP):
        assert server.look(now + n * STAGGER - timedelta(seconds=1)) == []
        assert len(server.look(now + n * STAGGER)) == 1
    assert server.look(now + timedelta(minutes=20)) == []
    assert len(server.ran) == MAX_CAUGHT_UP
    assert sum(missed.count == 10 for missed in server.missed) == 8 - MAX_CAUGHT_UP


def test_failures_make_a_job_rest_and_then_disable_it(folder: Path) -> None:
    server = Server(folder, [made(every_ms=1000)])
    begun, now = [], 0
    while len(begun) < 10 and now < 40_000:
        now += 1
        if server.look(after(now)):
            begun.append(now)
            server.end("a", "failed")
    waits = [later - earlier for earlier, later in pairwise(begun)]
    assert waits == [30, 60, 300, 900, 3600, 3600, 3600, 3600, 3600]
    assert server.table.next_at is None
    assert server.log.states["a"].is_disabled
    server.restart()
    assert server.table.next_at is None


def test_success_ends_backoff(folder: Path) -> None:
    server = Server(folder, [made(every_ms=1000)])
    server.look(after(1))
    server.end("a", "failed")
    assert server.table.next_at == after(31)
    server.look(after(31))
    server.end("a", "ok")
    assert server.table.next_at == after(32)


def test_clock_set_back_repeats_nothing_and_keeps_running(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    for seconds in range(1, 601):
        for due in server.look(after(seconds)):
            server.end(due.job.id)
    assert len(server.ran) == 10
    server.look(after(100))
    assert server.table.next_at == after(660)
    for due in server.look(after(660)):
        server.end(due.job.id)
    assert len(server.ran) == len(set(server.ran)) == 11


def test_clock_a_year_ahead_for_a_moment_does_not_stop_a_job(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    year = 365 * 86_400
    for due in server.look(after(year)):
        server.end(due.job.id)
    server.restart()
    assert server.look(after(30)) == []
    assert server.table.next_at == after(60)


def test_run_that_ends_while_the_clock_is_a_year_ahead_does_not_stop_its_job(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    server.look(after(60))
    server.now = after(365 * 86_400)
    server.end("a")
    assert server.look(after(70)) == []
    assert server.table.next_at == after(120)


def test_job_started_by_hand_before_anything_else_loses_no_planned_time(folder: Path) -> None:
    server = Server(folder, [made(every_ms=60_000)])
    server.log.started([Start("a/now", "a", "", None)], after(150))
    server.now = after(160)
    server.restart()
    server.look(after(170))
    assert (server.missed[0].after, server.ran) == (START, [("a", after(120))])


def test_job_that_once_ran_does_not_run_again_after_restart_with_rotated_log(folder: Path) -> None:
    server = Server(folder, [made("once", at=after(30)), made("often", every_ms=1000)])
    for seconds in range(1, 200):
        for due in server.look(after(seconds)):
            server.end(due.job.id)
    assert "once" not in [line["job"] for line in server.log.history(None, 10_000)], "the log has not rotated twice"
    server.restart()
    server.look(after(201))
    assert Counter(server.ran)["once", after(30)] == 1


def test_ranges_of_what_has_run_stay_few() -> None:
    state = JobState(START)
    for n in range(500):
        state.accounted = after(10 * n)
        state.begin(after(10 * n + 1), after(10 * n), f"{n}", after(10 * n + 1))
    assert len(state.ran) == 50
    assert all(state.range_of(after(10 * n + 1)) for n in range(500))
    assert state.ran[-1][1] == after(4991)
