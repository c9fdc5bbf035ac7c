"""The JSON schema of a tool's arguments as a model gets it: self-contained and as short as possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel

_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})
_OFTEN_FALSE = frozenset({"additionalProperties", "default"})


# Cached, since every model request includes the schemas of all tools. Weak: the classes of skills' arguments come and
# go.
_SCHEMAS: WeakKeyDictionary[type[BaseModel], dict[str, Any]] = WeakKeyDictionary()


def schema_of(arguments: type[BaseModel]) -> dict[str, Any]:
    """The self-contained JSON schema, without titles and defaults of None: shorter, with the same meaning.

    Returns the same object each time, which must not be modified.
    """
    if (known := _SCHEMAS.get(arguments)) is not None:
        return known
    schema: dict[str, Any] = arguments.model_json_schema(by_alias=True)
    definitions = schema.pop("$defs", {})
    schema = _without_noise(_in_place(schema, definitions))
    schema.pop("description", None)  # the class's docstring, written for readers of the code
    _SCHEMAS[arguments] = schema
    return schema


def _in_place(node: Any, definitions: Mapping[str, Any]) -> Any:
    """Replaces references by their targets, without the docstrings of those classes."""
    if isinstance(node, list):
        return [_in_place(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[node["$ref"].removeprefix("#/$defs/")]
        without_text = {key: value for key, value in target.items() if key != "description"}
        node = {**without_text, **{key: value for key, value in node.items() if key != "$ref"}}
    return {key: _in_place(value, definitions) for key, value in node.items()}


def compact_schema(node: Any) -> Any:
    """The schema without lengths, defaults of false and `additionalProperties: false`.

    A property may have the name of a keyword.
    """
    if isinstance(node, list):
        return [compact_schema(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {
        key: {name: compact_schema(item) for name, item in value.items()}
        if key == "properties"
        else compact_schema(value)
        for key, value in node.items()
        if key not in _LENGTHS and not (key in _OFTEN_FALSE and value is False)
    }


def _without_noise(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_noise(item) for item in node]
    if not isinstance(node, dict):
        return node
    if {"type": "null"} in node.get("anyOf", []):
        (rest, *others) = [option for option in node["anyOf"] if option != {"type": "null"}]
        if not others:
            node = {**rest, **{key: value for key, value in node.items() if key != "anyOf"}}
    noise = ("title", "default") if node.get("default", 0) is None else ("title",)
    return {
        key: {name: _without_noise(value) for name, value in item.items()}
        if key == "properties"
        else _without_noise(item)
        for key, item in node.items()
        if key not in noise
    }
