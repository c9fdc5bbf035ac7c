"""Models that run on this machine."""

from __future__ import annotations

from onyx_jupyter.features.local_models.keys import LOCAL_MODELS
from onyx_jupyter.features.local_models.operations import OPERATIONS
from onyx_jupyter.features.local_models.service import PROGRESS, LocalModels
from onyx_jupyter.features.local_models.wire import LocalModelInfo
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Feature
from onyx_jupyter.operations.keys import CONFIGURED, HOST, STREAMS


def make(parts: Parts) -> Built:
    host = parts.get(HOST)
    models = LocalModels(host.home, parts.get(CONFIGURED), parts.get(STREAMS).broadcast, host.clock)
    return Built({LOCAL_MODELS: models}, close=models.files.close)


FEATURE = Feature(
    "local_models",
    make,
    requires=(HOST, CONFIGURED, STREAMS),
    provides=(LOCAL_MODELS,),
    operations=OPERATIONS,
    events=(EventType(PROGRESS, LocalModelInfo),),
)
