"""JSON over HTTP for embedders: one bounded request and answer, without retries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.providers.error_map import Provider, model_error
from onyx_jupyter.providers.event_stream import HttpFailure, error_object
from onyx_jupyter.providers.network_guard import is_loopback

if TYPE_CHECKING:
    import httpx

# 64 vectors of 4,096 numbers are 6 MB as text.
_MAX_ANSWER_BYTES = 64_000_000


class JsonClient:
    """The connections to one server, created on first use; `headers` are sent with every request."""

    def __init__(self, provider: Provider, headers: Mapping[str, str] | None = None) -> None:
        self._provider = provider
        self._headers = dict(headers or {})
        self._client: httpx.AsyncClient | None = None
        self._opening = asyncio.Lock()

    async def ask(self, path: str, body: Mapping[str, Any] | None, *, timeout_s: float) -> Any:
        """The server's answer to a POST of `body`, or to a GET if that is None.

        Raises: HttpFailure, httpx.HTTPError, ValueError.
        """
        client = await self._connections()
        url = f"{(self._provider.base_url or '').rstrip('/')}{path}"
        method = "GET" if body is None else "POST"
        async with client.stream(method, url, json=body, headers=self._headers, timeout=timeout_s) as response:
            content = bytearray()
            async for data in response.aiter_bytes():
                content += data
                if len(content) > _MAX_ANSWER_BYTES:
                    raise HttpFailure(None, {"message": "its response is too long"}, {})
        if not response.is_success:
            raise HttpFailure(response.status_code, error_object(bytes(content)), dict(response.headers))
        return await asyncio.to_thread(json.loads, content)

    async def close(self) -> None:
        """Closes the connections."""
        async with self._opening:
            if self._client is not None:
                await self._client.aclose()
                self._client = None

    async def _connections(self) -> httpx.AsyncClient:
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._provider.base_url or "")
            return self._client


def _client(base_url: str) -> httpx.AsyncClient:
    """Reading certificates is slow. A proxy is another machine, so a loopback address is never reached through one."""
    import httpx

    return httpx.AsyncClient(trust_env=not is_loopback(base_url))


def embedding_error(error: Exception, provider: Provider) -> EmbeddingError:
    """Explains what a call raised, without keys, as for all other calls of a provider."""
    if isinstance(error, EmbeddingError):
        return error
    known = model_error(error, provider)
    message = str(known)
    if known.code == "overflow":
        message = f"{provider.title} says that a text is too long for {provider.model}."
    # The other hints are about the chat model.
    tells = known.code == "authentication" or (known.code == "unavailable" and provider.base_url is not None)
    hint = known.hint if tells else None
    return EmbeddingError(message, hint=hint, retry_after_s=known.retry_after_s)
