"""A model behind LiteLLM: one streamed call per request, as Onyx's own events. It never retries and holds no state."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import ModelDone, ModelEvent, ModelProgress, ModelRequest, TextDelta
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools, takes_marks
from onyx_jupyter.providers.call_fragments import CallFragments
from onyx_jupyter.providers.context_window import known_window
from onyx_jupyter.providers.error_map import (
    Provider,
    endless,
    model_error,
    no_answer,
    refused,
    stopped_in_the_middle,
)
from onyx_jupyter.providers.json_action_stream import JsonActionStream
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.litellm_library import load_litellm, loaded_litellm, read_price_table
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.vision import can_see

# Far beyond the longest answer that any model gives.
MAX_TEXT_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is reached: LiteLLM's name for it, key and address, and how long to wait for the next byte.

    `context_window` (in tokens) and `vision` are what the configuration says.
    """

    model_id: str
    litellm_name: str
    provider: Provider
    api_key: str | None = field(repr=False)
    json_actions: bool
    timeout_s: float
    priced: bool = True
    context_window: int | None = None
    vision: bool | None = None


class LiteLLMModel:
    """Any model that LiteLLM reaches by its prefix."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._context_window = endpoint.context_window
        self._vision = endpoint.vision

    @property
    def id(self) -> str:
        return self._endpoint.model_id

    @property
    def light(self) -> bool:
        return False

    @property
    def context_window(self) -> int:
        if self._context_window is None:
            own_server = self._endpoint.provider.base_url is not None
            table = read_price_table()
            self._context_window = known_window(table, self._endpoint.litellm_name, own_server=own_server)
        return self._context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        if loaded_litellm() is None:
            yield ModelProgress("Loading the provider library…")
        litellm = await load_litellm()
        as_action = self._endpoint.json_actions and bool(request.tools)
        chunks = await self._open(litellm, request, as_action=as_action)
        answer = _Answer(chunks, self._endpoint.provider)
        action = JsonActionStream() if as_action else None
        try:
            async with contextlib.aclosing(answer.texts()) as texts:
                async for text in texts:
                    if said := action.feed(text) if action else text:
                        yield TextDelta(said)
        finally:
            await _close(chunks)
        rest, calls = action.finish() if action else ("", answer.fragments.calls())
        if rest:
            yield TextDelta(rest)
        yield ModelDone(calls, self._usage(litellm, answer.usage), _reason(answer.finish_reason, bool(calls)))

    async def _open(self, litellm: Any, request: ModelRequest, *, as_action: bool) -> Any:
        try:
            return await litellm.acompletion(**self._arguments(request, as_action=as_action))
        except Exception as error:
            raise model_error(error, self._endpoint.provider) from None

    def _arguments(self, request: ModelRequest, *, as_action: bool) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._endpoint.litellm_name,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "timeout": self._endpoint.timeout_s,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
            "api_key": self._endpoint.api_key,
            "base_url": self._endpoint.provider.base_url,
        }
        if as_action:
            call = json_action_call(request)
            arguments |= {"messages": call.messages, "response_format": call.response_format}
        else:
            arguments["messages"] = openai_messages(request, pictures=self._sees(request))
            if request.tools:
                tools = openai_tools(request.tools)
                if takes_marks(self._endpoint.litellm_name):
                    arguments["messages"] = marked_messages(arguments["messages"])
                    tools = marked_tools(tools)
                # LiteLLM otherwise looks for its MCP gateway, whose packages are not installed.
                arguments |= {"tools": tools, "_skip_mcp_handler": True}
        return {name: value for name, value in arguments.items() if value is not None}

    def _sees(self, request: ModelRequest) -> bool:
        if self._vision is None and any(message.attachments for message in request.messages):
            self._vision = can_see(read_price_table(), self._endpoint.litellm_name)
        return bool(self._vision)

    def _usage(self, litellm: Any, reported: Any) -> Usage:
        if reported is None:
            return Usage()
        input_tokens, output_tokens = reported.prompt_tokens or 0, reported.completion_tokens or 0
        details = getattr(reported, "prompt_tokens_details", None)
        cached_tokens = getattr(details, "cached_tokens", None)
        return Usage(input_tokens, output_tokens, cached_tokens, self._cost_usd(litellm, reported))

    def _cost_usd(self, litellm: Any, reported: Any) -> float | None:
        if not self._endpoint.priced:
            return None
        # The price table knows some models only; whatever it raises for the others means "unknown".
        with contextlib.suppress(Exception):
            prices = litellm.cost_per_token(model=self._endpoint.litellm_name, usage_object=reported)
            return float(sum(prices)) or None
        return None


class _Answer:
    """The chunks of one answer, read to their end: text as it comes, the rest kept for the end."""

    def __init__(self, chunks: Any, provider: Provider) -> None:
        self.fragments = CallFragments()
        self.usage: Any = None
        self.finish_reason: str | None = None
        self._chunks = chunks
        self._provider = provider
        self._text_chars = 0

    async def texts(self) -> AsyncGenerator[str, None]:
        """Every piece of text. Raises: ModelError, also where the stream ends without having said that it is over."""
        try:
            async for chunk in self._chunks:
                if getattr(chunk, "usage", None) is not None:
                    self.usage = chunk.usage
                for choice in chunk.choices:
                    self.finish_reason = choice.finish_reason or self.finish_reason
                    self._add_calls(choice.delta.tool_calls or ())
                    if choice.delta.content:
                        self._text_chars += len(choice.delta.content)
                        yield choice.delta.content
                        if self._text_chars > MAX_TEXT_CHARS:
                            raise endless(self._provider)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise model_error(error, self._provider, started=True) from None
        # LiteLLM makes up the reason "stop" for an answer that merely ended; only what it received counts.
        if getattr(self._chunks, "received_finish_reason", self.finish_reason) is None:
            began = self._text_chars or self.fragments
            raise stopped_in_the_middle(self._provider) if began else no_answer(self._provider)
        if self.finish_reason == "content_filter":
            raise refused(self._provider)

    def _add_calls(self, deltas: Iterable[Any]) -> None:
        for delta in deltas:
            self.fragments.add(delta.index, delta.id, delta.function.name, delta.function.arguments)


async def _close(chunks: Any) -> None:
    # The stream may have broken already; closing it again must not hide what broke it.
    with contextlib.suppress(Exception):
        await chunks.aclose()


def _reason(reported: str | None, has_calls: bool) -> str:
    return "tool_calls" if has_calls else reported or "stop"
