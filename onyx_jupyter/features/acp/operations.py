"""`acp.*`: which agents there are, and what can be chosen for the one at work in a session."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any

from onyx_jupyter.acp.connection import AgentConnection
from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.features.acp.keys import ACP_AGENTS
from onyx_jupyter.features.acp.wire import AcpAgentList, AcpOptions, AcpSessionParams, AcpSetOptionParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


async def agents(params: NoParams, caller: Caller) -> dict[str, Any]:
    service = caller.get(ACP_AGENTS)
    configured, commands = service.settings.agents, service.commands().values()

    def found() -> list[dict[str, Any]]:
        return [_agent(one, is_configured=one.name in configured) for one in commands]

    return {"agents": await asyncio.to_thread(found)}


async def options(params: AcpSessionParams, caller: Caller) -> dict[str, Any]:
    return _options(caller.get(ACP_AGENTS).at_work(params.session_key))


async def set_option(params: AcpSetOptionParams, caller: Caller) -> dict[str, Any]:
    service = caller.get(ACP_AGENTS)
    await service.set_option(params.session_key, params.option, params.value)
    return _options(service.at_work(params.session_key))


def _agent(command: AgentCommand, *, is_configured: bool) -> dict[str, Any]:
    return {
        "name": command.name,
        "title": command.title,
        "model": command.model_id,
        "installed": command.is_installed,
        "configured": is_configured,
        "command": shlex.join(command.command[:1] if is_configured else command.command),
        "install": command.install,
    }


def _options(agent: AgentConnection | None) -> dict[str, Any]:
    if agent is None:
        return {"options": []}
    return {
        "agent": agent.agent.name,
        "options": [
            {
                "id": one.id,
                "name": one.name,
                "category": one.category,
                "value": one.value,
                "choices": [{"value": value, "name": name} for value, name in one.choices],
            }
            for one in agent.options
        ],
    }


OPERATIONS = (
    Operation("acp.agents", NoParams, AcpAgentList, agents, "read", dispatch="beside"),
    Operation("acp.options", AcpSessionParams, AcpOptions, options, "read"),
    # A mode may let the agent work without asking, so it takes what an approval takes.
    Operation("acp.setOption", AcpSetOptionParams, AcpOptions, set_option, "admin", dispatch="beside"),
)
