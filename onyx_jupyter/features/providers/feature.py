"""The model providers: the state of each, a test of its connection, its key, the sign-in to a subscription."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from onyx_jupyter.features.providers.service import PROVIDERS, UPDATED, Providers
from onyx_jupyter.features.providers.subscriptions import SUBSCRIPTIONS, Subscriptions
from onyx_jupyter.features.providers.subscriptions import UPDATED as SUBSCRIPTIONS_UPDATED
from onyx_jupyter.features.providers.wire import (
    CredentialParams,
    CredentialsSetParams,
    ProviderList,
    ProvidersListParams,
    ProvidersTestParams,
    ProvidersUpdatedData,
    ProviderTest,
    SignInCode,
    SubscriptionParams,
    SubscriptionsUpdatedData,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.dependencies import Key, Parts
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Built, Components, Feature
from onyx_jupyter.operations.keys import CONFIGURED, CREDENTIALS, EXTERNAL_AGENT_MODELS, HOST, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok
from onyx_jupyter.protocols import ModelInfo
from onyx_jupyter.providers.known_providers import COPILOT


def make(parts: Parts) -> Built:
    store, streams = parts.get(CREDENTIALS), parts.get(STREAMS)
    host, configured = parts.get(HOST), parts.get(CONFIGURED)

    def changed() -> None:
        streams.broadcast(UPDATED, {})

    def report(state: str, message: str) -> None:
        data: dict[str, object] = {"name": COPILOT, "state": state}
        streams.broadcast(SUBSCRIPTIONS_UPDATED, data | ({"message": message} if message else {}))

    subscriptions = Subscriptions(
        configured,
        store,
        host.copilot,
        host.clock,
        parts.find(EXTERNAL_AGENT_MODELS) or _no_agents,
        changed,
        report,
    )
    providers = Providers(configured, store, subscriptions, changed)

    async def health() -> Components:
        stored = await asyncio.to_thread(store.read)
        if stored.problem:
            return {"credentials": {"ok": False, "message": stored.problem, "hint": "Enter the keys again."}}
        return {}

    given: dict[Key[Any], Any] = {PROVIDERS: providers, SUBSCRIPTIONS: subscriptions}
    return Built(given, warm=providers.detect, close=subscriptions.close, health=health)


async def _no_agents() -> Sequence[ModelInfo]:
    return ()


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


async def begin_sign_in(params: SubscriptionParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(SUBSCRIPTIONS).begin(params.name)


async def cancel_sign_in(params: SubscriptionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SUBSCRIPTIONS).cancel(params.name)
    return {"ok": True}


async def sign_out(params: SubscriptionParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SUBSCRIPTIONS).sign_out(params.name)
    return {"ok": True}


FEATURE = Feature(
    "providers",
    make,
    requires=(CONFIGURED, CREDENTIALS, HOST, STREAMS),
    uses=(EXTERNAL_AGENT_MODELS,),
    provides=(PROVIDERS, SUBSCRIPTIONS),
    operations=(
        Operation("providers.list", ProvidersListParams, ProviderList, list_providers, "admin", dispatch="beside"),
        Operation("providers.test", ProvidersTestParams, ProviderTest, test_provider, "admin", dispatch="beside"),
        Operation("credentials.set", CredentialsSetParams, Ok, set_credential, "admin", dispatch="beside"),
        Operation("credentials.move", CredentialParams, Ok, move_credential, "admin", dispatch="beside"),
        Operation("credentials.remove", CredentialParams, Ok, remove_credential, "admin", dispatch="beside"),
        Operation("credentials.rotate", NoParams, Ok, rotate_credentials, "admin", dispatch="beside"),
        Operation("subscriptions.begin", SubscriptionParams, SignInCode, begin_sign_in, "admin", dispatch="beside"),
        Operation("subscriptions.cancel", SubscriptionParams, Ok, cancel_sign_in, "admin", dispatch="beside"),
        Operation("subscriptions.signOut", SubscriptionParams, Ok, sign_out, "admin", dispatch="beside"),
    ),
    events=(
        EventType(UPDATED, ProvidersUpdatedData),
        EventType(SUBSCRIPTIONS_UPDATED, SubscriptionsUpdatedData),
    ),
)
