"""A model behind LiteLLM: one streamed call per request, as Onyx's own events; no retries, no state."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import ModelEvent, ModelProgress, ModelRequest
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools, supports_cache_marks
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk, chat_events
from onyx_jupyter.providers.endpoint import EndpointModel
from onyx_jupyter.providers.error_map import model_error
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.litellm_library import load_litellm, loaded_litellm, price_table
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.prices import UNKNOWN, price_of

# The configuration's keys for what only some providers have, and LiteLLM's names for them.
_OPTIONS = {
    "region": "aws_region_name",
    "profile": "aws_profile_name",
    "project": "vertex_project",
    "location": "vertex_location",
    "apiVersion": "api_version",
}


class LiteLLMModel(EndpointModel):
    """Any model that LiteLLM reaches by its prefix."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. Closing or cancelling ends the HTTP stream at once. Raises: ModelError."""
        if loaded_litellm() is None:
            yield ModelProgress("Loading the provider library…")
        litellm = await load_litellm()
        as_action = self.endpoint.json_actions and bool(request.tools)
        price = price_of(await price_table(), self.endpoint.litellm_name) if self.endpoint.priced else UNKNOWN
        request.progress.cost_usd = price.cost_usd
        chunks = await self._open(litellm, request, as_action=as_action)
        request.progress.accepted = True
        try:
            read = self._chunks(litellm, chunks)
            offered = {tool.name for tool in request.tools}
            said = chat_events(
                read,
                self.endpoint.provider,
                as_action=as_action,
                offered=offered,
                habit=self.habit,
                restarted=bool(request.guidance and request.guidance.begun),
                progress=request.progress,
            )
            async with contextlib.aclosing(said) as events:
                async for event in events:
                    yield event
        finally:
            await _close(chunks)

    async def _open(self, litellm: Any, request: ModelRequest, *, as_action: bool) -> Any:
        try:
            return await litellm.acompletion(**self._arguments(request, as_action=as_action))
        except Exception as error:
            raise model_error(error, self.endpoint.provider) from None

    def _arguments(self, request: ModelRequest, *, as_action: bool) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.endpoint.litellm_name,
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_tokens,
            "timeout": self.endpoint.timeout_s,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
            "api_key": self.endpoint.api_key,
            "base_url": self.endpoint.provider.base_url,
            "reasoning_effort": request.effort or self.endpoint.effort,
            **{_OPTIONS[name]: value for name, value in self.endpoint.options.items() if name in _OPTIONS},
        }
        if as_action:
            call = json_action_call(request)
            arguments |= {"messages": call.messages, "response_format": call.response_format}
        else:
            arguments["messages"] = openai_messages(request, pictures=self.accepts_pictures(request))
            if request.tools:
                tools = openai_tools(request.tools)
                if supports_cache_marks(self.endpoint.litellm_name):
                    arguments["messages"] = marked_messages(arguments["messages"])
                    tools = marked_tools(tools)
                # Otherwise LiteLLM looks for its MCP gateway, whose packages are not installed.
                arguments |= {"tools": tools, "_skip_mcp_handler": True}
        return {name: value for name, value in arguments.items() if value is not None}

    async def _chunks(self, litellm: Any, chunks: Any) -> AsyncGenerator[ChatChunk, None]:
        reason: str | None = None
        usage: Any = None
        async for chunk in chunks:
            if counted := getattr(chunk, "usage", None):
                usage = counted
                yield ChatChunk(usage=replace(self._usage(litellm, counted), estimated=True))  # until it has ended
            for choice in chunk.choices:
                reason = choice.finish_reason or reason
                calls = [_piece(call) for call in choice.delta.tool_calls or ()]
                # Whatever the provider's name for it, the library uses this one, if there is any.
                thought = getattr(choice.delta, "reasoning_content", None) or ""
                yield ChatChunk(choice.delta.content or "", calls, thought=thought)
        # LiteLLM makes up the reason "stop" for an answer that merely ended; only a received one counts.
        if getattr(chunks, "received_finish_reason", reason) is None:
            reason = None
        yield ChatChunk(finish_reason=reason, usage=self._usage(litellm, usage) if usage is not None else None)

    def _usage(self, litellm: Any, reported: Any) -> Usage:
        input_tokens, output_tokens = reported.prompt_tokens or 0, reported.completion_tokens or 0
        details = getattr(reported, "prompt_tokens_details", None)
        cached_tokens = getattr(details, "cached_tokens", None)
        reasoning_tokens = getattr(getattr(reported, "completion_tokens_details", None), "reasoning_tokens", None)
        cost_usd = self._cost_usd(litellm, reported)
        return Usage(input_tokens, output_tokens, cached_tokens, cost_usd, reasoning_tokens)

    def _cost_usd(self, litellm: Any, reported: Any) -> float | None:
        if not self.endpoint.priced:
            return None
        # The price table knows only some models; any exception for the others means "unknown".
        with contextlib.suppress(Exception):
            prices = litellm.cost_per_token(model=self.endpoint.litellm_name, usage_object=reported)
            return float(sum(prices)) or None
        return None


async def _close(chunks: Any) -> None:
    # The stream may be broken already; closing it again must not hide the original error.
    with contextlib.suppress(Exception):
        await chunks.aclose()


def _piece(call: Any) -> CallPiece:
    return CallPiece(call.index, call.id, call.function.name, call.function.arguments)
