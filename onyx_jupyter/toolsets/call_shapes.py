"""Repairs the shape of calls whose meaning is clear: names of tools and arguments, lines, fences.

A rule is here only if no other meaning is possible. The pairs of tools that accept each other's calls are listed by
hand: of two tools with matching schemas, one might delete what the other would read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from onyx_jupyter.events import to_camel

_CELL_TOOLS = frozenset({"notebook_insert_cell", "notebook_edit_cell", "notebook_run_cell"})
# Names that models use for an argument, by its name here; a tool's own argument is never taken as an alias.
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "path": ("notebook", "notebookPath", "file", "filePath", "filename"),
    "source": ("code", "content", "text"),
    "code": ("source",),
    "content": ("text",),
    "command": ("cmd",),
    "cellId": ("cell", "id"),
    "cellIds": ("cells", "cellId"),
    "cellType": ("type",),
    "afterCellId": ("after",),
    "run": ("execute",),
    "oldText": ("oldString", "oldStr"),
    "newText": ("newString", "newStr"),
}
_FENCED = re.compile(r"\s*```([\w+-]*)[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)
_INNER_FENCE = re.compile(r"^[ \t]*```", re.MULTILINE)
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SHOWN_CHARS = 80

Shape = tuple[str, dict[str, Any]]


def tool_name(name: str, known: Collection[str]) -> str:
    """The tool that an unknown name means: `functions.exec`, `insert_cell`; else the name itself."""
    if name in known:
        return name
    plain = _WORDS.sub("_", name.rpartition(".")[2]).replace("-", "_").lower()
    return next((one for one in (plain, f"notebook_{plain}") if one in known), name)


def normalize_call(name: str, arguments: Mapping[str, Any], properties: Callable[[str], Mapping[str, Any]]) -> Shape:
    """The call in the shape that it means; `properties` returns the schema of each argument of a tool."""
    own = properties(name)  # a tool's own names may be spelled differently
    given = {key if key in own else _camel(key): value for key, value in arguments.items()}
    if len(given) < len(arguments):
        return name, dict(arguments)  # the same argument twice
    if name in _CELL_TOOLS:
        given = _renamed(given, "source", properties(name) if name != "notebook_run_cell" else {"source": {}})
        given = _renamed(given, "cellId", {"cellId": {}, "cellType": {}} if "cellId" not in given else {})
        name, given = _cell_tool(name, given)
    elif name == "kernel_execute" and "cellId" in given and not given.keys() & {"code", "source"}:
        name = "notebook_run_cell"
    known = properties(name)
    for right in known:
        given = _renamed(given, right, known)
    return name, {key: _value(key, value, known.get(key, {})) for key, value in given.items()}


def without_fence(source: str) -> str | None:
    """The code inside if the whole source is one fenced block; else None."""
    fenced = _FENCED.fullmatch(source)
    return fenced[2] if fenced and not _INNER_FENCE.search(fenced[2]) else None


def example_call(
    name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any], wrong: Collection[str] = ()
) -> str:
    """The nearest call for that schema as JSON: `wrong` or missing arguments as <name>, long texts shortened."""
    nearest: dict[str, Any] = {}
    required = schema.get("required", ())
    for key, part in schema.get("properties", {}).items():
        if key in arguments and key not in wrong:
            nearest[key] = _shown(arguments[key])
        elif key in required:
            nearest[key] = " or ".join(part["enum"]) if "enum" in part else f"<{key}>"
    return json.dumps({"name": name, "arguments": nearest}, ensure_ascii=False)


def _cell_tool(name: str, given: dict[str, Any]) -> Shape:
    """Chooses the tool for one cell that fits the arguments."""
    has = given.keys()
    if name == "notebook_run_cell" and "source" in has:
        if "cellId" in has:
            return "notebook_edit_cell", {**given, "run": True}
        if given.get("cellType", "code") == "code":
            return "notebook_insert_cell", {"cellType": "code", **given, "run": True}
    if name == "notebook_edit_cell" and {"cellType", "source"} <= has and "cellId" not in has:
        return "notebook_insert_cell", given
    if name == "notebook_insert_cell" and "cellType" not in has and _is_code(given):
        return name, {"cellType": "code", **given}
    return name, given


def _is_code(given: Mapping[str, Any]) -> bool:
    source = given.get("source")
    fenced = _FENCED.fullmatch(source) if isinstance(source, str) else None
    return given.get("run") is True or (fenced is not None and fenced[1].lower() in ("python", "py", "ipython"))


def _renamed(given: Mapping[str, Any], right: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Renames the only alias of `right` to it, if `right` is a missing argument."""
    aliases = [alias for alias in _ALIASES.get(right, ()) if alias in given and alias not in known]
    if right not in known or right in given or len(aliases) != 1:
        return dict(given)
    return {right if key == aliases[0] else key: value for key, value in given.items()}


def _value(key: str, value: Any, part: Mapping[str, Any]) -> Any:
    """Joins source lines into one text, makes a cell's number a string, and a single cell a list if one is expected."""
    if key == "source" and isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value) if any(line.endswith("\n") for line in value[:-1]) else "\n".join(value)
    if key in ("cellId", "afterCellId", "fromCellId", "toCellId"):
        return _cell(value)
    if key == "cellIds" and part.get("type") == "array":
        return [_cell(one) for one in (value if isinstance(value, list) else [value])]
    return value


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _camel(key: str) -> str:
    return to_camel(key) if "_" in key.strip("_") else key


def _shown(value: Any) -> Any:
    return value if len(json.dumps(value, default=str)) <= _SHOWN_CHARS else "<as in your call>"
