"""A model of OpenAI's Responses API, without a client library. Nothing is stored at OpenAI."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.direct_model import DirectModel, Prepared
from onyx_jupyter.providers.effort import listed_efforts, thinks, with_thinking
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.providers.responses_format import responses_format, responses_input, responses_tools
from onyx_jupyter.providers.responses_stream import response_chunks

if TYPE_CHECKING:
    import httpx

# The API takes no smaller limit.
_LEAST_TOKENS = 16


class ResponsesModel(DirectModel):
    """A model at OpenAI itself. What it thought goes back to it encrypted, with the results of its calls."""

    async def _prepared(self, request: ModelRequest, entry: Mapping[str, Any], *, as_action: bool) -> Prepared:
        call = json_action_call(request) if as_action else None
        pictures = self.accepts_pictures(request)
        messages = call.messages if call else openai_messages(request, pictures=pictures, model_id=self.id)
        instructions, items = responses_input(messages)
        effort = self._effort(request, listed_efforts(entry, self.endpoint.dialect.efforts))
        limit = with_thinking(request.max_tokens, effort)
        body: dict[str, Any] = {
            "model": self.endpoint.provider.model,
            "stream": True,
            "store": False,
            "instructions": instructions or None,
            "input": items,
            "temperature": request.temperature,
            "max_output_tokens": max(limit, _LEAST_TOKENS) if limit is not None else None,
        }
        if call is not None:
            body["text"] = {"format": responses_format(call.response_format)}
        elif request.tools:
            body["tools"] = responses_tools(openai_tools(request.tools))
        if thinks(entry):
            reasoning = {"effort": effort, "summary": "auto"} if effort else {"summary": "auto"}
            body |= {"reasoning": reasoning, "include": ["reasoning.encrypted_content"]}
        sent = {name: value for name, value in body.items() if value is not None}
        return Prepared(sent, restarts=bool(request.guidance and request.guidance.begun))

    def _answer(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], price: Price
    ) -> AbstractAsyncContextManager[AsyncIterator[ChatChunk]]:
        endpoint = self.endpoint
        return response_chunks(client, endpoint.address, endpoint.api_key or "", body, endpoint.timeout_s, price)
