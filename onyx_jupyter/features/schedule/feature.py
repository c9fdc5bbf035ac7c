"""Scheduled jobs: the scheduler on this home's files, what a run of a job is, and what is announced of it."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from datetime import datetime

from onyx_jupyter.config.sections import section
from onyx_jupyter.errors import NotFound
from onyx_jupyter.features.schedule.heartbeat_operations import HEARTBEAT_OPERATIONS
from onyx_jupyter.features.schedule.heartbeats import HEARTBEAT_LOG, HEARTBEATS, Beat, Heartbeats
from onyx_jupyter.features.schedule.job_runs import JobRuns
from onyx_jupyter.features.schedule.kept_sessions import KeptSessions
from onyx_jupyter.features.schedule.operations import OPERATIONS
from onyx_jupyter.features.schedule.settings import ScheduleSettings
from onyx_jupyter.features.schedule.tools import FAMILY, SCHEDULE_TOOLS
from onyx_jupyter.features.schedule.unattended_runs import UnattendedRuns
from onyx_jupyter.features.schedule.wire import ScheduleFinishedData, ScheduleHeartbeatData, ScheduleUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import (
    AGENTS,
    CONFIGURED,
    HOST,
    RUNS,
    SCHEDULER,
    SEND_MESSAGE,
    SESSIONS,
    STREAMS,
    TIME_ZONE,
)
from onyx_jupyter.schedule.heartbeat import HeartbeatLog
from onyx_jupyter.schedule.job_state import text_of
from onyx_jupyter.schedule.job_store import JobStore
from onyx_jupyter.schedule.jobs import Job
from onyx_jupyter.schedule.run_log import RunLog
from onyx_jupyter.schedule.scheduler import Finished, Scheduler
from onyx_jupyter.toolsets.toolset import FixedToolset

ALL = sys.maxsize


def make(parts: Parts) -> Built:
    host, configured, streams = parts.get(HOST), parts.get(CONFIGURED), parts.get(STREAMS)

    def settings() -> ScheduleSettings:
        return section(configured.settings.config, "schedule", ScheduleSettings)

    def changed(job_id: str | None) -> None:
        streams.broadcast("schedule.updated", {"jobId": job_id})

    def finished(ended: Finished) -> None:
        job, facts = ended.occurrence.job, ended.result.facts
        told = {name: facts[name] for name in ("text", "error", "denied", "sessionKey") if name in facts}
        about = {"jobId": job.id, "name": job.name, "key": ended.occurrence.key, "outcome": ended.result.outcome}
        state = {"at": text_of(ended.at), "alert": ended.alert, "disabled": ended.disabled}
        streams.broadcast("schedule.finished", {**about, **told, **state})

    runs_of_sessions = parts.get(RUNS)
    unattended = UnattendedRuns(
        parts.get(SESSIONS),
        streams,
        parts.get(SEND_MESSAGE),
        activity=runs_of_sessions.activity,
        is_under_way=runs_of_sessions.is_under_way,
    )

    def beaten(beat: Beat, at: datetime, is_quiet: bool) -> None:
        told = {name: beat.facts[name] for name in ("text", "error", "sessionKey") if name in beat.facts}
        streams.broadcast(
            "schedule.heartbeat",
            {
                "agentId": beat.agent_id,
                "at": text_of(at),
                "outcome": beat.outcome,
                "acts": beat.acts,
                "quiet": is_quiet,
                **told,
            },
        )

    heartbeat_log = HeartbeatLog(host.home.schedule / "heartbeat.jsonl")

    async def sessions_of_beats() -> list[tuple[str, str]]:
        beats = await asyncio.to_thread(heartbeat_log.newest, ALL)
        return [(beat["agentId"], beat["sessionKey"]) for beat in beats if "sessionKey" in beat]

    heartbeats = Heartbeats(
        configured,
        parts.get(AGENTS),
        unattended,
        settings,
        heartbeat_log,
        host.clock,
        is_busy=lambda session_key: runs_of_sessions.activity(session_key) != "idle",
        abort=runs_of_sessions.abort_session,
        on_begin=lambda: changed(None),
        on_beat=beaten,
        ended_in=KeptSessions(unattended, sessions_of_beats).ended,
    )

    async def sessions_of_jobs() -> list[tuple[str, str]]:
        return [(run["job"], run["sessionKey"]) for run in await scheduler.history(None, ALL) if "sessionKey" in run]

    async def job_now(job_id: str) -> Job | None:
        with suppress(NotFound):
            return (await scheduler.get(job_id)).job
        return None

    runs = JobRuns(
        configured,
        parts.get(AGENTS),
        unattended,
        settings,
        host.clock,
        heartbeats.next_beat,
        ended_in=KeptSessions(unattended, sessions_of_jobs).ended,
        job_now=job_now,
    )
    scheduler = Scheduler(
        JobStore(host.home.schedule / "jobs.json"),
        RunLog(host.home.schedule / "runs.jsonl"),
        runs.run,
        host.clock,
        on_change=changed,
        on_finished=finished,
    )

    async def health() -> Components:
        if scheduler.problem is None:
            return {}
        return {"schedule": {"ok": False, "message": f"No scheduled job starts: {scheduler.problem}"}}

    async def begin() -> None:
        await heartbeats.begin()
        await scheduler.begin()

    async def close() -> None:
        await heartbeats.close()
        await scheduler.close()

    return Built(
        {
            SCHEDULER: scheduler,
            HEARTBEATS: heartbeats,
            HEARTBEAT_LOG: heartbeat_log,
            TIME_ZONE: lambda: settings().zone,
        },
        begin_as_owner=begin,
        close=close,
        health=health,
    )


FEATURE = Feature(
    "schedule",
    make,
    requires=(HOST, CONFIGURED, AGENTS, RUNS, SESSIONS, STREAMS, SEND_MESSAGE),
    provides=(SCHEDULER, HEARTBEATS, HEARTBEAT_LOG, TIME_ZONE),
    settings=ScheduleSettings,
    operations=(*OPERATIONS, *HEARTBEAT_OPERATIONS),
    events=(
        EventType("schedule.updated", ScheduleUpdatedData),
        EventType("schedule.finished", ScheduleFinishedData),
        EventType("schedule.heartbeat", ScheduleHeartbeatData),
    ),
    toolsets=(FixedToolset(FAMILY, SCHEDULE_TOOLS),),
)
