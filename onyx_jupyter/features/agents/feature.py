"""The server's agents."""

from __future__ import annotations

from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.features.agents.operations import OPERATIONS
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import AGENTS, CONFIGURED, HOST, MEMORY_FILES, TOOLSETS

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


FEATURE = Feature(
    "agents",
    make,
    requires=(HOST, TOOLSETS, CONFIGURED, MEMORY_FILES),
    provides=(AGENTS,),
    operations=OPERATIONS,
    essential=True,
)
