"""`schedule.*`: what the jobs panel asks for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from onyx_jupyter.config.sections import section
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.schedule import wire
from onyx_jupyter.features.schedule.settings import ScheduleSettings
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, HOST, SCHEDULER
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok
from onyx_jupyter.schedule.job_fields import changed_job, describe, new_job, next_times
from onyx_jupyter.schedule.job_state import moment_of, text_of
from onyx_jupyter.schedule.jobs import At, Cron, Every, Job
from onyx_jupyter.schedule.scheduler import JobNow, Scheduler


def _settings(caller: Caller) -> ScheduleSettings:
    return section(caller.get(CONFIGURED).settings.config, "schedule", ScheduleSettings)


async def schedule_list(params: wire.ScheduleListParams, caller: Caller) -> dict[str, Any]:
    scheduler = caller.get(SCHEDULER)
    jobs, problems = await scheduler.list()
    words = (params.query or "").casefold().split()
    fitting = [
        one for one in jobs if params.agent_id in (None, one.job.agent_id) and (not words or _holds(one.job, words))
    ]
    fitting.sort(key=_turn)
    zone = _settings(caller).zone
    return {
        "jobs": [_info(one, zone) for one in fitting[params.offset : params.offset + params.limit]],
        "total": len(fitting),
        "runsHere": scheduler.is_owner,
        "problems": [*problems, *([scheduler.problem] if scheduler.problem else [])],
    }


async def schedule_preview(params: wire.SchedulePreviewParams, caller: Caller) -> dict[str, Any]:
    """What would become of these fields. Nothing is kept."""
    host, zone = caller.get(HOST), _settings(caller).zone
    now, given = host.clock.now(), params.model_dump(by_alias=True, exclude_none=True)
    job_id = given.pop("jobId", None)
    if job_id is not None:
        old = (await caller.get(SCHEDULER).get(job_id)).job
        job = changed_job(old, given, now=now, zone=zone)
    else:
        job = new_job(given, job_id="preview", agent_id="main", now=now, zone=zone)
    return {
        "when": describe(job, zone),
        "next": next_times(job, now, zone),
        "sessionTarget": job.session_target,
        "targetReason": job.target_reason,
    }


async def schedule_get(params: wire.ScheduleJobParams, caller: Caller) -> dict[str, Any]:
    return {"job": _info(await caller.get(SCHEDULER).get(params.job_id), _settings(caller).zone)}


async def schedule_create(params: wire.ScheduleCreateParams, caller: Caller) -> dict[str, Any]:
    host, zone = caller.get(HOST), _settings(caller).zone
    given = params.model_dump(by_alias=True, exclude_none=True)
    agent = caller.get(CONFIGURED).settings.agent(given.pop("agentId", None))
    caller.get(CONFIGURED).check_model(params.model)
    job = new_job(given, job_id=host.ids.new(), agent_id=agent.id, now=host.clock.now(), zone=zone)
    return {"job": _info(await caller.get(SCHEDULER).put(job), zone)}


async def schedule_update(params: wire.ScheduleUpdateParams, caller: Caller) -> dict[str, Any]:
    scheduler, zone = caller.get(SCHEDULER), _settings(caller).zone
    now = await scheduler.get(params.job_id)
    given = params.model_dump(by_alias=True, exclude_none=True, exclude={"job_id"})
    caller.get(CONFIGURED).check_model(params.model)
    clock = caller.get(HOST).clock

    def change(job: Job) -> Job:
        return changed_job(job, given, now=clock.now(), zone=zone)

    return {"job": _info(await update(scheduler, now, change, enables=params.enabled is True), zone)}


async def update(scheduler: Scheduler, old: JobNow, change: Callable[[Job], Job], *, enables: bool) -> JobNow:
    """Changes the job; one that failed too often runs again if it is enabled.

    Raises: NotFound, InvalidRequest, StorageError.
    """
    change(old.job)  # what is wrong with it changes nothing
    if enables and old.state.is_disabled:
        await scheduler.allow_again(old.job.id)
    return await scheduler.update(old.job.id, change)


async def schedule_cancel(params: wire.ScheduleJobParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SCHEDULER).cancel(params.job_id)
    return {"ok": True}


async def schedule_run_now(params: wire.ScheduleJobParams, caller: Caller) -> dict[str, Any]:
    return {"key": await caller.get(SCHEDULER).run_now(params.job_id)}


async def schedule_history(params: wire.ScheduleHistoryParams, caller: Caller) -> dict[str, Any]:
    scheduler, since = caller.get(SCHEDULER), _moment("since", params.since)
    lines = await scheduler.history(params.job_id, params.limit, params.before, since)
    return {"entries": [_entry(line) for line in lines]}


_NEVER = datetime.max.replace(tzinfo=UTC)


def _turn(now: JobNow) -> tuple[bool, datetime]:
    """What runs comes first, then what runs next, then what does not run by itself."""
    return now.state.running is None, now.next_at or _NEVER


def _holds(job: Job, words: list[str]) -> bool:
    text = f"{job.name} {job.message or ''} {job.skill or ''}".casefold()
    return all(word in text for word in words)


def _moment(name: str, text: str | None) -> datetime | None:
    """Raises: InvalidRequest."""
    try:
        return moment_of(text) if text is not None else None
    except ValueError as error:
        raise InvalidRequest(
            f"`{name}`: {text!r:.60} is not a time such as 2026-05-01T09:00:00Z.", field=name
        ) from error


def _info(now: JobNow, zone: str) -> dict[str, Any]:
    job, state = now.job, now.state
    whole = job.model_dump(mode="json", by_alias=True, exclude={"schedule"})
    is_disabled = state.is_disabled
    return {
        **whole,
        **_schedule(job.schedule),
        "when": describe(job, zone),
        "nextAt": text_of(now.next_at) if now.next_at else None,
        "lastRunAt": text_of(state.last_run) if state.last_run else None,
        "running": state.running is not None,
        "recent": list(state.recent),
        "failures": state.failures,
        "missed": state.missed,
        "disabled": is_disabled,
    }


def _schedule(schedule: At | Every | Cron) -> dict[str, Any]:
    match schedule:
        case At(at=at):
            return {"kind": "at", "at": text_of(at)}
        case Every(every_ms=every_ms):
            return {"kind": "every", "everyMs": every_ms}
        case Cron(cron=cron, tz=tz):
            return {"kind": "cron", "cron": cron, "tz": tz}


_NAMES = ("kind", "at", "key", "name", "planned", "finishedAt", "outcome", "text", "error", "hint", "denied")
_MORE_NAMES = ("sessionKey", "runId", "until", "count", "because")


def _entry(line: dict[str, Any]) -> dict[str, Any]:
    kept = {name: line[name] for name in (*_NAMES, *_MORE_NAMES) if line.get(name) is not None}
    return {**kept, "jobId": line["job"], **({"since": line["from"]} if line["kind"] == "missed" else {})}


OPERATIONS = (
    Operation("schedule.list", wire.ScheduleListParams, wire.ScheduleList, schedule_list, "read", dispatch="beside"),
    Operation(
        "schedule.preview",
        wire.SchedulePreviewParams,
        wire.SchedulePreview,
        schedule_preview,
        "read",
        dispatch="beside",
    ),
    Operation("schedule.get", wire.ScheduleJobParams, wire.ScheduleJob, schedule_get, "read", dispatch="beside"),
    Operation("schedule.create", wire.ScheduleCreateParams, wire.ScheduleJob, schedule_create, "admin"),
    Operation("schedule.update", wire.ScheduleUpdateParams, wire.ScheduleJob, schedule_update, "admin"),
    Operation("schedule.cancel", wire.ScheduleJobParams, Ok, schedule_cancel, "admin"),
    Operation("schedule.runNow", wire.ScheduleJobParams, wire.ScheduleStarted, schedule_run_now, "admin"),
    Operation(
        "schedule.history",
        wire.ScheduleHistoryParams,
        wire.ScheduleHistory,
        schedule_history,
        "read",
        dispatch="beside",
    ),
)
