"""The available models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.model_choice import ModelChoice
from onyx_jupyter.events import camel_data
from onyx_jupyter.features.models.wire import ModelList, ModelsListParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.operations.keys import CONFIGURED, EXTERNAL_AGENT_MODELS, RUNS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.protocols import ModelInfo


async def offered_models(configured: Configured, choice: ModelChoice, *, refresh: bool) -> Sequence[ModelInfo]:
    """`refresh` rereads the configuration and queries the providers. Raises: StorageError."""
    if refresh:
        await configured.read()
    config = configured.settings.config
    listed = await configured.models.list(refresh=refresh)
    return [replace(one, tool_mode="cell") if choice.uses_cell_mode(config, one.id) else one for one in listed]


async def models_list(params: ModelsListParams, caller: Caller) -> dict[str, Any]:
    choice = caller.get(RUNS).model_choice
    models = await offered_models(caller.get(CONFIGURED), choice, refresh=params.refresh)
    agents = caller.parts.find(EXTERNAL_AGENT_MODELS)
    return {"models": [_to_json(model) for model in [*models, *(await agents() if agents else ())]]}


def _to_json(model: ModelInfo) -> dict[str, Any]:
    """The model in wire format; without what is usual: `locked`, `toolMode` and `efforts`."""
    told: dict[str, Any] = camel_data(model)
    usual = {"locked": False, "toolMode": "tools", "efforts": []}
    return {name: value for name, value in told.items() if name not in usual or value != usual[name]}


FEATURE = Feature(
    "models",
    operations=(Operation("models.list", ModelsListParams, ModelList, models_list, "read", dispatch="beside"),),
)
