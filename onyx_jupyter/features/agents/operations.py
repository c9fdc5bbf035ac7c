"""`agents.list`: the agents that the user can talk to."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.agents.wire import Agents
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


async def agents_list(params: NoParams, caller: Caller) -> dict[str, Any]:
    config = caller.get(CONFIGURED).settings.config
    agents = [
        {
            "id": agent.id,
            "name": agent.name,
            "model": caller.get(CONFIGURED).model_of(agent),
            "default": agent.id == config.default_agent().id,
            "workspace": str(caller.get(AGENTS).agent(agent.id).workspace),
        }
        for agent in config.agents.items
    ]
    return {"agents": agents}


OPERATIONS = (Operation("agents.list", NoParams, Agents, agents_list, "read"),)
