"""`models.list`: what can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onyx_jupyter.events import camel_data
from onyx_jupyter.server.wire import ModelsListParams

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection


async def models_list(params: ModelsListParams, connection: Connection) -> dict[str, Any]:
    models = await connection.onyx.list_models(refresh=params.refresh)
    return {"models": [camel_data(model) for model in models]}
