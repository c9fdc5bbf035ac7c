"""A model behind a server that speaks OpenAI's protocol: one streamed call per request, without retries.

Self-hosted servers need no LiteLLM: no key, no price, no translation. Without the library's cost per chunk they can
answer many sessions at once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelEvent, ModelRequest
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.continuation import FIELDS, Continuation, Way
from onyx_jupyter.providers.endpoint import Endpoint, EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.openai_stream import chat_chunks
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class OpenAIModel(EndpointModel):
    """Any model of an OpenAI-compatible server. `client` gives the connections, shared by all of them.

    An answer that its guidance begins is gone on with where the server can, which is tried once, as `continuing` knows.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        habit: ThinkingHabit | None = None,
        continuing: Continuation | None = None,
    ) -> None:
        super().__init__(endpoint, habit)
        self._client = client
        self._continuing = continuing or Continuation()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        as_action = self.endpoint.json_actions and bool(request.tools)
        begun = request.guidance is not None and bool(request.guidance.begun)
        way = await self._way() if begun else "not at all"
        async with AsyncExitStack() as stack:
            try:
                chunks = await self._chunks(stack, self._body(request, way, as_action=as_action))
            except Exception as error:
                if begun:
                    self._continuing.forget(self._address, self.endpoint.provider.model)
                raise model_error(error, self.endpoint.provider) from None
            said = chat_events(
                chunks,
                self.endpoint.provider,
                as_action=as_action,
                offered={tool.name for tool in request.tools},
                habit=self.habit,
                began_anew=begun and way == "not at all",
            )
            async for event in await stack.enter_async_context(aclosing(said)):
                yield event

    async def _chunks(self, stack: AsyncExitStack, body: Mapping[str, Any]) -> AsyncIterator[ChatChunk]:
        """Raises: HttpFailure, httpx.HTTPError."""
        client, endpoint = await self._client(), self.endpoint
        answer = chat_chunks(client, self._address, endpoint.api_key or "", body, endpoint.timeout_s)
        return await stack.enter_async_context(answer)

    @property
    def _address(self) -> str:
        return self.endpoint.address

    async def _way(self) -> Way:
        return await self._continuing.way(self._address, self.endpoint.provider.model, self._text)

    async def _text(self, body: Mapping[str, Any]) -> str:
        """The text of a whole answer. Raises: HttpFailure, httpx.HTTPError."""
        async with AsyncExitStack() as stack:
            chunks = await self._chunks(stack, {"model": self.endpoint.provider.model, "stream": True, **body})
            return "".join([chunk.text async for chunk in chunks])

    def _body(self, request: ModelRequest, way: Way, *, as_action: bool) -> dict[str, Any]:
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
        if request.guidance is not None and way != "not at all":
            # A server that starts anew may write words first: a stop would then end the answer where its block begins.
            body["messages"] = [*body["messages"], {"role": "assistant", "content": request.guidance.begun}]
            body |= {"stop": list(request.guidance.stop) or None, **FIELDS[way]}
        return {name: value for name, value in body.items() if value is not None}
