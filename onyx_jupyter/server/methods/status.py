"""`health.check` and `agents.list`: how things stand."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams
from onyx_jupyter.server.caller import Caller
from onyx_jupyter.server.wire.status import Agents, Health


async def health_check(params: NoParams, caller: Caller) -> dict[str, Any]:
    return await caller.health()


async def agents_list(params: NoParams, caller: Caller) -> dict[str, Any]:
    onyx = caller.onyx
    config = onyx.settings.config
    agents = [
        {
            "id": agent.id,
            "name": agent.name,
            "model": onyx.configured.model_of(agent),
            "default": agent.id == config.default_agent().id,
            "workspace": str(onyx.agent(agent.id).workspace),
        }
        for agent in config.agents.items
    ]
    return {"agents": agents}


OPERATIONS = (
    Operation("health.check", NoParams, Health, health_check, "read", before_ready=True),
    Operation("agents.list", NoParams, Agents, agents_list, "read"),
)
