"""Scheduled jobs on the socket."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire
from onyx_jupyter.schedule.job_state import Outcome
from onyx_jupyter.schedule.jobs import MAX_NAME_CHARS, MAX_TEXT_CHARS, SessionTarget, Wake
from onyx_jupyter.schedule.run_log import MissedBecause


class CallParams(Wire):
    tool: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class JobFields(Wire):
    """`at` is ISO 8601 (without an offset: in `tz`) or `+10m`; one of `at`, `everyMs` and `cron`.

    One of `message`, `toolCalls` and `skill`. `policy` names the tools and families (`group:fs`) that the job may use
    with nobody there.
    """

    name: str | None = Field(default=None, min_length=1, max_length=MAX_NAME_CHARS)
    at: str | None = None
    every_ms: int | None = Field(default=None, ge=1000)
    cron: str | None = None
    tz: str | None = None
    message: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT_CHARS)
    tool_calls: list[CallParams] | None = None
    skill: str | None = None
    parameters: dict[str, Any] | None = None
    synthesis_prompt: str | None = Field(default=None, min_length=1, max_length=MAX_TEXT_CHARS)
    session_target: SessionTarget | None = None
    model: str | None = None
    policy: list[str] | None = None
    wake: Wake | None = None
    catch_up: bool | None = None
    enabled: bool | None = None


class ScheduleCreateParams(JobFields):
    agent_id: str | None = None


class ScheduleUpdateParams(JobFields):
    """`enabled: true` also lets a job run again that failed too often."""

    job_id: str


class SchedulePreviewParams(JobFields):
    """Of a new job, or of the changes to `jobId`."""

    job_id: str | None = None


class SchedulePreview(Wire):
    """`when` it would run in words, its `next` times as clocks there show them, and in which session, and why."""

    when: str
    next: list[str]
    session_target: SessionTarget
    target_reason: str


class ScheduleJobParams(Wire):
    job_id: str


class ScheduleListParams(Wire):
    agent_id: str | None = None
    query: str | None = None
    limit: int = Field(default=100, ge=1, le=10_000)
    offset: int = Field(default=0, ge=0)


class ScheduleHistoryParams(Wire):
    """Newest first; of all jobs without a `jobId`. `before` is an entry's `at`, for those before it.

    `since`, an ISO 8601 time in UTC, leaves out what ended before it, and what has not ended.
    """

    job_id: str | None = None
    limit: int = Field(default=50, ge=1, le=1000)
    before: str | None = None
    since: str | None = None


class JobInfo(Wire):
    """A job as kept, `when` it runs in words, and its state.

    `recent` are its newest outcomes, oldest first; `disabled`: it failed too often to run by itself.
    """

    id: str
    name: str
    agent_id: str
    kind: Literal["at", "every", "cron"]
    at: str | None = None
    every_ms: int | None = None
    cron: str | None = None
    tz: str | None = None
    when: str
    message: str | None = None
    tool_calls: list[CallParams]
    skill: str | None = None
    parameters: dict[str, Any]
    synthesis_prompt: str | None = None
    session_target: SessionTarget
    target_reason: str
    model: str | None = None
    policy: list[str]
    wake: Wake
    catch_up: bool
    enabled: bool
    created_at: str
    next_at: str | None = None
    last_run_at: str | None = None
    running: bool
    recent: list[Outcome]
    failures: int
    missed: int
    disabled: bool


class ScheduleList(Wire):
    """`runsHere`: this server runs the jobs; else another one on the same home does. `problems` of the file."""

    jobs: list[JobInfo]
    total: int
    runs_here: bool
    problems: list[str]


class ScheduleJob(Wire):
    job: JobInfo


class ScheduleStarted(Wire):
    key: str


class HistoryEntry(Wire):
    """A run (without `outcome` while it goes on), or planned times that were missed: `count` at least, and why.

    `denied` are tools that the job's policy did not allow: allow them there, and run it again.
    """

    kind: Literal["started", "missed"]
    job_id: str
    at: str
    key: str | None = None
    name: str | None = None
    planned: str | None = None
    finished_at: str | None = None
    outcome: Outcome | None = None
    text: str | None = None
    error: str | None = None
    hint: str | None = None
    denied: list[str] = Field(default_factory=list)
    session_key: str | None = None
    run_id: str | None = None
    since: str | None = None
    until: str | None = None
    count: int | None = None
    because: MissedBecause | None = None


class ScheduleHistory(Wire):
    entries: list[HistoryEntry]


class ScheduleUpdatedData(Wire):
    """A job has been added, changed, removed, or has begun or ended; null: several."""

    job_id: str | None = None


class ScheduleFinishedData(Wire):
    """A run has ended, `at` then. `alert`: it has failed for the second time in a row, or for good.

    `disabled`: it has failed so often that it no longer runs by itself. Nobody needs to hear of a `silent` one.
    """

    job_id: str
    name: str
    key: str
    at: str
    outcome: Outcome
    text: str | None = None
    error: str | None = None
    denied: list[str] = Field(default_factory=list)
    session_key: str | None = None
    alert: bool
    disabled: bool


class HeartbeatsParams(Wire):
    limit: int = Field(default=50, ge=1, le=1000)


class HeartbeatEntry(Wire):
    """A beat that asked a model. `quiet`: it said something that waits here; `isCut`: HEARTBEAT.md did not fit."""

    at: str
    agent_id: str
    outcome: Outcome
    text: str | None = None
    error: str | None = None
    denied: list[str] = Field(default_factory=list)
    session_key: str | None = None
    run_id: str | None = None
    quiet: bool = False
    is_cut: bool = False


class Heartbeats(Wire):
    """Newest first."""

    entries: list[HeartbeatEntry]


class HeartbeatState(Wire):
    """The heartbeat of one agent. `hasTasks`: its HEARTBEAT.md holds something; `isCut`: more than a beat takes.

    `ownKeys` are those that the agent has in `agents.list`; they count before those of `heartbeat`.
    """

    agent_id: str
    agent_name: str
    enabled: bool
    interval_ms: int
    active_hours: str | None = None
    quiet_mode: bool
    own_keys: list[str]
    has_tasks: bool
    is_cut: bool
    next_at: str | None = None
    running: bool


class HeartbeatStates(Wire):
    """`runsHere`: the agents beat on this server; else on another one on the same home."""

    agents: list[HeartbeatState]
    runs_here: bool


class ScheduleWakeParams(Wire):
    """`reason`, in words for the agent, stands in the beat's message."""

    agent_id: str | None = None
    reason: str = Field(default="a person asks to look now", min_length=1, max_length=300)


class ScheduleWoken(Wire):
    """When it looks: a beat follows the one before it after 30 s at the earliest."""

    at: str


class ScheduleHeartbeatData(Wire):
    """A beat that asked a model has ended; it began `at` then.

    `acts`: it has something to say; `quiet`: that waits in the log of heartbeats.
    """

    agent_id: str
    at: str
    outcome: Outcome
    acts: bool
    quiet: bool
    text: str | None = None
    error: str | None = None
    session_key: str | None = None
