"""Jobs as tests need them."""

from datetime import UTC, datetime
from typing import Any

from onyx_jupyter.schedule.jobs import Job, job_of

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def made(job_id: str = "a", *, every_ms: int | None = None, cron: str | None = None, **more: Any) -> Job:
    """A job made at START, every minute if nothing else is said."""
    schedule: dict[str, Any] = {"kind": "every", "everyMs": every_ms or 60_000, "anchor": START}
    if cron is not None:
        schedule = {"kind": "cron", "cron": cron, "tz": more.pop("tz", "UTC")}
    if "at" in more:
        schedule = {"kind": "at", "at": more.pop("at")}
    given = {"id": job_id, "name": f"Job {job_id}", "message": "Do it", "createdAt": START, "schedule": schedule}
    if "skill" in more or "tool_calls" in more:
        del given["message"]
    return job_of({**given, **more})
