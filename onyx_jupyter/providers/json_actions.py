"""Tool use for models that cannot call tools: each answer is a JSON object, a reply or a call, that follows a schema.

This module writes the prompt and the schema; json_action_stream reads the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.openai_format import replace_pictures

REPLY = "reply"
_MAX_EXAMPLES = 4
_ANNOTATIONS = frozenset(
    {
        "title",
        "default",
        "description",
        "examples",
        "format",
        "pattern",
        "minLength",
        "maxLength",
        "$defs",
        "deprecated",
    }
)
_EXAMPLES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("run ls -l", "exec", {"command": "ls -l"}),
    (
        "add a cell that prints hello to demo.ipynb",
        "notebook_insert_cell",
        {"path": "demo.ipynb", "cellType": "code", "source": "print('hello')"},
    ),
    ("remember that I like tea", "memory_write", {"content": "The user likes tea."}),
    ("what is in demo.ipynb?", "notebook_read", {"path": "demo.ipynb"}),
)


@dataclass(frozen=True, slots=True)
class JsonActionCall:
    """What to send: messages in OpenAI's form and the schema that the answer must follow."""

    messages: list[dict[str, Any]]
    response_format: dict[str, Any]


def json_action_call(request: ModelRequest) -> JsonActionCall:
    """The request with its tools turned into words and a schema."""
    system = "\n\n".join(part for part in (request.system, action_prompt(request.tools)) if part)
    messages = [{"role": "system", "content": system}, *_conversation(request.messages)]
    schema = {"name": "action", "strict": True, "schema": action_schema(request.tools)}
    return JsonActionCall(messages, {"type": "json_schema", "json_schema": schema})


def action_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    """One action: `reply` with a text, or one of the tools with its arguments."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    actions = [_action(REPLY, {**text, "additionalProperties": False})]
    actions += [_action(tool.name, plain_schema(tool.parameters)) for tool in tools]
    return {"anyOf": actions}


def action_prompt(tools: Sequence[ToolDefinition]) -> str:
    """How to answer, which tools there are, and a few examples."""
    told = [tool for tool in tools if not tool.apart]
    names = {tool.name for tool in told}
    examples = [("hello", REPLY, {"text": "Hello! How can I help?"})]
    examples += [example for example in _EXAMPLES if example[1] in names][: _MAX_EXAMPLES - 1]
    lines = [
        "Answer with one JSON object and nothing else. To say something:",
        action_text(REPLY, {"text": "…"}),
        "To act, use one of these; you will be told the result:",
        *(tool.one_line_signature for tool in told),
        "Act only when the user asks for it; otherwise reply. Examples:",
        *(f"{question} → {action_text(name, arguments)}" for question, name, arguments in examples),
    ]
    return "\n".join(lines)


def action_text(name: str, arguments: Mapping[str, Any]) -> str:
    """An action as the model writes it."""
    return json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema reduced to what grammars support: references resolved, annotations and string limits removed."""
    definitions = schema.get("$defs", {})
    plain = _reduce(schema, definitions, ())
    plain.setdefault("type", "object")
    plain.setdefault("properties", {})
    return {**plain, "additionalProperties": False}


def _action(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": dict(arguments)},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _reduce(schema: Mapping[str, Any], definitions: Mapping[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        # A schema that contains itself has no finite grammar by substitution: any object is accepted there.
        return (
            {"type": "object"} if name in inside else _reduce(definitions.get(name, {}), definitions, (*inside, name))
        )
    reduced: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            reduced[key] = {name: _reduce(part, definitions, inside) for name, part in value.items()}
        elif key not in _ANNOTATIONS:
            reduced[key] = _reduce_value(value, definitions, inside)
    return reduced


def _reduce_value(value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(value, Mapping):
        return _reduce(value, definitions, inside)
    if isinstance(value, list):
        return [_reduce_value(item, definitions, inside) for item in value]
    return value


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Earlier answers in the form that the next one must have; results as messages of the user."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    converted: list[dict[str, Any]] = []
    for message in map(replace_pictures, messages):
        if message.role == "tool":
            name = names.get(message.tool_call_id or "", "the tool")
            converted.append({"role": "user", "content": f"Result of {name}:\n{message.content}"})
        elif message.role == "assistant":
            actions = [action_text(call.name, call.arguments) for call in message.tool_calls]
            said = [action_text(REPLY, {"text": message.content})] if not actions else []
            converted += [{"role": "assistant", "content": action} for action in said + actions]
        else:
            converted.append({"role": message.role, "content": message.text})
    return converted
