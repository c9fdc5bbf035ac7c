"""`models.list`: the available models."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import camel_data
from onyx_jupyter.features.models.offered_models import offered_models
from onyx_jupyter.features.models.wire import ModelList, ModelsListParams
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, EXTERNAL_AGENT_MODELS, RUNS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.protocols import ModelInfo


async def models_list(params: ModelsListParams, caller: Caller) -> dict[str, Any]:
    choice = caller.get(RUNS).model_choice
    models = await offered_models(caller.get(CONFIGURED), choice, refresh=params.refresh)
    agents = caller.parts.find(EXTERNAL_AGENT_MODELS)
    return {"models": [_to_json(model) for model in [*models, *(await agents() if agents else ())]]}


def _to_json(model: ModelInfo) -> dict[str, Any]:
    """The model in wire format; `locked` and `toolMode` only if they differ from the usual values."""
    told: dict[str, Any] = camel_data(model)
    usual = {"locked": False, "toolMode": "tools"}
    return {name: value for name, value in told.items() if name not in usual or value != usual[name]}


OPERATIONS = (Operation("models.list", ModelsListParams, ModelList, models_list, "read", dispatch="beside"),)
