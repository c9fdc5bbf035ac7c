"""`providers.*` and `credentials.*`: the state of each provider, a test of its connection, and its stored key."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.features.providers.keys import PROVIDERS
from onyx_jupyter.features.providers.wire import (
    CredentialParams,
    CredentialsSetParams,
    ProviderList,
    ProvidersListParams,
    ProvidersTestParams,
    ProviderTest,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import NoParams, Ok


async def list_providers(params: ProvidersListParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(PROVIDERS).cards(refresh=params.refresh)


async def test_provider(params: ProvidersTestParams, caller: Caller) -> dict[str, Any]:
    return await caller.get(PROVIDERS).test(params.name, params.model)


async def set_credential(params: CredentialsSetParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).set_key(params.name, params.secret.get_secret_value())
    return {"ok": True}


async def remove_credential(params: CredentialParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).remove_key(params.name)
    return {"ok": True}


async def rotate_credentials(params: NoParams, caller: Caller) -> dict[str, Any]:
    await caller.get(PROVIDERS).rotate()
    return {"ok": True}


OPERATIONS = (
    Operation("providers.list", ProvidersListParams, ProviderList, list_providers, "admin", dispatch="beside"),
    Operation("providers.test", ProvidersTestParams, ProviderTest, test_provider, "admin", dispatch="beside"),
    Operation("credentials.set", CredentialsSetParams, Ok, set_credential, "admin", dispatch="beside"),
    Operation("credentials.remove", CredentialParams, Ok, remove_credential, "admin", dispatch="beside"),
    Operation("credentials.rotate", NoParams, Ok, rotate_credentials, "admin", dispatch="beside"),
)
