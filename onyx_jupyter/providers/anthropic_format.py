"""Messages and tools in the form of Anthropic's Messages API, from OpenAI's form.

Source: Anthropic, "Messages" (content blocks, tool_use, tool_result), "Vision", "Prompt caching".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.providers.carried_fields import in_order

_MARK = "cache_control"
_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,")
_NOT_IN_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
Block = dict[str, Any]
# The carried field: thinking blocks as they came, among marks for the text and the calls.
THINKING_BLOCKS = "thinking_blocks"


def anthropic_messages(messages: Sequence[Mapping[str, Any]]) -> tuple[list[Block], list[dict[str, Any]]]:
    """The blocks of the system prompt, and the conversation, in which user and assistant take turns.

    Results of tools are blocks of the user's message after the calls. Empty texts, which the API refuses, are left out.
    """
    system: list[Block] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        blocks = _blocks(message)
        if message["role"] == "system":
            system += blocks
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": role, "content": blocks})
    return system, turns


def anthropic_tools(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """OpenAI's functions as tools."""
    return [_marked(_tool(tool["function"]), tool) for tool in tools]


def _tool(function: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _blocks(message: Mapping[str, Any]) -> list[Block]:
    content = message["content"]
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": _id(message["tool_call_id"]), "content": content or "(empty)"}
        return [_marked(result, message)]
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
    blocks = [_part(part) for part in parts if part["type"] != "text" or part["text"].strip()]
    if calls := [_call(call) for call in message.get("tool_calls") or ()]:
        blocks = list(in_order(message.get(THINKING_BLOCKS) or (), blocks[0] if blocks else None, calls))
    if blocks:
        blocks[-1] = _marked(blocks[-1], message)
    return blocks


def _part(part: Mapping[str, Any]) -> Block:
    if part["type"] == "text":
        return _marked({"type": "text", "text": part["text"]}, part)
    url = part["image_url"]["url"]
    found = _DATA_URL.match(url)
    source = (
        {"type": "base64", "media_type": found[1], "data": url[found.end() :]} if found else {"type": "url", "url": url}
    )
    return _marked({"type": "image", "source": source}, part)


def _call(call: Mapping[str, Any]) -> Block:
    function = call["function"]
    arguments = json.loads(function["arguments"] or "{}")
    return {"type": "tool_use", "id": _id(call["id"]), "name": function["name"], "input": arguments}


def _id(call_id: str) -> str:
    """An id of another provider's call may have characters that this API refuses."""
    return _NOT_IN_AN_ID.sub("_", call_id) or "_"


def _marked(block: Block, marked: Mapping[str, Any]) -> Block:
    return {**block, _MARK: marked[_MARK]} if _MARK in marked else block
