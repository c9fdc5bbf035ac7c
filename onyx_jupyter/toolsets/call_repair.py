"""Repairs a tool call whose intent is unambiguous, or names the nearest valid call in its error.

A valid call is not changed. A repaired call is judged, shown and approved as if the model had sent it that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import escape_marks
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.call_shapes import example_call, normalize_call, tool_name
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from onyx_jupyter.toolsets.tool import Tool

_OF_NOTEBOOKS = ("notebook", "kernel")
_NEW = "notebook_create"  # its path names a notebook that doesn't exist yet


@dataclass(frozen=True, slots=True)
class RepairedCall:
    """`call` is what runs; `note` tells the model how it differs from its own call, and is empty if it does not."""

    call: ToolCall
    tool: Tool[Any]
    arguments: Checked
    note: str = ""

    def with_note(self, result: ToolResult) -> ToolResult:
        """The result, followed by the note."""
        if not self.note:
            return result
        note = f"\n{self.note}"
        return replace(result, output=result.output + note, own_tail=result.own_tail + note)


async def repair_call(call: ToolCall, tools: ToolRegistry, context: ToolContext) -> RepairedCall:
    """Raises: ToolError (unknown tool), InvalidArguments (each field named, and the nearest valid call)."""
    valid = _in_shape(call, tools, context)
    tool, arguments = tools.validate(valid)
    given, reasons = await tool.repair(valid, arguments, context)
    if valid.name == call.name and dict(given) == dict(call.arguments):
        return RepairedCall(call, tool, arguments)
    repaired = replace(valid, arguments=given)
    tool, arguments = tools.validate(repaired)
    taken = "; ".join([example_call(repaired.name, given, tool.schema()), *reasons])
    return RepairedCall(repaired, tool, arguments, escape_marks(f"(Taken as {taken})"))


def _in_shape(call: ToolCall, tools: ToolRegistry, context: ToolContext) -> ToolCall:
    """The call, or the valid one that it plainly means. Raises: ToolError, InvalidArguments."""
    try:
        tools.validate(call)
        return call
    except ToolError as error:
        known = tool_name(call.name, tools.names)
        if call.malformed is not None or known not in tools.names:
            raise
        name, given = normalize_call(known, call.arguments, lambda name: _properties(name, tools))
        right = replace(call, name=name, arguments=_with_path(name, given, tools, context))
        try:
            tools.validate(right)
        except ToolError as still:
            raise _with_nearest(error if known == call.name else still, right, tools) from still
        return right


def _with_path(name: str, given: Mapping[str, Any], tools: ToolRegistry, context: ToolContext) -> dict[str, Any]:
    """Adds the notebook in front if no path is given: the one in front when the user wrote, if it still is."""
    front, (_, now) = context.notebook_in_front, context.open_notebooks()
    needs = name in tools.names and tools.get(name).family in _OF_NOTEBOOKS and name != _NEW
    if (
        not needs
        or given.get("path")
        or "path" not in _properties(name, tools)
        or not front
        or now not in (None, front)
    ):
        return dict(given)
    return {"path": front, **{key: value for key, value in given.items() if key != "path"}}


def _with_nearest(error: ToolError, right: ToolCall, tools: ToolRegistry) -> ToolError:
    """The error, with the nearest valid call if only the arguments are wrong."""
    if right.name not in tools.names:
        return error
    tool = tools.get(right.name)
    try:
        tool.check(right.arguments)
        return error
    except InvalidArguments as problems:
        wrong = problems.wrong
    nearest = example_call(right.name, right.arguments, tool.schema(), wrong)
    return InvalidArguments(f"{error} The nearest valid call: {nearest}")


def _properties(name: str, tools: ToolRegistry) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tools.get(name).schema().get("properties", {}) if name in tools.names else {}
    return properties
