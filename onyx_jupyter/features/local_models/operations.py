"""`local_models.*`: download, pause and remove models that run on this machine."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.local_models.keys import LOCAL_MODELS
from onyx_jupyter.features.local_models.service import file_data
from onyx_jupyter.features.local_models.wire import (
    LocalModelInfo,
    LocalModelList,
    LocalModelParams,
    LocalModelsRemoveParams,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


async def list_models(params: NoParams, caller: Caller) -> dict[str, Any]:
    return {"models": [file_data(file) for file in await caller.get(LOCAL_MODELS).files.list()]}


async def fetch(params: LocalModelParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).fetch(params.id))


async def pause(params: LocalModelParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).files.pause(params.id))


async def remove(params: LocalModelsRemoveParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).files.remove(params.id, shared=params.shared))


OPERATIONS = (
    Operation("local_models.list", NoParams, LocalModelList, list_models, "read", dispatch="beside"),
    Operation("local_models.fetch", LocalModelParams, LocalModelInfo, fetch, "admin"),
    Operation("local_models.pause", LocalModelParams, LocalModelInfo, pause, "admin", dispatch="beside"),
    Operation("local_models.remove", LocalModelsRemoveParams, LocalModelInfo, remove, "admin", dispatch="beside"),
)
