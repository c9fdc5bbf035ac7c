"""Other agents as the mind of a session, by the Agent Client Protocol."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.features.acp.agents import AcpAgents
from onyx_jupyter.features.acp.keys import ACP_AGENTS
from onyx_jupyter.features.acp.operations import OPERATIONS
from onyx_jupyter.features.acp.settings import AcpSettings
from onyx_jupyter.features.acp.wire import AcpUpdatedData
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import CONFIGURED, EXTERNAL_AGENT, EXTERNAL_AGENT_MODELS, STREAMS

UPDATED = "acp.updated"


def make(parts: Parts) -> Built:
    streams = parts.get(STREAMS)
    agents = AcpAgents(parts.get(CONFIGURED), changed=lambda key: streams.broadcast(UPDATED, {"sessionKey": key}))

    async def health() -> Components:
        """Only what was configured is checked: nobody misses an agent that they do not use."""
        configured, commands = agents.settings.agents, agents.commands()
        missing = await asyncio.to_thread(lambda: [name for name in configured if not commands[name].is_installed])
        if not configured:
            return {}
        if not missing:
            return {"acp": {"ok": True, "message": ", ".join(configured)}}
        programs = ", ".join(f"{commands[name].command[0]} ({name})" for name in missing)
        return {
            "acp": {
                "ok": False,
                "message": f"Not found: {programs}.",
                "hint": "Install it, or correct acp.agents in onyx.json.",
            }
        }

    given: dict[Key[Any], Any] = {
        ACP_AGENTS: agents,
        EXTERNAL_AGENT: agents.answering,
        EXTERNAL_AGENT_MODELS: agents.models,
    }
    return Built(given, close=agents.close, health=health)


FEATURE = Feature(
    "acp",
    make,
    requires=(CONFIGURED, STREAMS),
    provides=(ACP_AGENTS, EXTERNAL_AGENT, EXTERNAL_AGENT_MODELS),
    settings=AcpSettings,
    operations=OPERATIONS,
    events=(EventType(UPDATED, AcpUpdatedData),),
)
