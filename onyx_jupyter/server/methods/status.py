"""`health.check` and `agents.list`: how things stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onyx_jupyter.server.wire import NoParams

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection


async def health_check(params: NoParams, connection: Connection) -> dict[str, Any]:
    return await connection.service.health()


async def agents_list(params: NoParams, connection: Connection) -> dict[str, Any]:
    onyx = connection.onyx
    config = onyx.settings.config
    agents = [
        {
            "id": agent.id,
            "name": agent.name,
            "model": config.model_of(agent),
            "default": agent.id == config.default_agent().id,
            "workspace": str(onyx.agent(agent.id).workspace),
        }
        for agent in config.agents.items
    ]
    return {"agents": agents}
