"""The tool that creates a notebook, and with `run` opens it and runs its cells in the same call."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.features.notebooks.cell_commands import with_commands
from onyx_jupyter.features.notebooks.cell_execution import RUN_CELL, run_written
from onyx_jupyter.features.notebooks.edit_tools import MAX_CELLS, MAX_SOURCE_CHARS, new_cell
from onyx_jupyter.features.notebooks.notebook_access import api_path, change_preview, grant, name_of, plain_id
from onyx_jupyter.features.notebooks.notebook_call_repair import repair
from onyx_jupyter.features.notebooks.notebook_text import shown_cells
from onyx_jupyter.features.notebooks.run_tools import code_cells, run_in_order
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import CellType, NotebookView, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool


class NewCell(Arguments):
    cell_type: CellType
    source: str = Field(max_length=MAX_SOURCE_CHARS)


class NotebookCreateArguments(Arguments):
    path: str = Field(min_length=1, description="Must end in .ipynb.")
    cells: list[NewCell] = Field(default_factory=list, max_length=MAX_CELLS)
    kernel: str | None = Field(default=None, description="A kernel's name; default: the server's choice.")
    run: bool = Field(default=False, description="Also opens it and runs its code cells in order.")


async def _create_preview(arguments: NotebookCreateArguments, context: ToolContext) -> ToolPreview:
    path = api_path(arguments.path, context)
    if not path.endswith(".ipynb"):
        raise InvalidArguments(f"`path` is {arguments.path!r}, but a notebook's name must end in .ipynb.")
    if arguments.run and not _code(arguments):
        raise InvalidArguments("`run` is for code cells, and there are none in `cells`: omit `run`.")
    if context.paths.resolve(path).exists():
        raise ToolError(f"{path} already exists. Change it with the other notebook tools, or choose another name.")
    count = len(arguments.cells)
    with_cells = f" with {count} cell{'s' if count > 1 else ''}" if count else ""
    and_run = f" and run {'it' if count == 1 else 'them'}" if arguments.run else ""
    folder = posixpath.dirname(path) or "/"
    shown = [_shown_new(cell, number) for number, cell in enumerate(arguments.cells, 1)]
    kernel = {"kernel": arguments.kernel} if arguments.kernel else {}
    preview = await change_preview(
        path,
        context,
        f"Create {name_of(path)}{with_cells}{and_run}",
        {"cells": shown, **kernel, **({"run": True} if arguments.run else {})},
        grant=f"{grant('notebook_create', folder)}{' and run it' if arguments.run else ''}",
        grant_text=f"every new notebook in {folder}{' with a run of its cells at once' if arguments.run else ''}",
    )
    sources = [cell.source for cell in _code(arguments)]
    return await with_commands(preview, sources, arguments.kernel) if arguments.run else preview


def _create_risk(arguments: NotebookCreateArguments) -> Risk:
    return "execute" if arguments.run else "write"


def _create_also(arguments: NotebookCreateArguments) -> Sequence[str]:
    return (RUN_CELL,) if arguments.run else ()


def _create_untimed(arguments: NotebookCreateArguments) -> bool:
    return arguments.run


@tool(
    name="notebook_create",
    repair=repair,
    activity=Activity(
        "create_notebook", "path", "path", when=(("run", True, "create_and_run_notebook"),), opens=("file",)
    ),
    arguments=NotebookCreateArguments,
    description="Creates a notebook with these cells; run: true also runs them. Returns their ids and outputs.",
    risk="write",
    family="notebook",
    deferred=True,
    preview=_create_preview,
    risk_of=_create_risk,
    also=_create_also,
    is_untimed=_create_untimed,
)
async def notebook_create_tool(arguments: NotebookCreateArguments, context: ToolContext) -> ToolResult:
    """Creates a new notebook; never overwrites an existing one."""
    path = api_path(arguments.path, context)
    cells = [new_cell(cell.cell_type, cell.source) for cell in arguments.cells]
    view = await context.notebooks.create(path, cells, arguments.kernel)
    context.seen_cells.beginning(context.run_id, view)
    context.seen_cells.record_seen(view.path, view.cells)
    context.seen_cells.record_order(view.path, [cell.id for cell in view.cells])
    if arguments.run:
        await context.show_notebook(view.path)
        return await _run(arguments, view, context)
    ids = ", ".join(plain_id(cell.id) for cell in view.cells)
    with_cells = f" with the cells {ids}." if ids else ", without cells yet."
    return ToolResult(f"Created {view.path}{with_cells}", origin="own", data=shown_cells(view, view.cells))


async def _run(arguments: NotebookCreateArguments, view: NotebookView, context: ToolContext) -> ToolResult:
    """Runs the cells even if no tab could show the notebook; the outputs are then in its file."""
    if len(view.cells) == 1:
        (cell,) = view.cells
        source = arguments.cells[0].source
        done = f"Created {view.path} with code cell {plain_id(cell.id)} (hash {cell_hash(source)})."
        return await run_written(view.path, cell.id, source, done, shown_cells(view, view.cells), context)
    done = f"Created {view.path} with the cells {', '.join(plain_id(cell.id) for cell in view.cells)}.\n"
    result = await run_in_order(view.path, code_cells(view, None, None), context)
    told = replace(result, output=f"{done}{result.output}", own_head=f"{done}{result.own_head}")
    return replace(told, data={**(result.data or {}), **shown_cells(view, view.cells)})


def _code(arguments: NotebookCreateArguments) -> Sequence[NewCell]:
    return [cell for cell in arguments.cells if cell.cell_type == "code" and cell.source.strip()]


def _shown_new(cell: NewCell, number: int) -> dict[str, Any]:
    return {"number": number, "cellType": cell.cell_type, "source": cell.source}
