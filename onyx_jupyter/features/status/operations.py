"""`health.check`: the health of each component."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.status.wire import Health
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import HEALTH
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


async def health_check(params: NoParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(HEALTH)()


OPERATIONS = (Operation("health.check", NoParams, Health, health_check, "read", before_ready=True),)
