"""A model behind a server that speaks OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools, marks_in_parts, supports_cache_marks
from onyx_jupyter.providers.carried_fields import stand_ins
from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.continuation import FIELDS, Continuation, ContinuationMode
from onyx_jupyter.providers.direct_model import DirectModel, Prepared
from onyx_jupyter.providers.effort import chat_fields, with_thinking
from onyx_jupyter.providers.endpoint import Endpoint
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.openai_stream import chat_chunks
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.providers.refused_parameters import RefusedParameters
from onyx_jupyter.providers.thoughts import ThinkingHabit

if TYPE_CHECKING:
    import httpx


class OpenAIModel(DirectModel):
    """Any model of an OpenAI-compatible server.

    An answer that its guidance begins is gone on with where the server can, which is tried once, as `continuing` knows.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Callable[[], Awaitable[httpx.AsyncClient]],
        habit: ThinkingHabit | None = None,
        continuing: Continuation | None = None,
        refused: RefusedParameters | None = None,
    ) -> None:
        super().__init__(endpoint, client, habit, refused)
        self._continuing = continuing or Continuation()

    async def _prepared(self, request: ModelRequest, entry: Mapping[str, Any], *, as_action: bool) -> Prepared:
        begun = _begins(request)
        mode = await self._continuation_mode() if begun else "not at all"
        effort = self._effort(request, self.endpoint.dialect.efforts)
        body = self._body(request, mode, effort, as_action=as_action)
        return Prepared(body, restarts=begun and mode == "not at all")

    def _answer(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], price: Price
    ) -> AbstractAsyncContextManager[AsyncIterator[ChatChunk]]:
        endpoint = self.endpoint
        key, carried = endpoint.api_key or "", endpoint.dialect.carried
        return chat_chunks(client, endpoint.address, key, body, endpoint.timeout_s, price, carried)

    def _could_not_open(self, request: ModelRequest) -> None:
        if _begins(request):
            self._continuing.forget(self.endpoint.address, self.endpoint.provider.model)

    async def _continuation_mode(self) -> ContinuationMode:
        return await self._continuing.mode(self.endpoint.address, self.endpoint.provider.model, self._text)

    async def _text(self, body: Mapping[str, Any]) -> str:
        """The text of a whole answer. Raises: HttpFailure, httpx.HTTPError."""
        async with AsyncExitStack() as stack:
            chunks = await self._chunks(stack, {"model": self.endpoint.provider.model, "stream": True, **body})
            return "".join([chunk.text async for chunk in chunks])

    def _body(
        self, request: ModelRequest, mode: ContinuationMode, effort: str | None, *, as_action: bool
    ) -> dict[str, Any]:
        dialect, model = self.endpoint.dialect, self.endpoint.provider.model
        body: dict[str, Any] = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": with_thinking(request.max_tokens, effort),
            **chat_fields(dialect.effort_field, effort),
        }
        if as_action:
            call = json_action_call(request)
            body |= {"messages": call.messages, "response_format": call.response_format}
        else:
            messages = openai_messages(request, pictures=self.accepts_pictures(request), model_id=self.id)
            messages, tools = stand_ins(messages, dialect.carried, model), openai_tools(request.tools)
            if tools and supports_cache_marks(self.endpoint.litellm_name):
                messages, tools = marks_in_parts(marked_messages(messages)), marked_tools(tools)
            body |= {"messages": messages, "tools": tools or None}
        if request.guidance is not None and mode != "not at all":
            # A server that starts anew may write words first: a stop would then end the answer where its block begins.
            body["messages"] = [*body["messages"], {"role": "assistant", "content": request.guidance.begun}]
            body |= {"stop": list(request.guidance.stop) or None, **FIELDS[mode]}
        return {name: value for name, value in body.items() if value is not None}


def _begins(request: ModelRequest) -> bool:
    return request.guidance is not None and bool(request.guidance.begun)
