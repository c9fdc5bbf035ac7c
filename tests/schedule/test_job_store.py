"""The file of the jobs: each entry is judged alone, and what is damaged is kept aside."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidRequest, StorageError
from onyx_jupyter.schedule import job_store
from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.jobs import Job, choose_target, job_of
from tests.schedule.made_jobs import START, made


def written(path: Path, *jobs: Job | dict[str, Any]) -> JobStore:
    entries = [job.to_json() if isinstance(job, Job) else job for job in jobs]
    path.write_text(json.dumps({"schemaVersion": 1, "jobs": entries}))
    return JobStore(path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.json"


ALL_KINDS = (
    made("every"),
    made("cron", cron="0 9 * * 1-5", tz="Europe/Vienna", policy=("web_fetch", "group:fs"), model="openai/gpt-5"),
    made("at", at=START + timedelta(days=1), session_target="main", target_reason="it says so", wake="heartbeat"),
    made("calls", tool_calls=[{"tool": "read", "arguments": {"path": "a.md"}}], synthesis_prompt="Sum it up"),
    made("skill", skill="report", parameters={"region": "north"}, catch_up=True, enabled=False),
)


@pytest.mark.parametrize("job", ALL_KINDS, ids=lambda job: job.id)
def test_job_is_read_as_it_was_written(path: Path, job: Job) -> None:
    JobStore(path).change(lambda jobs: {**jobs, job.id: job})
    assert JobStore(path).read().jobs == {job.id: job}
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"id": "x"}, "name"),
        ({**made("x").to_json(), "schedule": {"kind": "cron", "cron": "0 0 30 2 *", "tz": "UTC"}}, "ever comes due"),
        (
            {**made("x").to_json(), "schedule": {"kind": "every", "everyMs": 10, "anchor": "2026-01-01T00:00:00Z"}},
            "1000",
        ),
        ({**made("x").to_json(), "color": "red"}, "color"),
        ({**made("x").to_json(), "skill": "report"}, "only one"),
        ("nonsense", "job 2"),
        (made("a").to_json(), "used twice"),
    ],
)
def test_bad_entry_is_left_out_alone_and_stays_in_file(path: Path, entry: Any, words: str) -> None:
    store = written(path, made("a"), entry, made("b"))
    stored = store.read()
    assert list(stored.jobs) == ["a", "b"]
    assert words in stored.problems[0]
    store.change(lambda jobs: {**jobs, "c": made("c")})
    assert entry in json.loads(path.read_text())["jobs"]


def test_unparsable_file_is_set_aside_and_last_good_one_used(path: Path) -> None:
    JobStore(path).change(lambda jobs: {"a": made("a")})
    path.write_text('{"jobs": [ oops')
    stored = JobStore(path).read()
    assert list(stored.jobs) == ["a"]
    assert "last good" in stored.problems[0]
    assert path.with_name("jobs.json.damaged").read_text() == '{"jobs": [ oops'
    assert list(JobStore(path).read().jobs) == ["a"]


def test_unparsable_file_without_good_one_is_set_aside(path: Path) -> None:
    path.write_text("[]")
    stored = JobStore(path).read()
    assert (dict(stored.jobs), len(stored.problems)) == ({}, 1)
    assert not path.exists()


def test_edit_by_a_person_counts_and_is_not_overwritten(path: Path) -> None:
    store = written(path, made("a"))
    store.read()
    written(path, made("a"), made("b"))
    assert store.has_changed
    store.change(lambda jobs: {**jobs, "c": made("c")})
    assert list(JobStore(path).read().jobs) == ["a", "b", "c"]


def test_ten_thousand_jobs_are_kept(path: Path) -> None:
    store = JobStore(path)
    store.change(lambda jobs: {str(n): made(str(n)) for n in range(10_000)})
    assert len(JobStore(path).read().jobs) == 10_000


@pytest.mark.parametrize(
    ("message", "target"),
    [
        ("Remind me to call Ada", "main"),
        ("Go on with what we discussed", "main"),
        ("Check the disk space and mail a report", "isolated"),
        (None, "isolated"),
    ],
)
def test_session_is_chosen_by_content_with_a_reason(message: str | None, target: str) -> None:
    chosen, reason = choose_target(message)
    assert chosen == target
    assert reason


def test_mistake_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"`schedule\.tz`: 'Mars' is not a time zone"):
        job_of({**made().to_json(), "schedule": {"kind": "cron", "cron": "@daily", "tz": "Mars"}})


def test_edit_that_comes_while_the_file_is_read_is_seen_and_not_overwritten(path: Path) -> None:
    written(path, made("a"))

    class Editor(JobStore):
        """A person saves right after the file was read."""

        def _text(self, path: Path) -> str | None:
            text = super()._text(path)
            if path.name == "jobs.json" and not self._stored.jobs:
                written(path, made("a"), made("b"))
            return text

    store = Editor(path)
    assert list(store.read().jobs) == ["a"]
    assert store.has_changed
    store.change(lambda jobs: {**jobs, "c": made("c")})
    assert list(JobStore(path).read().jobs) == ["a", "b", "c"]


def test_file_that_is_being_written_is_not_set_aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    JobStore(path).change(lambda jobs: {"a": made("a")})
    path.write_text("")  # another program has emptied the file, and writes it while it is waited for
    monkeypatch.setattr(job_store.time, "sleep", lambda _: written(path, made("a"), made("b")))
    assert list(JobStore(path).read().jobs) == ["a", "b"]
    assert not path.with_name("jobs.json.damaged").exists()


def test_damaged_file_stays_while_the_disk_is_full_and_the_last_good_one_is_used(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StorageError("No space is left on the disk.")

    JobStore(path).change(lambda jobs: {"a": made("a")})
    path.write_text("oops")
    with monkeypatch.context() as patch:
        patch.setattr(job_store, "write_bytes_atomically", full)
        assert list(JobStore(path).read().jobs) == ["a"]
    assert path.read_text() == "oops"
    assert list(JobStore(path).read().jobs) == ["a"]
    assert path.with_name("jobs.json.damaged").read_text() == "oops"


@pytest.mark.parametrize(
    "entry",
    [
        {"schedule": {"kind": "every", "everyMs": 10**17, "anchor": "2026-01-01T00:00:00Z"}},
        {"schedule": {"kind": "every", "everyMs": 1000, "anchor": "9999-12-31T23:59:59Z"}},
        {"schedule": {"kind": "at", "at": "9999-12-31T23:59:59Z"}},
        {"schedule": {"kind": "at", "at": "0001-01-01T00:00:00Z"}},
        {"createdAt": "0001-01-01T00:00:00Z"},
    ],
)
def test_job_beyond_all_calendars_is_left_out_alone(path: Path, entry: dict[str, Any]) -> None:
    stored = written(path, {**made("x").to_json(), **entry}, made("a")).read()
    assert list(stored.jobs) == ["a"]
    assert "job 1" in stored.problems[0]
