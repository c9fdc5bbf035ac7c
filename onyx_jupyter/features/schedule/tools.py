"""The tools with which an agent schedules work, and shows, changes and cancels it. Each change is approved."""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.schedule.job_fields import changed_job, describe, find_job, new_job, next_times
from onyx_jupyter.schedule.jobs import MAX_NAME_CHARS, MAX_TEXT_CHARS, Job
from onyx_jupyter.schedule.scheduler import JobNow, Scheduler
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_LISTED = 50
FAMILY = "schedule"
UNATTENDED = "the job may then use these tools with nobody there to ask"


class CallArguments(Arguments):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class _JobArguments(Arguments):
    at: str | None = Field(default=None, description="2026-05-01T09:00, or from now on: +10m, +2h.")
    every_ms: int | None = Field(default=None, ge=1000)
    cron: str | None = Field(default=None, description="Five fields, or @daily.")
    tz: str | None = Field(default=None, description="Europe/Vienna. Default: the person's.")
    message: str | None = Field(
        default=None, min_length=1, max_length=MAX_TEXT_CHARS, description="What to do, understandable by itself."
    )
    name: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_CHARS)
    session_target: Literal["main", "isolated"] | None = Field(
        default=None, description="main: with the conversation's context. Default: by content."
    )
    tool_calls: list[CallArguments] | None = Field(default=None, description="Instead of a message: calls to make.")
    synthesis_prompt: str | None = Field(default=None, description="What to make of their results.")
    skill: str | None = Field(default=None, description="Instead of a message: a notebook skill.")
    parameters: dict[str, Any] | None = Field(default=None, description="Of the skill.")
    model: str | None = None
    policy: list[str] | None = Field(
        default=None, description="Tools and families it may use with nobody there; all others that ask are denied."
    )
    wake: Literal["now", "heartbeat"] | None = None
    catch_up: bool | None = Field(default=None, description="Make up for a missed run.")


class ScheduleArguments(_JobArguments):
    kind: Literal["at", "every", "cron"]


class ListJobsArguments(Arguments):
    query: str | None = Field(default=None, description="Words in its name or message.")


class UpdateJobArguments(_JobArguments):
    job: str = Field(min_length=1, description="Its id, or words that only it contains.")
    enabled: bool | None = None


class CancelJobArguments(Arguments):
    job: str = Field(min_length=1, description="Its id, or words that only it contains.")


def _scheduler(context: ToolContext) -> Scheduler:
    if context.scheduler is None:
        raise ToolError("Nothing can be scheduled here.")
    return context.scheduler()


def _new(arguments: ScheduleArguments, context: ToolContext) -> Job:
    """The same job for the card and for the call. Calls of different sessions may have the same id."""
    digest = hashlib.sha256(f"{context.run_id} {context.call_id}".encode()).hexdigest()
    return new_job(
        arguments.shown(),
        job_id=f"{context.run_id}-{digest[:8]}",
        agent_id=context.agent_id,
        now=context.clock.now(),
        zone=context.time_zone,
    )


async def _named(named: str, context: ToolContext) -> JobNow:
    """One of the agent's own jobs. Raises: NotFound, InvalidRequest with the candidates."""
    jobs, _ = await _scheduler(context).list()
    own = {one.job.id: one for one in jobs if one.job.agent_id == context.agent_id}
    return own[find_job((one.job for one in own.values()), named).id]


def _card(job: Job, summary: str, context: ToolContext, verb: str) -> ToolPreview:
    whole = job.to_json()
    details = {name: value for name, value in whole.items() if name not in ("id", "agentId", "createdAt", "schedule")}
    if job.schedule.kind == "at":
        details["at"] = whole["schedule"]["at"] if verb != "schedule" else None
    details = {name: value for name, value in details.items() if value is not None}
    return ToolPreview(
        summary=summary,
        details={**details, "when": describe(job, context.time_zone)} if job.schedule.kind != "at" else details,
        grant=f"{verb} {job.id} {sorted(details.items())!r}",
        grant_text="exactly this job",
        must_ask=UNATTENDED if job.policy else "",
    )


async def _schedule_preview(arguments: ScheduleArguments, context: ToolContext) -> ToolPreview:
    job = _new(arguments, context)
    preview = _card(job, f"Schedule “{job.name}”", context, "schedule")
    given = {"at": arguments.at} if arguments.at else {}
    return ToolPreview(
        summary=preview.summary,
        details={**preview.details, **given},
        grant=preview.grant,
        grant_text=preview.grant_text,
        must_ask=preview.must_ask,
    )


@tool(
    name="schedule",
    activity=Activity("schedule_job", "name", otherwise="a job"),
    arguments=ScheduleArguments,
    description="Schedules a job: once (at), repeatedly (every), or by a cron expression. It starts by itself, even if "
    "nobody is there.",
    risk="write",
    family=FAMILY,
    deferred=True,
    at_a_glance="{kind: at|every|cron, at|everyMs|cron, message}",
    preview=_schedule_preview,
)
async def schedule_tool(arguments: ScheduleArguments, context: ToolContext) -> ToolResult:
    """Adds a job of the agent."""
    now = await _scheduler(context).put(_new(arguments, context))
    return ToolResult(_told(now, context), origin="own", data={"jobId": now.job.id})


