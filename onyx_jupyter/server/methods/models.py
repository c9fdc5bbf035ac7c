"""`models.list`: what can answer."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import camel_data
from onyx_jupyter.server.caller import Caller
from onyx_jupyter.server.wire.status import ModelsListParams


async def models_list(params: ModelsListParams, caller: Caller) -> dict[str, Any]:
    models = await caller.onyx.list_models(refresh=params.refresh)
    return {"models": [camel_data(model) for model in models]}
