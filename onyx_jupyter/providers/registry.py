"""Opens models by their id and lists what can be chosen. It holds the running embedded models, and nothing else.

`local/…` runs here; a name that LiteLLM knows goes there; any other name needs a baseUrl and is taken for an
OpenAI-compatible server.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import Model, ModelInfo
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.error_map import Provider, missing_key
from onyx_jupyter.providers.known_providers import (
    KNOWN_PROVIDERS,
    LOCAL,
    LOGIN_PROVIDERS,
    KnownProvider,
    known_provider,
)
from onyx_jupyter.providers.litellm_library import close_litellm, load_litellm, price_table
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_servers import LocalServers
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.providers.model_list import list_models
from onyx_jupyter.providers.network_guard import check_allowed
from onyx_jupyter.providers.openai_model import OpenAIModel
from onyx_jupyter.providers.openai_stream import new_client
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

if TYPE_CHECKING:
    import httpx

# What is sent to a server that asks for no key: the client library insists on one.
_NO_KEY = "none"


class ProviderModels:
    """protocols.Models over everything that the settings reach."""

    def __init__(self, settings: ModelsSettings, *, clock: Clock | None = None) -> None:
        self._settings = settings
        self._client: asyncio.Task[httpx.AsyncClient] | None = None
        self._local_servers = LocalServers(
            idle_timeout_s=settings.local_idle_timeout_s, threads=settings.local_threads, clock=clock or SystemClock()
        )

    def open(self, model_id: str) -> Model:
        """Raises: ModelError (not_found, authentication, refused)."""
        name, _, model = model_id.partition("/")
        if not model:
            raise ModelError("not_found", f'"{model_id}" is not a model id.', hint=_id_hint())
        if name == LOCAL:
            return LocalModel(model_id, find_weights(model), self._local_servers)
        if name in LOGIN_PROVIDERS:
            raise ModelError(
                "not_found",
                f'"{name}" signs in with a subscription, which this version does not offer.',
                hint="Use a key: openai/…, anthropic/… or another provider.",
            )
        settings = self._settings.providers.get(name, ProviderSettings())
        known = known_provider(name)
        endpoint = self._known(known, model_id, settings) if known else self._compatible(name, model_id, settings)
        check_allowed(endpoint.provider.base_url, endpoint.provider.title)
        return OpenAIModel(endpoint, self._connections) if _speaks_openai(known, endpoint) else LiteLLMModel(endpoint)

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        """The embedded model, then those of every provider that is configured or has a key."""
        return await list_models(self._settings, refresh=refresh)

    async def warm(self) -> None:
        """Gets ready what the default model needs, and nothing else: the provider library may never be wanted."""
        try:
            model = self.open(self._settings.default_model)
        except ModelError:
            return  # who asks it will read why
        if isinstance(model, OpenAIModel):
            await self._connections()
            await price_table()
        elif isinstance(model, LiteLLMModel):
            await load_litellm()

    async def close(self) -> None:
        """Ends the embedded models' processes and closes the kept connections."""
        await self._local_servers.close()
        if self._client is not None:
            await (await self._client).aclose()
        await close_litellm()

    async def _connections(self) -> httpx.AsyncClient:
        """One client for all servers of one's own, made when the first answer needs it."""
        if self._client is None:
            self._client = asyncio.create_task(new_client(), name="onyx connections")
        return await asyncio.shield(self._client)

    def _known(self, known: KnownProvider, model_id: str, settings: ProviderSettings) -> Endpoint:
        model = model_id.partition("/")[2]
        key = settings.api_key or known.key_from(os.environ)
        base_url = settings.base_url or known.default_url
        provider = Provider(
            title=known.title,
            setting=known.name,
            model=model,
            key_variable=known.key_variables[0] if known.key_variables else None,
            base_url=base_url,
            secrets=(key,) if key else (),
        )
        if key is None and known.name in KNOWN_PROVIDERS and known.key_variables and base_url is None:
            raise missing_key(provider)
        return Endpoint(
            model_id=model_id,
            litellm_name=f"{known.litellm_prefix}/{model}",
            provider=provider,
            api_key=key or (_NO_KEY if base_url else None),
            json_actions=settings.tool_mode == "json",
            timeout_s=self._settings.request_timeout_s,
            context_window=settings.context_window,
            vision=settings.vision,
        )

    def _compatible(self, name: str, model_id: str, settings: ProviderSettings) -> Endpoint:
        if settings.base_url is None:
            raise ModelError("not_found", f'There is no provider "{name}" (in "{model_id}").', hint=_id_hint(name))
        model = model_id.partition("/")[2]
        secrets = (settings.api_key,) if settings.api_key else ()
        return Endpoint(
            model_id=model_id,
            litellm_name=f"openai/{model}",
            provider=Provider(name, name, model, base_url=settings.base_url, secrets=secrets),
            api_key=settings.api_key or _NO_KEY,
            json_actions=settings.tool_mode == "json",
            timeout_s=self._settings.request_timeout_s,
            context_window=settings.context_window,
            vision=bool(settings.vision),
            priced=False,
        )


def _speaks_openai(known: KnownProvider | None, endpoint: Endpoint) -> bool:
    """A server of one's own; OpenAI's own models need what LiteLLM knows of each of them."""
    return known is None or (known.name == "openai" and endpoint.provider.base_url is not None)


def _id_hint(name: str | None = None) -> str:
    known = ", ".join([LOCAL, *KNOWN_PROVIDERS])
    hint = f"A model id is provider/model; providers are {known} and others that LiteLLM has."
    return f"{hint} For a server of your own set providers.{name}.baseUrl." if name else hint
