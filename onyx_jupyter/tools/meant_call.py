"""Takes a call that could not work as the one that is plainly meant, or names the nearest right one in its error.

It leaves a call alone that could work, and allows nothing: what it gives is judged, shown and asked about as if it had
been called so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.errors import InvalidArguments, OnyxError, ToolError
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.security.external_content import plainly
from onyx_jupyter.tools.arguments import Checked
from onyx_jupyter.tools.call_shapes import put_right, tool_name, without_fence, written_out
from onyx_jupyter.tools.context import ToolContext
from onyx_jupyter.tools.notebooks.cell_words import by_id
from onyx_jupyter.tools.notebooks.opening import api_path, opened_cells
from onyx_jupyter.tools.registry import ToolRegistry
from onyx_jupyter.tools.spec import Tool

_OF_NOTEBOOKS = ("notebook", "kernel")
_NEW = "notebook_create"  # its path is that of no notebook yet


@dataclass(frozen=True, slots=True)
class MeantCall:
    """`call` is what runs; `note` says to the model how that differs from what it called, empty where it does not."""

    call: ToolCall
    tool: Tool[Any]
    arguments: Checked
    note: str = ""

    def told(self, result: ToolResult) -> ToolResult:
        """The result, with the note behind it."""
        if not self.note:
            return result
        note = f"\n{self.note}"
        return replace(result, output=result.output + note, own_tail=result.own_tail + note)


async def meant_call(call: ToolCall, tools: ToolRegistry, context: ToolContext) -> MeantCall:
    """Raises: ToolError (unknown tool), InvalidArguments (each field named, and the nearest right call)."""
    right = _in_shape(call, tools, context)
    tool, arguments = tools.validate(right)
    given: Mapping[str, Any] = dict(right.arguments)
    reasons: Sequence[str] = ()
    if tool.family in _OF_NOTEBOOKS:
        given, reasons = await by_id(right.name, given, context, reads=tool.risk_of(arguments) == "read")
    bare = await _without_fences(right.name, given, context)
    reasons = [*reasons, *(["without the code fence"] if bare != given else [])]
    if right.name == call.name and bare == dict(call.arguments):
        return MeantCall(call, tool, arguments)
    right = replace(right, arguments=bare)
    tool, arguments = tools.validate(right)
    taken = "; ".join([written_out(right.name, bare, tool.schema()), *reasons])
    return MeantCall(right, tool, arguments, plainly(f"(Taken as {taken})"))


def _in_shape(call: ToolCall, tools: ToolRegistry, context: ToolContext) -> ToolCall:
    """The call, or the valid one that it plainly means. Raises: ToolError, InvalidArguments."""
    try:
        tools.validate(call)
        return call
    except ToolError as error:
        known = tool_name(call.name, tools.names)
        if call.malformed is not None or known not in tools.names:
            raise
        name, given = put_right(known, call.arguments, lambda name: _properties(name, tools))
        right = replace(call, name=name, arguments=_with_path(name, given, tools, context))
        try:
            tools.validate(right)
        except ToolError as still:
            raise _with_nearest(error if known == call.name else still, right, tools) from still
        return right


def _with_path(name: str, given: Mapping[str, Any], tools: ToolRegistry, context: ToolContext) -> dict[str, Any]:
    """With the notebook in front where none is named: the one that was in front when the user wrote, and still is."""
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


async def _without_fences(name: str, given: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
    """Code cells hold code; a fence around all of it is the model's habit. What may be Markdown keeps its fence."""
    key = "code" if name == "kernel_execute" else "source"
    text = given.get(key)
    bare = without_fence(text) if isinstance(text, str) else None
    if bare is None:
        return dict(given)
    is_code = given.get("cellType") == "code" or name == "kernel_execute"
    if is_code or (name == "notebook_edit_cell" and await _is_code_cell(given, context)):
        return {**given, key: bare}
    return dict(given)


async def _is_code_cell(given: Mapping[str, Any], context: ToolContext) -> bool:
    cell_id = str(given.get("cellId"))
    try:
        view = await opened_cells(api_path(str(given.get("path")), context), context, [cell_id])
    except OnyxError:
        return False
    return any(cell.id == cell_id and cell.cell_type == "code" for cell in view.cells)


def _with_nearest(error: ToolError, right: ToolCall, tools: ToolRegistry) -> ToolError:
    """The error, with the nearest right call where it is only the arguments that do not fit."""
    if right.name not in tools.names:
        return error
    tool = tools.get(right.name)
    try:
        tool.check(right.arguments)
        return error
    except InvalidArguments as problems:
        wrong = problems.wrong
    nearest = written_out(right.name, right.arguments, tool.schema(), wrong)
    return InvalidArguments(f"{error} The nearest right call: {nearest}")


def _properties(name: str, tools: ToolRegistry) -> Mapping[str, Any]:
    properties: Mapping[str, Any] = tools.get(name).schema().get("properties", {}) if name in tools.names else {}
    return properties
