"""Writes the tables of docs/configuration.md from the schema, the tools and the providers; `--check` only compares."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from written_parts import DOCS, main, table

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.config.schema import Config
from onyx_jupyter.providers.known_providers import KNOWN_PROVIDERS

HEAD = ("Key", "Value", "Default", "Meaning")
PATTERNS = {
    r"^https?://": "`http://…` or `https://…`",
    r"^[^\s/]+/\S+$": "`provider/model`",
    r"^[a-z0-9][a-z0-9_-]{0,63}$": "up to 64 of `a`-`z`, `0`-`9`, `_`, `-`",
}
NAMES = {bool: "`true` or `false`", int: "whole number", float: "number", str: "text", SecretStr: "text (secret)"}


def keys() -> str:
    """A heading, a sentence and a table for each part of the file."""
    parts = []
    for field in Config.model_fields.values():
        rows = list(_rows(str(field.alias), field))
        parts.append(f"### {field.alias}\n\n{_sentence(field.annotation)}\n\n{table(HEAD, rows)}")
    return "\n".join(parts)


def families() -> str:
    """Every family with its tools."""
    found: dict[str, list[str]] = {}
    for tool in all_tools():
        found.setdefault(f"`group:{tool.family}`", []).append(f"`{tool.name}`")
    return table(("Family", "Tools"), [(family, ", ".join(names)) for family, names in found.items()])


def providers() -> str:
    """Every provider that Onyx knows by name, with the variables that may hold its key."""
    rows = []
    for provider in KNOWN_PROVIDERS.values():
        variables = " or ".join(f"`{name}`" for name in provider.key_variables)
        rows.append((f"`{provider.name}/…`", provider.title, variables or "none"))
    return table(("Prefix", "Provider", "Variable of its key"), rows)


def _rows(key: str, field: FieldInfo) -> Iterator[tuple[str, ...]]:
    """The rows of one key, or of all keys below it."""
    inner = _model_of(field.annotation)
    if inner is None:
        if not field.description:
            raise SystemExit(f"{key} has no description in onyx_jupyter/config/schema.py.")
        yield f"`{key}`", _value(field), _default(field), field.description
        return
    place = {list: f"{key}[]", dict: f"{key}.<name>"}.get(get_origin(field.annotation), key)
    for below in inner.model_fields.values():
        yield from _rows(f"{place}.{below.alias}", below)


def _model_of(annotation: Any) -> type[BaseModel] | None:
    """The section at this key, also within a list or under user-defined names."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def _sentence(annotation: Any) -> str:
    return inspect.getdoc(_model_of(annotation)) or ""


def _value(field: FieldInfo) -> str:
    limits = _limits(field)
    return f"{_kind(field.annotation)}{', ' + limits if limits else ''}"


def _kind(annotation: Any) -> str:
    if annotation in NAMES:
        return NAMES[annotation]
    origin, inside = get_origin(annotation), [kind for kind in get_args(annotation) if kind is not NoneType]
    if origin in (Union, UnionType):
        return " or ".join(_kind(kind) for kind in inside)
    if origin is Literal:
        return " or ".join(f"`{json.dumps(value)}`" for value in inside)
    if origin is list:
        return f"list of {_kind(inside[0])}s"
    raise SystemExit(f"No words for {annotation}: teach scripts/config_reference.py.")


def _limits(field: FieldInfo) -> str:
    found = _constraints(field)
    low, high = found.get(Ge), found.get(Le)
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"at least {low:,}"
    pattern = found.get("pattern", "")
    return PATTERNS.get(pattern, pattern and f"`{pattern}`")


def _constraints(field: FieldInfo) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for mark in field.metadata:
        if isinstance(mark, Ge):
            found[Ge] = mark.ge
        elif isinstance(mark, Le):
            found[Le] = mark.le
        elif getattr(mark, "pattern", None):
            found["pattern"] = mark.pattern
        elif not isinstance(mark, MinLen):
            raise SystemExit(f"No words for {mark}: teach scripts/config_reference.py.")
    return found


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "required"
    return "not set" if value is None else f"`{json.dumps(value)}`"


if __name__ == "__main__":
    written = {"keys": keys(), "families": families(), "providers": providers()}
    sys.exit(main(DOCS / "configuration.md", written, sys.argv[1:]))
