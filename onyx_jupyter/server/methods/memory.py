"""`memory.*`: what the agent's memory files say."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import camel_data
from onyx_jupyter.server.caller import Caller
from onyx_jupyter.server.wire.memory import MemorySearchParams


async def search(params: MemorySearchParams, caller: Caller) -> dict[str, Any]:
    passages = await caller.onyx.search_memory(params.query, params.agent_id, params.limit)
    return {"results": caller.onyx.redact_data([camel_data(passage) for passage in passages])}
