"""Counts the tokens of a request: locally, then corrected by what the provider counted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import Measured, ModelRequest
from onyx_jupyter.text_tokens import text_tokens

IMAGE_TOKENS = 1600
_MESSAGE_TOKENS = 8
_CALL_TOKENS = 16
_KEPT = "tokens"
# Beyond these a provider's count says more about its hidden prompts than about the length of a token.
_LEAST_RATIO, _MOST_RATIO = 0.5, 2.5


def message_tokens(message: Message) -> int:
    """Text, calls and attachments; a picture counts the same whatever its size."""
    if _KEPT not in message.kept:
        message.kept[_KEPT] = _message_tokens(message)
    tokens: int = message.kept[_KEPT]
    return tokens


def _message_tokens(message: Message) -> int:
    calls = sum(_CALL_TOKENS + text_tokens(call.name) + _json_tokens(call.arguments) for call in message.tool_calls)
    return _MESSAGE_TOKENS + text_tokens(message.text) + calls + IMAGE_TOKENS * len(message.attachments)


def messages_tokens(messages: Iterable[Message]) -> int:
    """The sum over the messages."""
    return sum(map(message_tokens, messages))


def request_tokens(request: ModelRequest) -> int:
    """Prompt, tools and messages."""
    return text_tokens(request.system) + sum(map(_tool_tokens, request.tools)) + messages_tokens(request.messages)


@dataclass(frozen=True, slots=True)
class Correction:
    """Converts local counts into the provider's and back.

    Only the difference to the request that the provider counted is scaled, by the ratio seen there: what was sent
    before counts exactly, and only what is new is estimated.
    """

    measured: Measured | None

    def tokens(self, estimate: int) -> int:
        """What the provider would count."""
        if self.measured is None:
            return estimate
        counted = self.measured.counted + self._ratio(self.measured) * (estimate - self.measured.estimate)
        return round(max(counted, estimate * _LEAST_RATIO))

    def estimate(self, tokens: int) -> int:
        """The largest local count that stays within `tokens` as the provider counts them."""
        if self.measured is None:
            return tokens
        local = self.measured.estimate + (tokens - self.measured.counted) / self._ratio(self.measured)
        return int(min(local, tokens / _LEAST_RATIO))

    @staticmethod
    def _ratio(measured: Measured) -> float:
        return min(max(measured.counted / measured.estimate, _LEAST_RATIO), _MOST_RATIO)


def _tool_tokens(tool: ToolDefinition) -> int:
    return _CALL_TOKENS + text_tokens(tool.name) + text_tokens(tool.description) + _json_tokens(tool.parameters)


def _json_tokens(value: object) -> int:
    return text_tokens(json.dumps(value, ensure_ascii=False, default=str))
