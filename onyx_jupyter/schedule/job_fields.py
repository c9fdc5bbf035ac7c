"""Makes a job of what a person or a model filled in, and finds the job that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ValidationError

from onyx_jupyter.errors import InvalidRequest, NotFound
from onyx_jupyter.schedule.cron import check_zone, explain
from onyx_jupyter.schedule.jobs import MAX_NAME_CHARS, At, Cron, Every, Job, choose_target, job_of, words_of
from onyx_jupyter.schedule.planned_times import next_time

_TIME_FIELDS = ("at", "everyMs", "cron", "tz")
_AFTER = re.compile(r"\+(\d{1,6})\s*(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_MAX_CANDIDATES = 10


def local_zone() -> str:
    """The name of this machine's time zone; UTC where it cannot be told."""
    import tzlocal

    try:
        return check_zone(tzlocal.get_localzone_name() or "UTC").key
    except (ValueError, ZoneInfoNotFoundError):
        return "UTC"


def new_job(given: Mapping[str, Any], *, job_id: str, agent_id: str, now: datetime, zone: str) -> Job:
    """`given` has camelCase keys: the job's own, and `at`, `everyMs`, `cron`, `tz` for its schedule.

    Where nothing is said of the session, it is chosen by content. A job of one time is caught up unless said otherwise.
    Raises: InvalidRequest.
    """
    fields = {name: value for name, value in given.items() if value is not None and name not in (*_TIME_FIELDS, "kind")}
    schedule = _schedule(given, now, zone)
    if "sessionTarget" not in fields:
        fields["sessionTarget"], fields["targetReason"] = choose_target(fields.get("message"))
    fields.setdefault("name", _name_of(fields))
    fields.setdefault("catchUp", isinstance(schedule, At))
    return job_of({"id": job_id, "agentId": agent_id, "createdAt": now, **fields, "schedule": schedule})


def changed_job(job: Job, given: Mapping[str, Any], *, now: datetime, zone: str) -> Job:
    """The job with what is given; a new kind of payload replaces the old one. Raises: InvalidRequest."""
    fields = {name: value for name, value in given.items() if value is not None and name not in (*_TIME_FIELDS, "kind")}
    old = {name: value for name, value in job.model_dump(by_alias=True).items() if name != "schedule"}
    if {"message", "toolCalls", "skill"} & fields.keys():
        for name in ("message", "toolCalls", "skill", "parameters", "synthesisPrompt"):
            old.pop(name, None)
    if "sessionTarget" in fields:
        old["targetReason"] = "you chose it"
    timed = {name: given[name] for name in _TIME_FIELDS if given.get(name) is not None}
    tz = job.schedule.tz if isinstance(job.schedule, Cron) else zone
    if timed.keys() == {"tz"} and isinstance(job.schedule, Cron):
        timed["cron"] = job.schedule.cron
    schedule = _schedule({**timed, "kind": given.get("kind")}, now, tz) if timed else job.schedule
    return job_of({**old, **fields, "schedule": schedule})


def describe(job: Job, zone: str) -> str:
    """When it runs, in words."""
    match job.schedule:
        case At(at=at):
            return f"once, at {_shown(at, zone)}"
        case Every(every_ms=every_ms):
            return f"every {_duration(every_ms)}"
        case Cron(cron=cron, tz=tz):
            return f"{explain(cron)} ({tz})"


def next_times(job: Job, now: datetime, zone: str, count: int = 3) -> Sequence[str]:
    """Its next planned times, as the clocks there show them."""
    found: list[str] = []
    moment = next_time(job.schedule, now)
    where = job.schedule.tz if isinstance(job.schedule, Cron) else zone
    while moment is not None and len(found) < count:
        found.append(_shown(moment, where))
        moment = next_time(job.schedule, moment)
    return found


def find_job(jobs: Iterable[Job], named: str) -> Job:
    """The job of that id or name, or the only one that holds all the words.

    Raises: NotFound; InvalidRequest with the candidates if several fit, and then nothing is changed.
    """
    known, words = list(jobs), named.casefold().split()
    exact = [job for job in known if job.id == named] or [
        job for job in known if job.name.casefold() == named.casefold()
    ]
    fitting = exact or [job for job in known if words and all(word in _text(job) for word in words)]
    if not fitting:
        raise NotFound(f"No job fits {named!r}. list_jobs shows all.")
    if len(fitting) > 1:
        listed = "\n".join(f"{job.id}: {job.name}" for job in fitting[:_MAX_CANDIDATES])
        raise InvalidRequest(f"{len(fitting)} jobs fit {named!r}; nothing was changed. Name one by its id:\n{listed}")
    return fitting[0]


def _text(job: Job) -> str:
    return f"{job.name} {job.message or ''} {job.skill or ''} {' '.join(c.tool for c in job.tool_calls)}".casefold()


def _schedule(given: Mapping[str, Any], now: datetime, zone: str) -> At | Every | Cron:
    named = [name for name in ("at", "everyMs", "cron") if given.get(name) is not None]
    kind = given.get("kind")
    wanted = {"at": "at", "every": "everyMs", "cron": "cron"}.get(str(kind)) if kind else None
    if len(named) != 1 or wanted not in (None, named[0]):
        raise InvalidRequest("Give one of `at`, `everyMs` and `cron`, the one of the job's `kind`.", field="kind")
    tz = given.get("tz") or zone
    try:
        if "at" in named:
            schedule = At(at=_moment(str(given["at"]), now, tz))
            if next_time(schedule, now) is None:
                raise ValueError(f"that time has passed; now it is {_shown(now, zone)}")
            return schedule
        if "everyMs" in named:
            return Every(every_ms=given["everyMs"], anchor=now)
        return Cron(cron=given["cron"], tz=tz)
    except (ValueError, OverflowError) as error:
        words = words_of(error) if isinstance(error, ValidationError) else str(error)
        raise InvalidRequest(f"`{named[0]}`: {words}.", field=named[0]) from error


def _moment(text: str, now: datetime, zone: str) -> datetime:
    """Raises: ValueError."""
    after = _AFTER.fullmatch(text.strip())
    if after is not None:
        return now + timedelta(**{_UNITS[after[2]]: int(after[1])})
    moment = datetime.fromisoformat(text.strip())
    return (moment if moment.tzinfo else moment.replace(tzinfo=check_zone(zone))).astimezone(UTC)


def _name_of(fields: Mapping[str, Any]) -> str:
    calls = fields.get("toolCalls") or ()
    first = calls[0].get("tool") if calls and isinstance(calls[0], Mapping) else ""
    text = " ".join(str(fields.get("message") or fields.get("skill") or first or "Job").split())
    return text if len(text) <= MAX_NAME_CHARS // 2 else f"{text[: MAX_NAME_CHARS // 2 - 1].rstrip()}…"


def _shown(moment: datetime, zone: str) -> str:
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M:%S} {zone}"


def _duration(milliseconds: int) -> str:
    for name, size in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1000)):
        if milliseconds % size == 0:
            count = milliseconds // size
            return name if count == 1 else f"{count} {name}s"
    return f"{milliseconds} ms"
