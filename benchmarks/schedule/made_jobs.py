"""Ten thousand jobs as a home may have them: none is due for hours but those that are made to be."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.jobs import Job, job_of

MANY = 10_000
_MESSAGE = "Look at the newest measurements, compare them with those of last week, and say what has changed."


def quiet_jobs(count: int, now: datetime) -> list[Job]:
    """Of each kind a third: an interval, a cron expression in a zone with summer time, one moment."""
    return [_made(f"quiet-{number}", _quiet(number, now), now, message=_MESSAGE) for number in range(count)]


def due_jobs(moments: Sequence[datetime], now: datetime) -> list[Job]:
    """One for each moment, with a decided call and no model."""
    calls = [{"tool": "read", "arguments": {"path": "notes.txt"}}]
    return [
        _made(f"due-{number}", {"kind": "at", "at": moment}, now, toolCalls=calls)
        for number, moment in enumerate(moments)
    ]


def write_jobs(folder: Path, jobs: Sequence[Job]) -> None:
    """`jobs.json` in that folder, as a server writes it."""
    JobStore(folder / "jobs.json").change(lambda _: {job.id: job for job in jobs})


def _quiet(number: int, now: datetime) -> dict[str, Any]:
    hours = 12 + number % 700
    match number % 3:
        case 0:
            return {"kind": "every", "everyMs": 3_600_000 * hours, "anchor": now}
        case 1:
            later = now + timedelta(hours=12 + number % 11)
            return {"kind": "cron", "cron": f"{number % 60} {later.hour} * * *", "tz": "Europe/Vienna"}
    return {"kind": "at", "at": now + timedelta(hours=hours)}


def _made(job_id: str, schedule: dict[str, Any], now: datetime, **what: Any) -> Job:
    return job_of({"id": job_id, "name": f"Job {job_id}", "createdAt": now, "schedule": schedule, **what})
