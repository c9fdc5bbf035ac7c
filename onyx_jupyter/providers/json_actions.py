"""Tool use for models that cannot call tools: each answer is one JSON object, a reply or a call, held to a schema.

It writes the prompt and the schema; reading the answer is json_action_stream's work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.providers.openai_format import in_words

REPLY = "reply"
_MAX_EXAMPLES = 4
_NOTEBOOK = re.compile(r"[\w./-]+\.ipynb\b")
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
# For a model that is led by examples alone. The words of a request stand in the arguments, so it learns to copy.
_LEADING_EXAMPLES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *_EXAMPLES,
    ("Please run `git status`", "exec", {"command": "git status"}),
    ("list the files in data", "exec", {"command": "ls data"}),
    ("show the disk space", "exec", {"command": "df -h"}),
    (
        "insert a cell with import pandas as pd in work/load.ipynb",
        "notebook_insert_cell",
        {"path": "work/load.ipynb", "cellType": "code", "source": "import pandas as pd"},
    ),
    (
        "add a Markdown cell with the title Results to report.ipynb",
        "notebook_insert_cell",
        {"path": "report.ipynb", "cellType": "markdown", "source": "# Results"},
    ),
    ("Remember: my project is called Comet.", "memory_write", {"content": "The user's project is called Comet."}),
    ("remember that I work in Oslo", "memory_write", {"content": "The user works in Oslo."}),
    ("read work/load.ipynb", "notebook_read", {"path": "work/load.ipynb"}),
)


@dataclass(frozen=True, slots=True)
class JsonActionCall:
    """What to send: messages in OpenAI's form and the schema that the answer is held to."""

    messages: list[dict[str, Any]]
    response_format: dict[str, Any]


def json_action_call(request: ModelRequest) -> JsonActionCall:
    """The request with its tools turned into words and a schema."""
    system = "\n\n".join(part for part in (request.system, action_prompt(request.tools)) if part)
    messages = [{"role": "system", "content": system}, *_conversation(request.messages)]
    schema = {"name": "action", "strict": True, "schema": action_schema(request.tools)}
    return JsonActionCall(messages, {"type": "json_schema", "json_schema": schema})


def leading_call(request: ModelRequest) -> JsonActionCall:
    """The same for a tiny model that has to act: one of the tools, required arguments only, led by example turns."""
    names = {tool.name for tool in request.tools}
    turns = []
    for question, name, arguments in _LEADING_EXAMPLES:
        if name in names:
            turns += [_said("user", question), _said("assistant", action_text(name, arguments))]
    lines = ["Write the user's request as one JSON object with one of these tools:", *map(_tool_line, request.tools)]
    system = "\n\n".join(part for part in (request.system, "\n".join(lines)) if part)
    paths = _notebooks_in(request)
    actions = [_action(tool.name, _narrowed(plain_schema(tool.parameters), paths)) for tool in request.tools]
    schema = {"name": "action", "strict": True, "schema": {"anyOf": actions}}
    messages = [_said("system", system), *turns, *_conversation(request.messages[-1:])]
    return JsonActionCall(messages, {"type": "json_schema", "json_schema": schema})


def action_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    """One action: `reply` with a text, or one of the tools with its arguments."""
    text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    actions = [_action(REPLY, {**text, "additionalProperties": False})]
    actions += [_action(tool.name, plain_schema(tool.parameters)) for tool in tools]
    return {"anyOf": actions}


def action_prompt(tools: Sequence[ToolDefinition]) -> str:
    """How to answer, what can be done, and a few examples."""
    names = {tool.name for tool in tools}
    examples = [("hello", REPLY, {"text": "Hello! What can I do for you?"})]
    examples += [example for example in _EXAMPLES if example[1] in names][: _MAX_EXAMPLES - 1]
    lines = [
        "Answer with one JSON object and nothing else. To say something:",
        action_text(REPLY, {"text": "…"}),
        "To act, use one of these; you will be told the result:",
        *(_tool_line(tool) for tool in tools),
        "Act only when the user asks for it; otherwise reply. Examples:",
        *(f"{question} → {action_text(name, arguments)}" for question, name, arguments in examples),
    ]
    return "\n".join(lines)


def action_text(name: str, arguments: Mapping[str, Any]) -> str:
    """An action as the model writes it."""
    return json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)


def plain_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema reduced to what grammars are made from: references resolved, notes and string limits left out."""
    definitions = schema.get("$defs", {})
    plain = _reduce(schema, definitions, ())
    plain.setdefault("type", "object")
    plain.setdefault("properties", {})
    return {**plain, "additionalProperties": False}


def _said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _notebooks_in(request: ModelRequest) -> list[str]:
    """Notebooks named in the last message, else anywhere: a tiny model may only choose among them, not invent one."""
    texts = [request.messages[-1].text] if request.messages else []
    texts += [request.system, *(message.text for message in request.messages)]
    found = (list(dict.fromkeys(_NOTEBOOK.findall(text))) for text in texts)
    return next((paths for paths in found if paths), [])


def _narrowed(schema: dict[str, Any], notebooks: Sequence[str]) -> dict[str, Any]:
    required = schema.get("required", [])
    properties = {name: part for name, part in schema["properties"].items() if name in required}
    if notebooks and "path" in properties:
        properties["path"] = {"enum": list(notebooks)}
    return {**schema, "properties": properties}


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
        # A schema that contains itself has no finite grammar by substitution: any object will do there.
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


def _tool_line(tool: ToolDefinition) -> str:
    properties = tool.parameters.get("properties", {})
    required = set(tool.parameters.get("required", ()))
    arguments = ", ".join(name if name in required else f"{name}?" for name in properties)
    summary = tool.description.strip().split("\n")[0]
    return f"- {tool.name}({arguments}): {summary}"


def _conversation(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Earlier answers in the form that the next one must have; results as the user's words."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    converted: list[dict[str, Any]] = []
    for message in map(in_words, messages):
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
