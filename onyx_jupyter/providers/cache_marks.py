"""Marks for prompt caches that keep only what is marked, such as Claude's. They change no text of a request.

Source: Anthropic, "Prompt caching" (`cache_control`; at most four marks in a request; tools come before the system).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_MARK = {"cache_control": {"type": "ephemeral"}}
# Providers that pass the marks on, by LiteLLM's prefix, and what the model's name must contain there.
_CLAUDE_AT = {"anthropic": "", "bedrock": "claude", "vertex_ai": "claude", "openrouter": "claude"}


def supports_cache_marks(litellm_name: str) -> bool:
    """Whether this model (`anthropic/claude-…`) has a cache that needs marks."""
    prefix, _, model = litellm_name.partition("/")
    return prefix in _CLAUDE_AT and _CLAUDE_AT[prefix] in model.lower()


def marked_messages(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A copy in OpenAI's form with marks on the system prompt, the newest message and the one that was newest before.

    The next request continues from the newest; the one before it is still found after a reply with many calls.
    """
    marked = [dict(message) for message in messages]
    for index in {_system(marked), _newest_before(marked, _last_reply(marked)), _newest_before(marked, len(marked))}:
        if index is not None:
            marked[index] = _with_mark(marked[index])
    return marked


def marks_in_parts(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same messages with the marks on parts of their contents, where OpenRouter reads them."""
    return [_mark_in_part(message) if "cache_control" in message else dict(message) for message in messages]


def marked_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A copy with a mark on the last tool."""
    return [*map(dict, tools[:-1]), *({**tool, **_MARK} for tool in tools[-1:])]


def _system(messages: Sequence[Mapping[str, Any]]) -> int | None:
    return 0 if messages and messages[0]["role"] == "system" else None


def _last_reply(messages: Sequence[Mapping[str, Any]]) -> int:
    replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
    return replies[-1] if replies else 0


def _newest_before(messages: Sequence[Mapping[str, Any]], end: int) -> int | None:
    """The last message of the user or a tool before that index; an empty text cannot be marked."""
    wanted = (index for index in range(end - 1, -1, -1) if messages[index]["role"] in ("user", "tool"))
    return next((index for index in wanted if messages[index]["content"]), None)


def _mark_in_part(message: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in message.items() if name != "cache_control"}
    return {**rest, "content": [{"type": "text", "text": message["content"], **_MARK}]}


def _with_mark(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    if isinstance(content, list):
        return {**message, "content": [*content[:-1], {**content[-1], **_MARK}]}
    return {**message, **_MARK}
