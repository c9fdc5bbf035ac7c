"""A model of Anthropic's Messages API: one streamed call per request, without a client library and without retries."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelEvent, ModelRequest
from onyx_jupyter.providers.anthropic_format import anthropic_messages, anthropic_tools
from onyx_jupyter.providers.anthropic_stream import message_chunks
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools
from onyx_jupyter.providers.chat_answer import chat_events
from onyx_jupyter.providers.endpoint import Endpoint, EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.litellm_library import price_table
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.prices import price_of
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx

# The API insists on a limit. A model that the table does not list, or an endless answer, gets this one.
_MAX_TOKENS = 32_000


class AnthropicModel(EndpointModel):
    """Claude, at Anthropic or behind an address that speaks the same protocol. `client` gives the connections."""

    def __init__(
        self, endpoint: Endpoint, client: Callable[[], Awaitable[httpx.AsyncClient]], habit: ThinkingHabit | None = None
    ) -> None:
        super().__init__(endpoint, habit)
        self._client = client

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        endpoint = self.endpoint
        as_action = endpoint.json_actions and bool(request.tools)
        table = await price_table()
        price = price_of(table, endpoint.litellm_name)
        body = self._body(request, output_limit(price.entry), as_action=as_action)
        async with AsyncExitStack() as stack:
            try:
                answer = message_chunks(
                    await self._client(), endpoint.address, endpoint.api_key or "", body, endpoint.timeout_s, price
                )
                chunks = await stack.enter_async_context(answer)
            except Exception as error:
                raise model_error(error, endpoint.provider) from None
            said = chat_events(
                chunks,
                endpoint.provider,
                as_action=as_action,
                offered={tool.name for tool in request.tools},
                habit=self.habit,
                restarted=bool(request.guidance and request.guidance.begun),
            )
            async for event in await stack.enter_async_context(aclosing(said)):
                yield event

    def _body(self, request: ModelRequest, limit_tokens: int, *, as_action: bool) -> dict[str, Any]:
        tools: list[dict[str, Any]] = []
        if as_action:
            messages = json_action_call(request).messages
        else:
            messages = openai_messages(request, pictures=self.accepts_pictures(request))
            if request.tools:
                messages, tools = marked_messages(messages), marked_tools(openai_tools(request.tools))
        system, turns = anthropic_messages(messages)
        body = {
            "model": self.endpoint.provider.model,
            "stream": True,
            "max_tokens": request.max_tokens or limit_tokens,
            "temperature": request.temperature,
            "system": system or None,
            "messages": turns,
            "tools": anthropic_tools(tools) or None,
        }
        return {name: value for name, value in body.items() if value is not None}


def output_limit(entry: Mapping[str, Any]) -> int:
    """The longest answer to ask for, in tokens, by the model's entry in the table of prices."""
    most = entry.get("max_output_tokens")
    return min(most, _MAX_TOKENS) if isinstance(most, int) and most > 0 else _MAX_TOKENS
