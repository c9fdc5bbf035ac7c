"""The agents of one server."""

from __future__ import annotations

from onyx_jupyter.features.agents.operations import OPERATIONS
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.parts import Parts
from onyx_jupyter.runtime.agents import Agents
from onyx_jupyter.runtime.keys import AGENTS, CONFIGURED, CONTRIBUTIONS, HOST, MEMORIES


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    tools = host.tools or parts.get(CONTRIBUTIONS).tools
    agents = Agents(parts.get(CONFIGURED), parts.get(MEMORIES).files, tools, host.server_root, host.drive)
    return Built({AGENTS: agents})


FEATURE = Feature(
    "agents",
    make,
    requires=(HOST, CONTRIBUTIONS, CONFIGURED, MEMORIES),
    provides=(AGENTS,),
    operations=OPERATIONS,
    essential=True,
)
