"""Models that run on this machine."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.local_models.service import LOCAL_MODELS, PROGRESS, LocalModels, file_data
from onyx_jupyter.features.local_models.wire import (
    LocalModelInfo,
    LocalModelList,
    LocalModelParams,
    LocalModelsRemoveParams,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, HOST, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    models = LocalModels(host.home, parts.get(CONFIGURED), parts.get(STREAMS).broadcast, host.clock)
    return Built({LOCAL_MODELS: models}, close=models.files.close)


async def list_models(params: NoParams, caller: Caller) -> dict[str, Any]:
    return {"models": [file_data(file) for file in await caller.get(LOCAL_MODELS).files.list()]}


async def fetch(params: LocalModelParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).fetch(params.id))


async def pause(params: LocalModelParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).files.pause(params.id))


async def remove(params: LocalModelsRemoveParams, caller: Caller) -> dict[str, Any]:
    return file_data(await caller.get(LOCAL_MODELS).files.remove(params.id, shared=params.shared))


FEATURE = Feature(
    "local_models",
    make,
    requires=(HOST, CONFIGURED, STREAMS),
    provides=(LOCAL_MODELS,),
    operations=(
        Operation("local_models.list", NoParams, LocalModelList, list_models, "read", dispatch="beside"),
        Operation("local_models.fetch", LocalModelParams, LocalModelInfo, fetch, "admin"),
        Operation("local_models.pause", LocalModelParams, LocalModelInfo, pause, "admin", dispatch="beside"),
        Operation("local_models.remove", LocalModelsRemoveParams, LocalModelInfo, remove, "admin", dispatch="beside"),
    ),
    events=(EventType(PROGRESS, LocalModelInfo),),
)
