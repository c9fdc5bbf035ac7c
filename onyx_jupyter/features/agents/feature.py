"""The server's agents."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.features.agents import wire
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED, HOST, MEMORY_FILES, TOOLSETS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams

OWN_TOOLS = "Correct or remove it; each new conversation checks again."


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    toolsets = parts.get(TOOLSETS)
    agents = Agents(parts.get(CONFIGURED), parts.get(MEMORY_FILES), toolsets.known, host.server_root, host.drive)

    async def warm() -> None:
        await toolsets.of(agents.agent(None))

    async def health() -> Components:
        """Empty if all is well. Queries the toolsets first, because their problems are only known afterwards."""
        await toolsets.of(agents.agent(None))
        if not (problems := toolsets.problems()):
            return {}
        return {"tools": {"ok": False, "message": " ".join(problems), "hint": OWN_TOOLS}}

    return Built({AGENTS: agents}, warm=warm, health=health)


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


FEATURE = Feature(
    "agents",
    make,
    requires=(HOST, TOOLSETS, CONFIGURED, MEMORY_FILES),
    provides=(AGENTS,),
    operations=(Operation("agents.list", NoParams, wire.Agents, agents_list, "read"),),
    essential=True,
)
