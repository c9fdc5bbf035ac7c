"""The model providers: `providers.*` and `credentials.*`: the state of each, a test of its connection, its key."""

from __future__ import annotations

import asyncio
from typing import Any

from onyx_jupyter.features.providers.service import PROVIDERS, UPDATED, Providers
from onyx_jupyter.features.providers.wire import (
    CredentialParams,
    CredentialsSetParams,
    ProviderList,
    ProvidersListParams,
    ProvidersTestParams,
    ProvidersUpdatedData,
    ProviderTest,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import CONFIGURED, CREDENTIALS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


def make(parts: Parts) -> Built:
    store, streams = parts.get(CREDENTIALS), parts.get(STREAMS)
    providers = Providers(parts.get(CONFIGURED), store, lambda: streams.broadcast(UPDATED, {}))

    async def health() -> Components:
        stored = await asyncio.to_thread(store.read)
        if stored.problem:
            return {"credentials": {"ok": False, "message": stored.problem, "hint": "Enter the keys again."}}
        return {}

    return Built({PROVIDERS: providers}, warm=providers.detect, health=health)


async def list_providers(params: ProvidersListParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(PROVIDERS).cards(refresh=params.refresh)


async def test_provider(params: ProvidersTestParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(PROVIDERS).test(params.name, params.model)


async def set_credential(params: CredentialsSetParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).set_key(params.name, params.secret.get_secret_value())
    return {"ok": True}


async def move_credential(params: CredentialParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).move_key(params.name)
    return {"ok": True}


async def remove_credential(params: CredentialParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).remove_key(params.name)
    return {"ok": True}


async def rotate_credentials(params: NoParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).rotate()
    return {"ok": True}


FEATURE = Feature(
    "providers",
    make,
    requires=(CONFIGURED, CREDENTIALS, STREAMS),
    provides=(PROVIDERS,),
    operations=(
        Operation("providers.list", ProvidersListParams, ProviderList, list_providers, "admin", dispatch="beside"),
        Operation("providers.test", ProvidersTestParams, ProviderTest, test_provider, "admin", dispatch="beside"),
        Operation("credentials.set", CredentialsSetParams, Ok, set_credential, "admin", dispatch="beside"),
        Operation("credentials.move", CredentialParams, Ok, move_credential, "admin", dispatch="beside"),
        Operation("credentials.remove", CredentialParams, Ok, remove_credential, "admin", dispatch="beside"),
        Operation("credentials.rotate", NoParams, Ok, rotate_credentials, "admin", dispatch="beside"),
    ),
    events=(EventType(UPDATED, ProvidersUpdatedData),),
)
