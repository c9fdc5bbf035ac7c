"""Onyx's messages and tools in OpenAI's form, the one place where that form is written. It sends nothing.

Source: OpenAI, "Chat Completions" (messages, tools, tool_calls).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from onyx_jupyter.messages import Message, ToolCall, ToolDefinition
from onyx_jupyter.protocols import ModelRequest

_EMPTY_PARAMETERS = {"type": "object", "properties": {}}


def openai_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The system prompt, if there is one, then the conversation."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    return system + [_message(message) for message in request.messages]


def openai_tools(tools: Sequence[ToolDefinition]) -> list[dict[str, Any]]:
    """Every tool as a function."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters) or _EMPTY_PARAMETERS,
            },
        }
        for tool in tools
    ]


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id or "", "content": message.content}
    if message.tool_calls:
        calls = [_tool_call(call) for call in message.tool_calls]
        return {"role": message.role, "content": message.content or None, "tool_calls": calls}
    return {"role": message.role, "content": message.text}


def _tool_call(call: ToolCall) -> dict[str, Any]:
    # A malformed call is replayed with empty arguments: some providers refuse a history that holds broken JSON.
    function = {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}
