"""`schedule.heartbeat…` and `schedule.wake`: what the agents look after by themselves."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.events import to_camel
from onyx_jupyter.features.schedule import wire
from onyx_jupyter.features.schedule.heartbeats import (
    FILE,
    HEARTBEAT_LOG,
    HEARTBEATS,
    heartbeat_of,
    own_heartbeat,
    tasks_of,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams
from onyx_jupyter.schedule.heartbeat import MAX_TASKS_CHARS
from onyx_jupyter.schedule.job_state import text_of
from onyx_jupyter.schedule.scheduler import NOT_OWNER


async def schedule_heartbeats(params: wire.HeartbeatsParams, caller: Caller) -> dict[str, Any]:
    return {"entries": await asyncio.to_thread(caller.get(HEARTBEAT_LOG).newest, params.limit)}


async def heartbeat_states(params: NoParams, caller: Caller) -> dict[str, Any]:
    agents = caller.get(CONFIGURED).settings.config.agents.items
    states = [await _state(agent, caller) for agent in agents]
    return {"agents": states, "runsHere": caller.get(HEARTBEATS).is_owner}


async def wake(params: wire.ScheduleWakeParams, caller: Caller) -> dict[str, Any]:
    """Refuses where the agent would look at nothing, so that nobody waits for it."""
    config, heartbeats = caller.get(CONFIGURED).settings.config, caller.get(HEARTBEATS)
    agent = caller.get(CONFIGURED).settings.agent(params.agent_id)
    if not heartbeats.is_owner:
        raise InvalidRequest(NOT_OWNER)
    if not heartbeat_of(config, agent).enabled:
        raise InvalidRequest(f"Heartbeats of {agent.id!r} are off. `heartbeat.enabled` in onyx.json turns them on.")
    if await _tasks(agent, caller) is None:
        raise InvalidRequest(f"{FILE} of {agent.id!r} holds nothing to look after. Write a task into it first.")
    return {"at": text_of(heartbeats.wake(agent.id, params.reason))}


async def _state(agent: AgentConfig, caller: Caller) -> dict[str, Any]:
    heartbeats = caller.get(HEARTBEATS)
    heartbeat, tasks = heartbeat_of(caller.get(CONFIGURED).settings.config, agent), await _tasks(agent, caller)
    hours, next_at = heartbeat.active_hours, heartbeats.next_of(agent.id)
    return {
        "agentId": agent.id,
        "agentName": agent.name,
        "enabled": heartbeat.enabled,
        "intervalMs": heartbeat.interval_ms,
        "activeHours": f"{hours.start}–{hours.end}{f' {hours.tz}' if hours.tz else ''}" if hours else None,
        "quietMode": heartbeat.quiet_mode,
        "ownKeys": [to_camel(name) for name in own_heartbeat(agent)],
        "hasTasks": tasks is not None,
        "isCut": tasks is not None and len(tasks) > MAX_TASKS_CHARS,
        "nextAt": text_of(next_at) if next_at and heartbeat.enabled else None,
        "running": heartbeats.beating == agent.id,
    }


async def _tasks(agent: AgentConfig, caller: Caller) -> str | None:
    return await asyncio.to_thread(tasks_of, caller.get(AGENTS).agent(agent.id).workspace)


HEARTBEAT_OPERATIONS = (
    Operation(
        "schedule.heartbeats", wire.HeartbeatsParams, wire.Heartbeats, schedule_heartbeats, "read", dispatch="beside"
    ),
    Operation("schedule.heartbeatStates", NoParams, wire.HeartbeatStates, heartbeat_states, "read", dispatch="beside"),
    Operation("schedule.wake", wire.ScheduleWakeParams, wire.ScheduleWoken, wake, "admin"),
)
