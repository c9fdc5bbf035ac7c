"""A model behind a server that speaks OpenAI's protocol: one streamed call per request. It never retries.

It stands beside LiteLLM for servers of one's own: those need no key, no price and no translation, and get answers for
many sessions at once without the library's cost for each chunk.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelEvent, ModelRequest
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.endpoint import Endpoint, EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.openai_stream import chat_chunks
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class OpenAIModel(EndpointModel):
    """Any model of an OpenAI-compatible server. `client` gives the connections, shared by all of them."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        habit: ThinkingHabit | None = None,
    ) -> None:
        super().__init__(endpoint, habit)
        self._client = client

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        as_action = self.endpoint.json_actions and bool(request.tools)
        async with AsyncExitStack() as stack:
            chunks = await self._open(stack, request, as_action=as_action)
            offered = {tool.name for tool in request.tools}
            said = chat_events(chunks, self.endpoint.provider, as_action=as_action, offered=offered, habit=self.habit)
            async for event in await stack.enter_async_context(aclosing(said)):
                yield event

    async def _open(self, stack: AsyncExitStack, request: ModelRequest, *, as_action: bool) -> AsyncIterator[ChatChunk]:
        endpoint = self.endpoint
        client = await self._client()
        body = self._body(request, as_action=as_action)
        try:
            return await stack.enter_async_context(
                chat_chunks(client, endpoint.provider.base_url or "", endpoint.api_key or "", body, endpoint.timeout_s)
            )
        except Exception as error:
            raise model_error(error, endpoint.provider) from None

    def _body(self, request: ModelRequest, *, as_action: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.endpoint.provider.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
        }
        if as_action:
            call = json_action_call(request)
            body |= {"messages": call.messages, "response_format": call.response_format}
        else:
            messages = openai_messages(request, pictures=self.sees(request))
            body |= {"messages": messages, "tools": openai_tools(request.tools) or None}
        return {name: value for name, value in body.items() if value is not None}
