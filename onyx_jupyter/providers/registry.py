"""Opens models by id and lists the choices. It owns the running local models and the models' thinking habits.

`local/…` runs here; `known_providers` says which names are spoken to directly, and in which protocol; any other name
that LiteLLM knows goes to LiteLLM; the rest needs a baseUrl and is treated as an OpenAI-compatible server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import Model, ModelInfo
from onyx_jupyter.providers.addressing import endpoint_of
from onyx_jupyter.providers.anthropic_model import AnthropicModel
from onyx_jupyter.providers.continuation import Continuation
from onyx_jupyter.providers.direct_model import DirectModel
from onyx_jupyter.providers.event_stream import new_client
from onyx_jupyter.providers.known_providers import COPILOT, KNOWN_PROVIDERS, LOCAL
from onyx_jupyter.providers.litellm_library import close_litellm, load_litellm, price_table
from onyx_jupyter.providers.litellm_model import LiteLLMModel
from onyx_jupyter.providers.local_model import LocalModel
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import find_weights
from onyx_jupyter.providers.model_list import list_models
from onyx_jupyter.providers.openai_model import OpenAIModel
from onyx_jupyter.providers.refused_parameters import RefusedParameters
from onyx_jupyter.providers.responses_model import ResponsesModel
from onyx_jupyter.providers.served_models import served_models
from onyx_jupyter.providers.settings import ModelsSettings
from onyx_jupyter.providers.subscriptions.copilot import Copilot
from onyx_jupyter.providers.subscriptions.copilot_model import CopilotModel
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class ProviderModels:
    """protocols.Models over everything that the settings make available."""

    def __init__(
        self,
        settings: ModelsSettings,
        *,
        clock: Clock | None = None,
        continuing: Continuation | None = None,
        copilot: Copilot | None = None,
    ) -> None:
        """`continuing` is what was found out about servers, `copilot` has its tokens; both outlive the settings."""
        self._settings = settings
        self._continuing = continuing or Continuation()
        self._copilot = copilot or Copilot()
        self._refused = RefusedParameters()
        self._client: asyncio.Task[httpx.AsyncClient] | None = None
        self._habits: dict[str, ThinkingHabit] = {}
        self._local_servers = LocalServerPool(
            idle_timeout_s=settings.local_idle_timeout_s,
            threads=settings.local_threads,
            clock=clock or SystemClock(),
            saved_in=settings.local_saved_in,
        )

    def open(self, model_id: str) -> Model:
        """Raises: ModelError (not_found, authentication, refused)."""
        name, _, model = model_id.partition("/")
        if name == LOCAL and model:
            return LocalModel(model_id, find_weights(model, self._settings.local_folders), self._local_servers)
        endpoint = endpoint_of(model_id, self._settings)
        habit = self._habits.setdefault(model_id, ThinkingHabit.of(model_id))
        if name == COPILOT:
            return CopilotModel(endpoint, self._connections, self._copilot, habit, self._refused)
        protocol = endpoint.dialect.protocol
        if protocol == "openai":
            return OpenAIModel(endpoint, self._connections, habit, self._continuing, self._refused)
        if protocol == "litellm":
            return LiteLLMModel(endpoint, habit)
        direct = ResponsesModel if protocol == "responses" else AnthropicModel
        return direct(endpoint, self._connections, habit, self._refused)

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        """The models of this machine, then those of every provider that is configured, has a key, or runs here."""
        if refresh:
            names = dict.fromkeys([*self._settings.providers, *KNOWN_PROVIDERS])
            await served_models(self._settings, names)
        return await list_models(self._settings)

    async def warm(self) -> None:
        """Prepares what the default model needs, and nothing else: the provider library may never be needed."""
        try:
            model = self.open(self._settings.default_model)
        except ModelError:
            return  # the first request reports why
        if isinstance(model, DirectModel):
            await self._connections()
            await price_table()
        elif isinstance(model, LiteLLMModel):
            await load_litellm()

    async def release(self, path: Path) -> bool:
        """Ends the process that has this file open, unless it is answering; returns whether the file is unused now."""
        return await self._local_servers.release(path)

    async def close(self) -> None:
        """Ends the local models' processes and closes the connections."""
        await self._local_servers.close()
        if self._client is not None:
            await (await self._client).aclose()
        await close_litellm()

    async def _connections(self) -> httpx.AsyncClient:
        """One client for all servers that are spoken to directly, created for the first answer that needs it."""
        if self._client is None:
            self._client = asyncio.create_task(new_client(), name="onyx connections")
        return await asyncio.shield(self._client)
