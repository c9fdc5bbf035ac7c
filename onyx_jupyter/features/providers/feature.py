"""The settings of the model providers."""

from __future__ import annotations

import asyncio

from onyx_jupyter.features.providers.keys import PROVIDERS
from onyx_jupyter.features.providers.operations import OPERATIONS
from onyx_jupyter.features.providers.service import UPDATED, Providers
from onyx_jupyter.features.providers.wire import ProvidersUpdatedData
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import CONFIGURED, CREDENTIALS, STREAMS


def make(parts: Parts) -> Built:
    store, streams = parts.get(CREDENTIALS), parts.get(STREAMS)
    providers = Providers(parts.get(CONFIGURED), store, lambda: streams.broadcast(UPDATED, {}))

    async def health() -> Components:
        stored = await asyncio.to_thread(store.read)
        if stored.problem:
            return {"credentials": {"ok": False, "message": stored.problem, "hint": "Enter the keys again."}}
        return {}

    return Built({PROVIDERS: providers}, warm=providers.detect, health=health)


FEATURE = Feature(
    "providers",
    make,
    requires=(CONFIGURED, CREDENTIALS, STREAMS),
    provides=(PROVIDERS,),
    operations=OPERATIONS,
    events=(EventType(UPDATED, ProvidersUpdatedData),),
)
