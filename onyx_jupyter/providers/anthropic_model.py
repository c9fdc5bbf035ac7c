"""A model of Anthropic's Messages API, without a client library."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.anthropic_format import THINKING_BLOCKS, anthropic_messages, anthropic_tools
from onyx_jupyter.providers.anthropic_stream import message_chunks
from onyx_jupyter.providers.cache_marks import marked_messages, marked_tools
from onyx_jupyter.providers.carried_fields import last_reply_lacks
from onyx_jupyter.providers.chat_answer import ChatChunk
from onyx_jupyter.providers.direct_model import DirectModel, Prepared
from onyx_jupyter.providers.effort import NONE, THINKING_TOKENS, listed_efforts
from onyx_jupyter.providers.json_actions import json_action_call
from onyx_jupyter.providers.openai_format import openai_messages, openai_tools
from onyx_jupyter.providers.prices import Price

if TYPE_CHECKING:
    import httpx

# The API insists on a limit. A model that the table does not list, or an endless answer, gets this one.
_MAX_TOKENS = 32_000
_LEAST_BUDGET = 1_024


class AnthropicModel(DirectModel):
    """Claude, at Anthropic or behind an address that speaks the same protocol."""

    needed: ClassVar[frozenset[str]] = frozenset({"max_tokens"})

    async def _prepared(self, request: ModelRequest, entry: Mapping[str, Any], *, as_action: bool) -> Prepared:
        tools: list[dict[str, Any]] = []
        if as_action:
            messages = json_action_call(request).messages
        else:
            messages = openai_messages(request, pictures=self.accepts_pictures(request), model_id=self.id)
            if request.tools:
                messages, tools = marked_messages(messages), marked_tools(openai_tools(request.tools))
        system, turns = anthropic_messages(messages)
        efforts = listed_efforts(entry, self.endpoint.dialect.efforts)
        effort = self._effort(request, (NONE, *efforts))  # any of them can be without
        limit = output_limit(entry, request.max_tokens, effort)
        thinking = thinking_fields(effort, limit, entry, may_budget=not last_reply_lacks(messages, THINKING_BLOCKS))
        is_thinking = "thinking" in thinking and effort != NONE
        body = {
            "model": self.endpoint.provider.model,
            "stream": True,
            "max_tokens": limit,
            "temperature": None if is_thinking else request.temperature,  # refused beside thinking
            "system": system or None,
            "messages": turns,
            "tools": anthropic_tools(tools) or None,
            **thinking,
        }
        sent = {name: value for name, value in body.items() if value is not None}
        return Prepared(sent, restarts=bool(request.guidance and request.guidance.begun))

    def _answer(
        self, client: httpx.AsyncClient, body: Mapping[str, Any], price: Price
    ) -> AbstractAsyncContextManager[AsyncIterator[ChatChunk]]:
        endpoint = self.endpoint
        return message_chunks(client, endpoint.address, endpoint.api_key or "", body, endpoint.timeout_s, price)


def output_limit(entry: Mapping[str, Any], asked: int | None = None, effort: str | None = None) -> int:
    """The longest answer to ask for, in tokens, thoughts included; `entry` is that of the table of models."""
    most = entry.get("max_output_tokens")
    thoughts = THINKING_TOKENS[effort or NONE]
    if not isinstance(most, int) or most <= 0:
        return (asked or _MAX_TOKENS) + thoughts
    # What was asked for is not shortened in silence: if it is too much, the API says so.
    return max(min((asked or min(most, _MAX_TOKENS)) + thoughts, most), asked or 0)


def thinking_fields(
    effort: str | None, limit: int, entry: Mapping[str, Any], *, may_budget: bool = True
) -> dict[str, Any]:
    """How Claude is asked to think. Newer models decide for themselves how far to go; older ones get a budget, which
    they refuse (`may_budget` false) after a reply that has lost its thoughts.
    """
    is_new = not entry or bool(entry.get("supports_adaptive_thinking"))
    if effort is None or (effort == NONE and not is_new):
        return {}
    if effort == NONE:
        return {"thinking": {"type": "disabled"}}
    if is_new:
        # Some models would otherwise keep their thoughts to themselves.
        return {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": effort}}
    budget = min(THINKING_TOKENS[effort], limit - _LEAST_BUDGET)
    if not may_budget or budget < _LEAST_BUDGET:
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}
