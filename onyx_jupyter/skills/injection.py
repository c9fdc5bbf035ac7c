"""What is injected into a skill's notebook: the values, and the lines that convert strings to paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onyx_jupyter.skills.parameter_types import ParameterType, accepts
from onyx_jupyter.skills.parameters import Parameters

_PATH = '__import__("pathlib").Path'


def path_lines(parameters: Parameters, given: Mapping[str, Any]) -> list[str]:
    """Python lines that convert each given string of a `Path` parameter, so that it has the type of the default."""
    lines = []
    for item in parameters.items:
        converted = _converted(item.type, item.name)
        if item.name in given and converted is not None:
            lines.append(f"{item.name} = {converted}")
    return lines


def path_values(parameters: Parameters, given: Mapping[str, Any]) -> dict[str, str]:
    """The given values that name a file, by parameter."""
    paths = {item.name for item in parameters.items if item.type.name == "path"}
    return {name: value for name, value in given.items() if name in paths and isinstance(value, str)}


def with_paths(kind: ParameterType, value: Any, change: Callable[[str], str]) -> Any:
    """A value of that type with every path in it changed; a string that may be a path counts as one."""
    match kind.name:
        case "path" if isinstance(value, str):
            return change(value)
        case "array" if isinstance(value, list) and kind.item is not None:
            return [with_paths(kind.item, item, change) for item in value]
        case "object" if isinstance(value, dict) and kind.item is not None:
            return {key: with_paths(kind.item, item, change) for key, item in value.items()}
        case "union":
            for option in kind.options:
                value = with_paths(option, value, change) if accepts(option, value) else value
    return value


def _converted(kind: ParameterType, value: str, depth: int = 0) -> str | None:
    """An expression for the value with its paths converted; None if it has none."""
    if kind.name == "path":
        made = f"{_PATH}({value})"
    elif kind.name in ("array", "object") and kind.item is not None:
        item, key = f"item{depth}", f"key{depth}"
        inner = _converted(kind.item, item, depth + 1)
        if inner is None:
            return None
        made = f"[{inner} for {item} in {value}]"
        if kind.name == "object":
            made = f"{{{key}: {inner} for {key}, {item} in {value}.items()}}"
    else:
        return None
    return f"(None if {value} is None else {made})" if kind.nullable else made
