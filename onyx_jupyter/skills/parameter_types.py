"""The types of a skill's parameters, derived from annotations and literals. It never evaluates code."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

TypeName = Literal["integer", "number", "string", "boolean", "array", "object", "choice", "path", "union", "any"]

_SIMPLE: Mapping[str, TypeName] = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bool": "boolean",
    "list": "array",
    "List": "array",
    "Sequence": "array",
    "tuple": "array",
    "dict": "object",
    "Dict": "object",
    "Mapping": "object",
    "Path": "path",
    "PurePath": "path",
    "Any": "any",
    "object": "any",
}
KNOWN = "int, float, str, bool, list[…], dict[str, …], Literal[…], Path, Any, each with `| None`"


class UnknownType(Exception):
    """An annotation that is not supported for a parameter."""


@dataclass(frozen=True, slots=True)
class ParameterType:
    """`item` is the type of list items or dict values; `options` are a union's types, `choices` a Literal's values."""

    name: TypeName
    nullable: bool = False
    item: ParameterType | None = None
    options: tuple[ParameterType, ...] = ()
    choices: tuple[Any, ...] = ()


ANY = ParameterType("any")


def from_annotation(node: ast.expr) -> ParameterType:
    """Raises: UnknownType."""
    match node:
        case ast.Constant(value=str() as text):
            return _from_text(text)
        case ast.BinOp(op=ast.BitOr()):
            return _union([node.left, node.right])
        case ast.Subscript():
            return _from_subscript(node)
        case ast.Name() | ast.Attribute():
            name = _last_name(node)
            if name in _SIMPLE:
                return ParameterType(_SIMPLE[name])
    raise UnknownType(ast.unparse(node))


def from_value(value: Any) -> ParameterType:
    """The type of a JSON value; any for None."""
    match value:
        case bool():
            return ParameterType("boolean")
        case int():
            return ParameterType("integer")
        case float():
            return ParameterType("number")
        case str():
            return ParameterType("string")
        case list():
            return ParameterType("array", item=_common(value))
        case dict():
            return ParameterType("object")
    return ANY


def accepts(kind: ParameterType, value: Any) -> bool:
    """Whether a JSON value is of that type."""
    if value is None:
        return kind.nullable or kind.name == "any"
    match kind.name:
        case "any":
            return True
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "string" | "path":
            return isinstance(value, str)
        case "choice":
            return any(type(value) is type(choice) and value == choice for choice in kind.choices)
        case "array":
            return isinstance(value, list) and all(accepts(kind.item or ANY, item) for item in value)
        case "object":
            return isinstance(value, dict) and all(accepts(kind.item or ANY, item) for item in value.values())
        case "union":
            return any(accepts(option, value) for option in kind.options)


def json_value(value: Any) -> Any:
    """A literal as a JSON value, tuples as lists. Raises: ValueError if JSON cannot represent it."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            return [json_value(item) for item in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: json_value(item) for key, item in value.items()}
    raise ValueError(f"{value!r} cannot be represented in JSON")


def _from_text(text: str) -> ParameterType:
    try:
        return from_annotation(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError):
        raise UnknownType(text) from None


def _from_subscript(node: ast.Subscript) -> ParameterType:
    name = _last_name(node.value)
    inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    match _SIMPLE.get(name), name:
        case "array", "tuple":
            return ParameterType("array", item=_tuple_item(inner, node))
        case "array", _ if len(inner) == 1:
            return ParameterType("array", item=from_annotation(inner[0]))
        case "object", _ if len(inner) == 2 and from_annotation(inner[0]).name == "string":
            return ParameterType("object", item=from_annotation(inner[1]))
        case _, "Literal":
            return _literal(inner, node)
        case _, "Optional" if len(inner) == 1:
            return replace(from_annotation(inner[0]), nullable=True)
        case _, "Union":
            return _union(inner)
        case _, "Annotated" if inner:
            return from_annotation(inner[0])
    raise UnknownType(ast.unparse(node))


def _tuple_item(inner: list[ast.expr], node: ast.expr) -> ParameterType:
    """Only `tuple[int, ...]`: a list has no fixed length."""
    if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
        return from_annotation(inner[0])
    raise UnknownType(ast.unparse(node))


def _literal(inner: list[ast.expr], node: ast.expr) -> ParameterType:
    try:
        values = [ast.literal_eval(item) for item in inner]
    except (ValueError, SyntaxError):
        raise UnknownType(ast.unparse(node)) from None
    choices = tuple(value for value in values if value is not None)
    if not choices or not all(isinstance(value, str | int) for value in choices):
        raise UnknownType(ast.unparse(node))
    return ParameterType("choice", nullable=None in values, choices=choices)


def _union(nodes: list[ast.expr]) -> ParameterType:
    kinds: list[ParameterType] = []
    nullable = False
    for node in nodes:
        if isinstance(node, ast.Constant) and node.value is None:
            nullable = True
            continue
        kind = from_annotation(node)
        nullable = nullable or kind.nullable
        kinds += kind.options or (replace(kind, nullable=False),)
    kinds = list(dict.fromkeys(kinds))
    if not kinds:
        raise UnknownType("None")
    if {kind.name for kind in kinds} == {"integer", "number"}:
        return ParameterType("number", nullable)
    if len(kinds) == 1:
        return replace(kinds[0], nullable=nullable)
    return ParameterType("union", nullable, options=tuple(kinds))


def _common(values: list[Any]) -> ParameterType | None:
    """The type of all items; None if they differ, or there are none."""
    kinds = {from_value(value) for value in values}
    if {kind.name for kind in kinds} == {"integer", "number"}:
        return ParameterType("number")
    return kinds.pop() if len(kinds) == 1 else None


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