@tool(
    name="list_jobs",
    activity=Activity("list_scheduled_jobs", "query"),
    arguments=ListJobsArguments,
    description="Lists your scheduled jobs: id, name, when, next run, newest outcomes.",
    risk="read",
    family=FAMILY,
    deferred=True,
    at_a_glance="{query?}",
)
async def list_jobs_tool(arguments: ListJobsArguments, context: ToolContext) -> ToolResult:
    """Changes nothing."""
    words = (arguments.query or "").casefold().split()
    jobs, _ = await _scheduler(context).list()
    own = [one for one in jobs if one.job.agent_id == context.agent_id]
    fitting = [one for one in own if all(word in f"{one.job.name} {one.job.message}".casefold() for word in words)]
    if not fitting:
        return ToolResult("There is no such job." if words else "There are no scheduled jobs.", origin="own")
    lines = [_line(one, context) for one in fitting[:MAX_LISTED]]
    left = len(fitting) - len(lines)
    tail = f"\n[{left} more; a query finds them]" if left else ""
    return ToolResult("\n".join(lines) + tail, truncated=bool(left), external="the list of jobs", own_tail=tail)


async def _update_preview(arguments: UpdateJobArguments, context: ToolContext) -> ToolPreview:
    job = _changed(arguments, (await _named(arguments.job, context)).job, context)
    return _card(job, f"Change the job “{job.name}”", context, "update_job")


def _changed(arguments: UpdateJobArguments, job: Job, context: ToolContext) -> Job:
    given = {name: value for name, value in arguments.shown().items() if name != "job"}
    return changed_job(job, given, now=context.clock.now(), zone=context.time_zone)


@tool(
    name="update_job",
    activity=Activity("update_job", "job"),
    arguments=UpdateJobArguments,
    description="Changes, pauses (enabled: false) or resumes a scheduled job.",
    risk="write",
    family=FAMILY,
    deferred=True,
    at_a_glance="{job, enabled?, …}",
    preview=_update_preview,
)
async def update_job_tool(arguments: UpdateJobArguments, context: ToolContext) -> ToolResult:
    """Changes one of the agent's jobs."""
    now = await _named(arguments.job, context)
    scheduler = _scheduler(context)
    _changed(arguments, now.job, context)  # what is wrong with it changes nothing
    if arguments.enabled and now.state.is_disabled:
        await scheduler.allow_again(now.job.id)
    changed = await scheduler.update(now.job.id, lambda job: _changed(arguments, job, context))
    return ToolResult(_told(changed, context), origin="own", data={"jobId": changed.job.id})


async def _cancel_preview(arguments: CancelJobArguments, context: ToolContext) -> ToolPreview:
    job = (await _named(arguments.job, context)).job
    return _card(job, f"Cancel the job “{job.name}”", context, "cancel_job")


@tool(
    name="cancel_job",
    activity=Activity("cancel_job", "job"),
    arguments=CancelJobArguments,
    description="Removes a scheduled job. Its history stays.",
    risk="write",
    family=FAMILY,
    deferred=True,
    at_a_glance="{job}",
    preview=_cancel_preview,
)
async def cancel_job_tool(arguments: CancelJobArguments, context: ToolContext) -> ToolResult:
    """Removes one of the agent's jobs."""
    job = await _scheduler(context).cancel((await _named(arguments.job, context)).job.id)
    return ToolResult(f"The job {job.id} is cancelled.", origin="own", data={"jobId": job.id})


def _told(now: JobNow, context: ToolContext) -> str:
    """Without the name, which may quote anyone."""
    job = now.job
    times = next_times(job, context.clock.now(), context.time_zone) if job.enabled else []
    where = f"It runs in the {job.session_target} session: {job.target_reason}." if job.target_reason else ""
    lines = [
        f"The job {job.id} runs {describe(job, context.time_zone)}.",
        f"Next: {', '.join(times)}." if times else "It is paused." if not job.enabled else "It does not run again.",
        where,
    ]
    return "\n".join(line for line in lines if line)


def _line(now: JobNow, context: ToolContext) -> str:
    job, state = now.job, now.state
    next_at = next_times(job, context.clock.now(), context.time_zone, 1) if job.enabled else []
    when = "stopped after failures" if state.is_disabled else f"next {next_at[0]}" if next_at else "paused or over"
    recent = f" | last: {', '.join(list(state.recent)[-3:])}" if state.recent else ""
    return f"{job.id} | {job.name} | {describe(job, context.time_zone)} | {when}{recent}"


SCHEDULE_TOOLS = (schedule_tool, list_jobs_tool, update_job_tool, cancel_job_tool)
