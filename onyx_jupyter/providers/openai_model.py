"""A model behind a server that speaks OpenAI's protocol: one streamed call per request, without retries.

No LiteLLM: without the library's cost per chunk a server can answer many sessions at once.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelEvent, ModelRequest
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools, marks_in_parts, supports_cache_marks
from onyx_jupyter.providers.chat_answer import ChatChunk, chat_events
from onyx_jupyter.providers.continuation import FIELDS, Continuation, ContinuationMode
from onyx_jupyter.providers.endpoint import Endpoint, EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.event_stream import HttpFailure
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.litellm_library import price_table
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.openai_stream import chat_chunks
from onyx_jupyter.providers.prices import UNKNOWN, Price, price_of
from onyx_jupyter.providers.refused_parameters import RefusedParameters
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class OpenAIModel(EndpointModel):
    """Any model of an OpenAI-compatible server. `client` gives the connections, shared by all of them.

    An answer that its guidance begins is gone on with where the server can, which is tried once, as `continuing` knows.
    A parameter that the server refuses is left out, as `refused` knows.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        habit: ThinkingHabit | None = None,
        continuing: Continuation | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        super().__init__(endpoint, habit)
        self._client = client
        self._continuing = continuing or Continuation()
        self._refused = refused or RefusedParameters()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        as_action = self.endpoint.json_actions and bool(request.tools)
        begun = request.guidance is not None and bool(request.guidance.begun)
        mode = await self._continuation_mode() if begun else "not at all"
        price = price_of(await price_table(), self.endpoint.litellm_name) if self.endpoint.priced else UNKNOWN
        async with AsyncExitStack() as stack:
            try:
                chunks = await self._chunks(stack, self._body(request, mode, as_action=as_action), price)
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
                restarted=begun and mode == "not at all",
            )
            async for event in await stack.enter_async_context(aclosing(said)):
                yield event

    async def _chunks(
        self, stack: AsyncExitStack, body: Mapping[str, Any], price: Price = UNKNOWN
    ) -> AsyncIterator[ChatChunk]:
        """Raises: HttpFailure, httpx.HTTPError."""
        client, endpoint, model = await self._client(), self.endpoint, self.endpoint.provider.model
        while True:
            sent = self._refused.accepted(self._address, model, body)
            answer = chat_chunks(client, self._address, endpoint.api_key or "", sent, endpoint.timeout_s, price)
            try:
                return await stack.enter_async_context(answer)
            except HttpFailure as failure:
                if not self._refused.learn(self._address, model, sent, failure):
                    raise

    @property
    def _address(self) -> str:
        return self.endpoint.address

    async def _continuation_mode(self) -> ContinuationMode:
        return await self._continuing.mode(self._address, self.endpoint.provider.model, self._text)

    async def _text(self, body: Mapping[str, Any]) -> str:
        """The text of a whole answer. Raises: HttpFailure, httpx.HTTPError."""
        async with AsyncExitStack() as stack:
            chunks = await self._chunks(stack, {"model": self.endpoint.provider.model, "stream": True, **body})
            return "".join([chunk.text async for chunk in chunks])

    def _body(self, request: ModelRequest, mode: ContinuationMode, *, as_action: bool) -> dict[str, Any]:
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
            messages, tools = (
                openai_messages(request, pictures=self.accepts_pictures(request)),
                openai_tools(request.tools),
            )
            if tools and supports_cache_marks(self.endpoint.litellm_name):
                messages, tools = marks_in_parts(marked_messages(messages)), marked_tools(tools)
            body |= {"messages": messages, "tools": tools or None}
        if request.guidance is not None and mode != "not at all":
            # A server that starts anew may write words first: a stop would then end the answer where its block begins.
            body["messages"] = [*body["messages"], {"role": "assistant", "content": request.guidance.begun}]
            body |= {"stop": list(request.guidance.stop) or None, **FIELDS[mode]}
        return {name: value for name, value in body.items() if value is not None}
