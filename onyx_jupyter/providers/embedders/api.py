"""Embedding models of a provider: through LiteLLM, or directly for self-hosted servers with OpenAI's protocol.

Source: OpenAI, "Embeddings" (`data[].index` names the text; they come in any order).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import EmbeddingError, ModelError
from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity
from onyx_jupyter.providers.addressing import endpoint_of, is_self_hosted
from onyx_jupyter.providers.embedders.http_json import JsonClient
from onyx_jupyter.providers.embedders.model_tags import marked, tag_of
from onyx_jupyter.providers.embedders.remote import Call, RemoteEmbedder, probed_dimension
from onyx_jupyter.providers.embedders.source import Purpose
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.known_providers import provider_title
from onyx_jupyter.providers.litellm_library import load_litellm
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings

# Providers that embed queries and passages differently, and their names for the two.
_INPUT_TYPES: Mapping[str, Mapping[Purpose, str]] = {
    "cohere": {"passage": "search_document", "query": "search_query"},
    "voyage": {"passage": "document", "query": "query"},
    "nvidia_nim": {"passage": "passage", "query": "query"},
}


class ApiSource:
    """The model that the user set as `memory.embeddingModel`: only that setting lets texts leave the machine."""

    expected = True
    in_process = False

    def __init__(
        self,
        model_id: str,
        settings: ModelsSettings,
        *,
        waits: RetryDelays | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._model_id = model_id
        self._settings = settings
        self._waits = waits or RetryDelays()
        self._retry = retry or RetryPolicy()
        self._client: JsonClient | None = None
        self.provider, _, self._model = model_id.partition("/")
        self.title = provider_title(self.provider)

    async def open(self) -> Embedder:
        """The model, after a first call that shows the dimension of its vectors. Raises: EmbeddingError."""
        try:
            endpoint = endpoint_of(self._model_id, self._settings)
        except ModelError as error:
            raise EmbeddingError(str(error), hint=error.hint) from None
        if is_self_hosted(endpoint):
            call: Call = self._direct(endpoint)
        else:
            await load_litellm()
            call = _through_litellm(endpoint)
        dimension = await probed_dimension(call, endpoint.provider, self._model)
        model = _marked(self._model, self._settings.providers.get(self.provider))
        identity = EmbedderIdentity(self.provider, model, dimension)
        return RemoteEmbedder(identity, endpoint.provider, call, self._waits, self._retry)

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Always: no API says which model is behind a name."""
        return True

    async def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.close()

    def _direct(self, endpoint: Endpoint) -> Call:
        client = self._client = self._client or JsonClient(
            endpoint.provider, {"Authorization": f"Bearer {endpoint.api_key}"}
        )

        async def call(texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
            body = {"model": endpoint.provider.model, "input": list(texts), "encoding_format": "float"}
            answer = await client.ask("/embeddings", body, timeout_s=timeout_s)
            return _rows(answer.get("data") if isinstance(answer, dict) else None, endpoint)

        return call


def _marked(model: str, own: ProviderSettings | None) -> str:
    """The name marked with its server: each server may have a different model of that name."""
    return marked(model, tag_of(own.base_url.rstrip("/"))) if own and own.base_url else model


def _through_litellm(endpoint: Endpoint) -> Call:
    async def call(texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
        litellm = await load_litellm()
        arguments = {
            "model": endpoint.litellm_name,
            "input": list(texts),
            "timeout": timeout_s,
            "max_retries": 0,
            "drop_params": True,
            "api_key": endpoint.api_key,
            "api_base": endpoint.provider.base_url,
            "input_type": _INPUT_TYPES.get(endpoint.provider.setting, {}).get(purpose),
        }
        answer = await litellm.aembedding(**{name: value for name, value in arguments.items() if value is not None})
        return _rows(answer.data, endpoint)

    return call


def _rows(data: Any, endpoint: Endpoint) -> list[Any]:
    """The vectors in the order of the texts. Raises: EmbeddingError."""
    if not isinstance(data, list) or not all(isinstance(item, Mapping) and "embedding" in item for item in data):
        raise EmbeddingError(f"{endpoint.provider.title} sent a response without embeddings.")
    places = {item.get("index"): item["embedding"] for item in data}
    # Some servers number every vector 0: then only the order in which they came is known.
    if set(places) == set(range(len(data))):
        return [places[number] for number in range(len(data))]
    return [item["embedding"] for item in data]
