"""What a person or a model fills in to change a job."""

from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

import pytest

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.schedule.job_fields import changed_job, local_zone, new_job
from onyx_jupyter.schedule.jobs import At, Cron, Job
from tests.schedule.made_jobs import START, made

NOW = START + timedelta(hours=1)
NIGHTLY = made(cron="30 2 * * *", tz="Europe/Vienna")


def changed(job: Job, **given: Any) -> Job:
    return changed_job(job, given, now=NOW, zone="UTC")


def test_new_zone_alone_keeps_the_expression() -> None:
    assert changed(NIGHTLY, tz="Asia/Kolkata").schedule == Cron(cron="30 2 * * *", tz="Asia/Kolkata")


def test_job_of_a_cron_expression_can_become_one_of_a_moment_in_a_zone() -> None:
    schedule = changed(NIGHTLY, at="2026-05-01T09:00", tz="Asia/Kolkata").schedule
    assert isinstance(schedule, At)
    assert schedule.at.isoformat() == "2026-05-01T03:30:00+00:00"


def test_other_changes_keep_the_times() -> None:
    assert changed(NIGHTLY, message="Tidy up", kind="cron").schedule == NIGHTLY.schedule


@pytest.mark.parametrize("at", ["2026-03-01T12:30:00Z", "2020-01-01T00:00"])
def test_moment_that_has_passed_is_refused_for_a_new_job_and_for_a_change(at: str) -> None:
    with pytest.raises(InvalidRequest, match="`at`: that time has passed; now it is 2026-03-01 14:00:00 Europe/Vienna"):
        changed(NIGHTLY, at=at)
    with pytest.raises(InvalidRequest, match="`at`: that time has passed"):
        new_job({"at": at, "message": "Call"}, job_id="x", agent_id="main", now=NOW, zone="UTC")


@pytest.mark.parametrize("given", [{"at": "9999-12-31T23:59:59-12:00"}, {"everyMs": 10**17}])
def test_time_beyond_all_calendars_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=rf"`{next(iter(given))}`"):
        changed(NIGHTLY, **given)


@pytest.mark.parametrize(
    ("told", "zone"), [("Europe/Vienna", "Europe/Vienna"), ("", "UTC"), (None, "UTC"), ("Mars/Olympus", "UTC")]
)
def test_zone_of_the_machine_is_utc_where_it_cannot_be_told(
    monkeypatch: pytest.MonkeyPatch, told: str | None, zone: str
) -> None:
    monkeypatch.setattr("tzlocal.get_localzone_name", lambda: told)
    assert local_zone() == zone


def test_conflicting_settings_of_the_zone_are_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def conflicting() -> str:
        raise ZoneInfoNotFoundError("Multiple conflicting time zone configurations found")

    monkeypatch.setattr("tzlocal.get_localzone_name", conflicting)
    assert local_zone() == "UTC"
