"""Embedding models of a provider: through LiteLLM, or directly for self-hosted servers with OpenAI's protocol.

Source: OpenAI, "Embeddings" (`data[].index` names the text; they come in any order).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import EmbeddingError, ModelError
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity
from onyx_jupyter.providers.addressing import endpoint_of, is_self_hosted
from onyx_jupyter.providers.embedders.http_json import JsonClient
from onyx_jupyter.providers.embedders.model_tags import marked, tag_of
from onyx_jupyter.providers.embedders.remote import Call, RemoteEmbedder, probed_dimension
from onyx_jupyter.providers.embedders.source import EmbeddingMeter, Purpose
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.known_providers import provider_title
from onyx_jupyter.providers.litellm_library import load_litellm, price_table
from onyx_jupyter.providers.prices import UNKNOWN, Price, price_of
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy
from onyx_jupyter.providers.settings import ModelsSettings, ProviderSettings
from onyx_jupyter.text_tokens import text_tokens

# Providers that embed queries and passages differently, and their names for the two.
_INPUT_TYPES: Mapping[str, Mapping[Purpose, str]] = {
    "cohere": {"passage": "search_document", "query": "search_query"},
    "voyage": {"passage": "document", "query": "query"},
    "nvidia_nim": {"passage": "passage", "query": "query"},
}


# One request: what holds the vectors, and how many tokens the server counted, in whatever shape it sent them.
_Ask = Callable[[Sequence[str], Purpose, float], Awaitable[tuple[Any, Any]]]


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
        meter: EmbeddingMeter | None = None,
    ) -> None:
        self._model_id = model_id
        self._meter = meter
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
            ask = self._direct(endpoint)
        else:
            await load_litellm()
            ask = _through_litellm(endpoint)
        price = price_of(await price_table(), endpoint.litellm_name) if endpoint.priced else UNKNOWN
        call = self._counted(ask, endpoint, price)
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

    def _counted(self, ask: _Ask, endpoint: Endpoint, price: Price) -> Call:
        """The calls of an embedder. What was answered counts, usable or not."""

        async def call(texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
            if self._meter is not None:
                await self._meter.admit(self._model_id)
            data, tokens = await ask(texts, purpose, timeout_s)
            if self._meter is not None:
                await self._meter.record(self._model_id, _usage(texts, tokens, price))
            return _rows(data, endpoint)

        return call

    def _direct(self, endpoint: Endpoint) -> _Ask:
        client = self._client = self._client or JsonClient(
            endpoint.provider, {"Authorization": f"Bearer {endpoint.api_key}"}
        )

        async def ask(texts: Sequence[str], purpose: Purpose, timeout_s: float) -> tuple[Any, Any]:
            body = {"model": endpoint.provider.model, "input": list(texts), "encoding_format": "float"}
            answer = await client.ask("/embeddings", body, timeout_s=timeout_s)
            if not isinstance(answer, dict):
                return None, None
            usage = answer.get("usage")
            return answer.get("data"), usage.get("prompt_tokens") if isinstance(usage, dict) else None

        return ask


def _marked(model: str, own: ProviderSettings | None) -> str:
    """The name marked with its server: each server may have a different model of that name."""
    return marked(model, tag_of(own.base_url.rstrip("/"))) if own and own.base_url else model


def _through_litellm(endpoint: Endpoint) -> _Ask:
    async def ask(texts: Sequence[str], purpose: Purpose, timeout_s: float) -> tuple[Any, Any]:
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
        return answer.data, getattr(getattr(answer, "usage", None), "prompt_tokens", None)

    return ask


def _usage(texts: Sequence[str], tokens: Any, price: Price) -> Usage:
    """The provider's count, or an estimate."""
    counted = tokens if isinstance(tokens, int) and tokens > 0 else None
    input_tokens = counted or sum(map(text_tokens, texts))
    return Usage(input_tokens, 0, cost_usd=price.cost_usd(input_tokens, 0), estimated=None if counted else True)


def _rows(data: Any, endpoint: Endpoint) -> list[Any]:
    """The vectors in the order of the texts. Raises: EmbeddingError."""
    if not isinstance(data, list) or not all(isinstance(item, Mapping) and "embedding" in item for item in data):
        raise EmbeddingError(f"{endpoint.provider.title} sent a response without embeddings.")
    places = {item.get("index"): item["embedding"] for item in data}
    # Some servers number every vector 0: then only the order in which they came is known.
    if set(places) == set(range(len(data))):
        return [places[number] for number in range(len(data))]
    return [item["embedding"] for item in data]
