"""Onyx's messages and tools in OpenAI's form; the only place that writes it.

Source: OpenAI, "Chat Completions" (messages, tools, tool_calls, image_url).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.messages import Attachment, Message, ToolCall, ToolDefinition, whole_text
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.carried_fields import carried_of, put_back

_EMPTY_PARAMETERS = {"type": "object", "properties": {}}


def openai_messages(request: ModelRequest, *, pictures: bool = False, model_id: str = "") -> list[dict[str, Any]]:
    """The system prompt, if there is one, then the conversation, with its pictures for a model that can see them, and
    with the fields that came with the replies of the model of that id.

    Halves of surrogate pairs are removed from all texts: no request could be sent with them, and the session would be
    lost.

    Results cannot hold pictures in this form: the pictures of one reply's results follow in a separate message.
    """
    made: list[dict[str, Any]] = [{"role": "system", "content": whole_text(request.system)}] if request.system else []
    names: dict[str, str] = {}
    waiting: list[dict[str, Any]] = []
    for message in request.messages if pictures else map(replace_pictures, request.messages):
        if message.role != "tool" and waiting:
            made.append({"role": "user", "content": waiting})
            waiting = []
        names.update({call.id: call.name for call in message.tool_calls})
        reply = _message(message)
        made.append(put_back(reply, carried_of(message, model_id)) if message.tool_calls else reply)
        if message.role == "tool" and message.attachments:
            name = names.get(message.tool_call_id or "", "the tool")
            waiting += _parts(f"[Onyx] From the result of {name}:", message.attachments)
    return [*made, {"role": "user", "content": waiting}] if waiting else made


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


def replace_pictures(message: Message) -> Message:
    """The message for a model that cannot see: a line replaces its pictures."""
    if not message.attachments:
        return message
    count = len(message.attachments)
    what = "A picture that you cannot see is" if count == 1 else f"{count} pictures that you cannot see are"
    return replace(message, content=f"{message.content}\n[{what} shown to the user here.]".lstrip(), attachments=())


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        answered = whole_text(message.tool_call_id or "")
        return {"role": "tool", "tool_call_id": answered, "content": whole_text(message.content)}
    if message.tool_calls:
        calls = [_tool_call(call) for call in message.tool_calls]
        return {"role": message.role, "content": whole_text(message.content) or None, "tool_calls": calls}
    if message.attachments:
        return {"role": message.role, "content": _parts(message.text, message.attachments)}
    return {"role": message.role, "content": whole_text(message.text)}


def _parts(text: str, pictures: Sequence[Attachment]) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": whole_text(text)}] if text else []
    urls = (f"data:{picture.mime_type};base64,{picture.data}" for picture in pictures)
    return [*said, *({"type": "image_url", "image_url": {"url": url}} for url in urls)]


def _tool_call(call: ToolCall) -> dict[str, Any]:
    # A malformed call is replayed with empty arguments: some providers refuse a history that holds broken JSON.
    arguments = whole_text(json.dumps(dict(call.arguments), ensure_ascii=False))
    function = {"name": whole_text(call.name), "arguments": arguments}
    return {"id": whole_text(call.id), "type": "function", "function": function}
