"""The log of runs: full files, jobs that are gone, and pages of the history."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.schedule import run_log
from onyx_jupyter.schedule.run_log import RunLog, Start, key_of
from tests.schedule.made_jobs import START


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def ran(log: RunLog, at: datetime, *job_ids: str) -> None:
    starts = [Start(key_of(job_id, at), job_id, "", at) for job_id in job_ids]
    for job_id in job_ids:
        log.state(job_id, START)
    log.started(starts, at)
    for start in starts:
        log.finished(start.key, at, "ok", {})


def states_on_disk(path: Path) -> set[str]:
    log = RunLog(path)
    log.load()
    return set(log.states)


def filled(log: RunLog, job_id: str, first: int, count: int = 20) -> None:
    for n in range(first, first + count):
        ran(log, after(n), job_id)


def test_state_of_a_job_that_is_gone_goes_with_the_second_full_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    log = RunLog(path, max_bytes=3000)
    log.keep({"often", "once", "idle"})
    ran(log, START, "once", "idle")
    log.keep({"often", "idle"})
    filled(log, "often", 1, 12)
    assert states_on_disk(path) == {"often", "once", "idle"}
    filled(log, "often", 30)
    assert states_on_disk(path) == {"often", "idle"}
    assert set(log.states) == {"often", "idle"}


def test_job_that_comes_back_soon_still_knows_what_has_run(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "runs.jsonl", max_bytes=3000)
    ran(log, after(1), "once")
    log.keep({"often"})
    filled(log, "often", 2, 12)
    log.keep({"often", "once"})
    filled(log, "often", 30, 60)
    log.load()
    assert log.states["once"].range_of(after(1)) is not None


def test_log_that_cannot_begin_a_new_file_counts_what_it_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise run_log.StorageError("No space is left on the disk.")

    monkeypatch.setattr(run_log, "write_bytes_atomically", refuse)
    log = RunLog(tmp_path / "runs.jsonl", max_bytes=1)
    ran(log, after(1), "a")
    log.load()
    assert log.states["a"].range_of(after(1)) is not None
    assert list(log.states["a"].recent) == ["ok"]


def pages(log: RunLog, limit: int) -> Sequence[Sequence[dict[str, Any]]]:
    found = [log.history(None, limit)]
    while found[-1]:
        found.append(log.history(None, limit, str(found[-1][-1]["at"])))
    return found[:-1]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_of_history_leave_nothing_out_and_repeat_nothing(tmp_path: Path, limit: int) -> None:
    log = RunLog(tmp_path / "runs.jsonl")
    for seconds, job_ids in ((10, "ab"), (20, "abc"), (15, "d"), (30, "a"), (30.5, "b")):  # 15: the clock was set back
        ran(log, after(seconds), *job_ids)
    keys = [[one["key"] for one in page] for page in pages(log, limit)]
    assert [key for page in keys for key in page] == [one["key"] for one in log.history(None, 100)]
    assert len(log.history(None, 100)) == 8
