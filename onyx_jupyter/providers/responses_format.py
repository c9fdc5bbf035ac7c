"""Messages and tools in the form of OpenAI's Responses API, from that of chat completions.

Source: OpenAI, "Responses" (input items, function_call, function_call_output, input_image, reasoning).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onyx_jupyter.providers.carried_fields import in_order

# The carried field: reasoning items as they came, among marks for the text and the calls.
REASONING_ITEMS = "reasoning_items"
_MAX_ID_CHARS = 64
Item = dict[str, Any]


def responses_input(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[Item]]:
    """The instructions, from the system prompt, and the conversation as items. Empty texts are left out."""
    system = [str(message["content"]) for message in messages if message["role"] == "system"]
    items = [item for message in messages if message["role"] != "system" for item in _items(message)]
    return "\n\n".join(system), items


def responses_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Functions in flat form; strict ones would have to require each of their arguments."""
    return [{"type": "function", **tool["function"], "strict": False} for tool in tools]


def responses_format(response_format: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema for the answer's text."""
    return {"type": "json_schema", **response_format["json_schema"]}


def _items(message: Mapping[str, Any]) -> Iterator[Item]:
    content = message["content"]
    if message["role"] == "tool":
        yield {"type": "function_call_output", "call_id": _id(message["tool_call_id"]), "output": content or "(empty)"}
        return
    parts = [_part(part) for part in content] if isinstance(content, list) else content
    said = {"role": message["role"], "content": parts} if content else None
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    yield from in_order(message.get(REASONING_ITEMS) or (), said, calls)


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"]}


def _call(call: Mapping[str, Any]) -> Item:
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": _id(call["id"]),
        "name": function["name"],
        "arguments": function["arguments"],
    }


def _id(call_id: str) -> str:
    """An id of another provider's call may be longer than this API accepts; its end differs from call to call."""
    return call_id[-_MAX_ID_CHARS:]
