"""Asks servers which models they have: those on this machine at their usual ports, and others with a key or address."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from onyx_jupyter.errors import ModelError
from onyx_jupyter.providers.addressing import usual_address
from onyx_jupyter.providers.error_map import Provider, model_error
from onyx_jupyter.providers.event_stream import HttpFailure, error_object, new_client
from onyx_jupyter.providers.known_providers import (
    KNOWN_PROVIDERS,
    LOCAL,
    LOGIN_PROVIDERS,
    has_key,
    known_provider,
    provider_title,
)
from onyx_jupyter.providers.network_guard import check_allowed, is_loopback
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

if TYPE_CHECKING:
    import httpx

TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 1.5
# A server on this machine answers at once, or it is not there.
LOOPBACK_TIMEOUT_S = 1.0
_MAX_MODELS = 500
_MAX_NAME_CHARS = 200
# OpenRouter's list of some hundred models has one megabyte.
_MAX_LIST_BYTES = 4_000_000
_BY_HAND = "Name its models in onyx.json, in `models` of this provider."
_ANTHROPIC_HEADERS = {"anthropic-version": "2023-06-01"}


@dataclass(frozen=True, slots=True)
class ServedModels:
    """What one server said: its models, newest first if it dates them, or why there are none. `took_s` in seconds."""

    models: tuple[str, ...] = ()
    error: ModelError | None = None
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Server:
    provider: Provider
    url: str
    headers: Mapping[str, str]


async def served_models(settings: ModelsSettings, names: Iterable[str]) -> dict[str, ServedModels]:
    """Asks these providers at once, and updates `settings.served`. Never raises.

    The answer has those that can be asked, which needs a key or an address, and that they are allowed.
    """
    servers = {name: _server(name, settings) for name in names}
    asked = {name: server for name, server in servers.items() if server is not None}
    answers = await asyncio.gather(*(_ask(server) for server in asked.values()))
    found = dict(zip(asked, answers, strict=True))
    for name in servers:
        settings.served.pop(name, None)
        if name in found and found[name].models:
            settings.served[name] = found[name].models
    return found


def local_servers(settings: ModelsSettings) -> list[str]:
    """The providers that would answer on this machine: asking them sends nothing elsewhere."""
    names = dict.fromkeys([*settings.providers, *KNOWN_PROVIDERS])
    servers = ((name, _server(name, settings)) for name in names)
    return [name for name, server in servers if server is not None and is_loopback(server.url)]


def _server(name: str, settings: ModelsSettings) -> _Server | None:
    """Where the provider lists its models; None if it does not, or if a key is missing for it."""
    if name == LOCAL or name in LOGIN_PROVIDERS or name in settings.refused:
        return None
    own, known = settings.providers.get(name, ProviderSettings()), known_provider(name)
    own_server = own.base_url or (usual_address(known) if known else None)
    address = own_server or (known.address if known else None)
    if not address or (known and not own_server and not has_key(known, own.api_key)):
        return None
    key = own.api_key or (known.key_from(os.environ) if known else None)
    variable = known.key_variables[0] if known and known.key_variables else None
    secrets = (key,) if key else ()
    provider = Provider(provider_title(name), name, "", variable, own_server, secrets)
    root = address.rstrip("/")
    if name == "ollama":
        return _Server(provider, f"{root.removesuffix('/v1')}/api/tags", _bearer(key))
    if known and known.dialect.protocol == "anthropic":
        headers = {**_ANTHROPIC_HEADERS, "x-api-key": key} if key else _ANTHROPIC_HEADERS
        return _Server(provider, f"{root}/v1/models?limit=1000", headers)
    return _Server(provider, f"{root}/models", _bearer(key))


def _bearer(key: str | None) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


async def _ask(server: _Server) -> ServedModels:
    began_s = time.monotonic()
    is_local = is_loopback(server.url)
    timeout_s = LOOPBACK_TIMEOUT_S if is_local else TIMEOUT_S
    try:
        check_allowed(server.url, server.provider.title)
        if is_local:
            async with asyncio.timeout(timeout_s):
                await _connect(server.url)
        # Not before something listens, since this loads the HTTP library: mostly nothing does.
        async with await new_client() as client, asyncio.timeout(timeout_s):
            names = _names(json.loads(await _listed(client, server)))
        return ServedModels(names, took_s=time.monotonic() - began_s)
    except ModelError as error:
        return ServedModels(error=error)
    except Exception as error:  # whatever a server sends that is no list of models
        return ServedModels(error=model_error(error, server.provider), took_s=time.monotonic() - began_s)


async def _listed(client: httpx.AsyncClient, server: _Server) -> bytes:
    """The body of the answer. Raises: ModelError, HttpFailure, httpx.HTTPError."""
    title, body = server.provider.title, bytearray()
    limits = (CONNECT_TIMEOUT_S, TIMEOUT_S, TIMEOUT_S, TIMEOUT_S)
    async with client.stream("GET", server.url, headers=dict(server.headers), timeout=limits) as response:
        async for data in response.aiter_bytes():
            body += data
            if len(body) > _MAX_LIST_BYTES:
                raise ModelError("bad_response", f"The list of models that {title} sent is too long.", hint=_BY_HAND)
    if response.status_code == 404:
        raise ModelError("not_found", f"{title} does not list its models.", hint=_BY_HAND)
    if not response.is_success:
        raise HttpFailure(response.status_code, error_object(bytes(body)), dict(response.headers))
    return bytes(body)


async def _connect(url: str) -> None:
    """Raises: OSError if nothing listens there."""
    address = urlsplit(url)
    _, writer = await asyncio.open_connection(
        address.hostname, address.port or (443 if address.scheme == "https" else 80)
    )
    writer.close()


def _names(answer: Any) -> tuple[str, ...]:
    """Raises: KeyError, TypeError, ValueError if it is no list of models."""
    if isinstance(answer, dict) and "models" in answer:  # Ollama's own form
        names = [str(model["name"]) for model in answer["models"]]
    else:
        models = answer["data"] if isinstance(answer, dict) else answer
        dated = sorted(models, key=lambda model: -_created(model))
        names = [str(model["id"]).removeprefix("models/") for model in dated]
    return tuple([name for name in names if name.isprintable() and 0 < len(name) <= _MAX_NAME_CHARS][:_MAX_MODELS])


def _created(model: Mapping[str, Any]) -> float:
    created = model.get("created")
    return float(created) if isinstance(created, int | float) else 0.0
