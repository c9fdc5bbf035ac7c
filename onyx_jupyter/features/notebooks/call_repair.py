"""Repairs calls of the notebook tools: cells named by number or position, code inside a Markdown fence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.features.notebooks.cell_references import by_id
from onyx_jupyter.features.notebooks.notebook_access import api_path, opened_cells
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.toolsets.call_shapes import without_fence
from onyx_jupyter.toolsets.context import ToolContext


async def repair(call: ToolCall, context: ToolContext, reads: bool) -> tuple[Mapping[str, Any], Sequence[str]]:
    """The `Repair` of these tools. Raises: InvalidArguments if a number may mean another cell."""
    given, reasons = await by_id(call.name, call.arguments, context, reads=reads)
    bare = await _without_fences(call.name, given, context)
    return bare, [*reasons, *(["without the code fence"] if bare != given else [])]


async def _without_fences(name: str, given: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
    """Removes a fence that a model put around all of a code cell. Source that may be Markdown keeps its fence."""
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
