"""Embedding models of an Ollama server, by its own protocol. It never pulls a model or starts the server.

Source: Ollama, "API" (`/api/tags`, `/api/embed`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from onyx_jupyter.errors import EmbeddingError, ModelError
from onyx_jupyter.protocols.retrieval import Embedder, EmbedderIdentity
from onyx_jupyter.providers.embedders.http_json import JsonClient, embedding_error
from onyx_jupyter.providers.embedders.model_tags import marked
from onyx_jupyter.providers.embedders.remote import RemoteEmbedder, probed_dimension
from onyx_jupyter.providers.embedders.source import Purpose
from onyx_jupyter.providers.error_map import Provider
from onyx_jupyter.providers.network_guard import check_allowed
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy

OLLAMA = "ollama"
DEFAULT_MODEL = "nomic-embed-text"
_THERE_S = 1.0
_DIGEST_CHARS = 12


class OllamaSource:
    """A model of one server. `expected`: the user asked for it, so its absence is reported."""

    provider = OLLAMA
    title = "Ollama"
    in_process = False

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        expected: bool,
        waits: RetryDelays | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.expected = expected
        self._model = model
        secrets = (api_key,) if api_key else ()
        # Ollama's OpenAI-like protocol is below /v1; a configuration with that suffix means the same server.
        root = base_url.rstrip("/").removesuffix("/v1")
        self._server = Provider(self.title, OLLAMA, model, base_url=root, secrets=secrets)
        self._client = JsonClient(self._server, {"Authorization": f"Bearer {api_key}"} if api_key else None)
        self._waits = waits or RetryDelays()
        self._retry = retry or RetryPolicy()

    async def open(self) -> Embedder:
        """The model as it is installed now. Raises: EmbeddingError."""
        try:
            check_allowed(self._server.base_url, self.title)
        except ModelError as error:
            raise EmbeddingError(str(error), hint=error.hint) from None
        model = await self._installed()
        dimension = await probed_dimension(self._call, self._server, self._model)
        identity = EmbedderIdentity(OLLAMA, model, dimension)
        return RemoteEmbedder(identity, self._server, self._call, self._waits, self._retry)

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Whether the model of that name is still the same. Raises: EmbeddingError."""
        return await self._installed() == identity.model

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    async def _installed(self) -> str:
        """The model's name, marked with its digest: a newly pulled model makes other vectors.

        Raises: EmbeddingError if the server or the model is missing.
        """
        try:
            async with asyncio.timeout(_THERE_S):
                answer = await self._client.ask("/api/tags", None, timeout_s=_THERE_S)
            models = {str(model["name"]): str(model.get("digest", "")) for model in answer["models"]}
        except (KeyError, TypeError, AttributeError):
            raise EmbeddingError(f"The server at {self._server.address} is not an Ollama server.") from None
        except Exception as error:
            raise embedding_error(error, self._server) from None
        name = self._model if ":" in self._model else f"{self._model}:latest"
        if name not in models:
            raise EmbeddingError(
                f'Ollama at {self._server.address} has no model "{self._model}".', hint=f"ollama pull {self._model}"
            )
        return marked(self._model, models[name][:_DIGEST_CHARS])

    async def _call(self, texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
        body = {"model": self._model, "input": list(texts), "truncate": True}
        answer = await self._client.ask("/api/embed", body, timeout_s=timeout_s)
        rows = answer.get("embeddings") if isinstance(answer, dict) else None
        if not isinstance(rows, list):
            raise EmbeddingError(f"{self.title} sent a response without embeddings.")
        return rows
