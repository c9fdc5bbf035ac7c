"""The tools that run cells in the notebook's own kernel, without a time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import NotebookError
from onyx_jupyter.features.notebooks.cell_commands import with_commands
from onyx_jupyter.features.notebooks.cell_execution import (
    RUN_CELL,
    RUN_OUTPUT_CHARS,
    count,
    run_and_report,
    run_failure,
    with_figures,
)
from onyx_jupyter.features.notebooks.notebook_access import (
    grant,
    name_of,
    notebook_preview,
    opened,
    opened_cells,
    path_to_run,
    plain_id,
    run_cell,
)
from onyx_jupyter.features.notebooks.notebook_call_repair import repair
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.notebook.cells import cell_number, find_cell, index_of
from onyx_jupyter.notebook.output_kinds import output_words
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import Cell, CellRun, NotebookView, ToolPreview
from onyx_jupyter.result_data import MAX_CELLS
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import ShortForm, tool


class NotebookRunCellArguments(Arguments):
    path: str = Field(min_length=1)
    cell_id: str


async def _run_cell_preview(arguments: NotebookRunCellArguments, context: ToolContext) -> ToolPreview:
    path = await path_to_run(arguments.path, context)
    view = await opened_cells(path, context, [arguments.cell_id])
    cell = find_cell(view.cells, arguments.cell_id, path)
    if cell.cell_type != "code":
        raise NotebookError("not_code", f"Cell {cell.id} of {path} is a {cell.cell_type} cell: nothing to run.")
    context.seen_cells.bind(context.call_id, [cell])
    preview = notebook_preview(
        path,
        f"Run {cell_number(view, cell.id)} of {name_of(path)}",
        {"cellId": cell.id, "source": cell.source},
        grant=grant(RUN_CELL, path),
        grant_text=f"every cell run in {name_of(path)}",
        bound={"source": cell.source},
    )
    return await with_commands(preview, [cell.source], view.kernel_name)


@tool(
    name=RUN_CELL,
    repair=repair,
    activity=Activity("run_cell", "path", "path", opens=("file",)),
    arguments=NotebookRunCellArguments,
    description="Runs one code cell in the notebook's kernel and returns its outputs, images included.",
    risk="execute",
    family="notebook",
    short=ShortForm("Runs a cell."),
    untimed=True,
    preview=_run_cell_preview,
)
async def notebook_run_cell_tool(arguments: NotebookRunCellArguments, context: ToolContext) -> ToolResult:
    """Runs one cell in the notebook's own kernel, without a time limit."""
    path = await path_to_run(arguments.path, context)
    return await run_and_report(path, arguments.cell_id, context)


class NotebookRunAllArguments(Arguments):
    path: str = Field(min_length=1)
    from_cell_id: str | None = Field(default=None, description="The first cell to run; default: the first.")
    to_cell_id: str | None = Field(default=None, description="The last cell to run; default: the last.")


async def _run_all_preview(arguments: NotebookRunAllArguments, context: ToolContext) -> ToolPreview:
    path = await path_to_run(arguments.path, context)
    view = await opened(path, context)
    cells = code_cells(view, arguments.from_cell_id, arguments.to_cell_id)
    context.seen_cells.bind(context.call_id, [cell for _, cell in cells])
    preview = notebook_preview(
        path,
        f"Run {_cells(cells)} of {name_of(path)}, one after the other",
        {"cells": [_shown(cell, number) for number, cell in cells]},
        grant=grant(RUN_CELL, path),
        grant_text=f"every cell run in {name_of(path)}",
        bound={"sources": [cell.hash for _, cell in cells]},
    )
    return await with_commands(preview, [cell.source for _, cell in cells], view.kernel_name)


@tool(
    name="notebook_run_all",
    repair=repair,
    activity=Activity("run_cells", "path", "path", opens=("file",)),
    arguments=NotebookRunAllArguments,
    description="Runs all code cells of a notebook, or those of a range, in order; stops at the first error.",
    risk="execute",
    family="notebook",
    deferred=True,
    untimed=True,
    preview=_run_all_preview,
)
async def notebook_run_all_tool(arguments: NotebookRunAllArguments, context: ToolContext) -> ToolResult:
    """Runs the code cells in order and stops at the first failure."""
    path = await path_to_run(arguments.path, context)
    cells = code_cells(await opened(path, context), arguments.from_cell_id, arguments.to_cell_id)
    return await run_in_order(path, cells, context)


class NotebookRestartKernelArguments(Arguments):
    path: str = Field(min_length=1)
    run_all: bool = Field(default=False, description="Then runs all code cells.")


async def _restart_kernel_preview(arguments: NotebookRestartKernelArguments, context: ToolContext) -> ToolPreview:
    path = await path_to_run(arguments.path, context)
    cells: Sequence[Numbered] = []
    if arguments.run_all:
        view = await opened(path, context)
        kernel, cells = view.kernel_name, code_cells(view, None, None)
    else:
        kernel = (await opened_cells(path, context, ())).kernel_name
    context.seen_cells.bind(context.call_id, [cell for _, cell in cells])
    name = name_of(path)
    then = f" and run {_cells(cells)}" if arguments.run_all else ""
    shown = {"cells": [_shown(cell, number) for number, cell in cells]} if cells else {}
    preview = notebook_preview(
        path,
        f"Restart the kernel of {name}{then}",
        {"kernel": kernel or "", **shown},
        grant=f"{grant('notebook_restart_kernel', path)}{' and run' if arguments.run_all else ''}",
        grant_text=f"every restart of the kernel of {name}{' with a run of all its cells' if cells else ''}",
        bound={"sources": [cell.hash for _, cell in cells]},
    )
    return await with_commands(preview, [cell.source for _, cell in cells], kernel)


@tool(
    name="notebook_restart_kernel",
    repair=repair,
    activity=Activity("restart_kernel", "path", "path", when=(("runAll", True, "restart_and_run"),), opens=("file",)),
    arguments=NotebookRestartKernelArguments,
    description="Restarts a notebook's kernel, which loses all its variables.",
    risk="execute",
    family="notebook",
    deferred=True,
    untimed=True,
    preview=_restart_kernel_preview,
)
async def notebook_restart_kernel_tool(arguments: NotebookRestartKernelArguments, context: ToolContext) -> ToolResult:
    """Replaces the kernel with a new one; the cells keep their outputs."""
    path = await path_to_run(arguments.path, context)
    said = await _restart(path, context, none_is_fine=arguments.run_all)
    if not arguments.run_all:
        return ToolResult(said, origin="own", data={"notebook": path})
    result = await run_in_order(path, code_cells(await opened(path, context), None, None), context)
    return replace(result, output=f"{result.output}\n{said}", own_tail=f"{result.own_tail}\n{said}")


@dataclass(frozen=True, slots=True)
class _Ran:
    """A cell that was run, with its number before the first cell ran."""

    number: int
    cell: Cell
    run: CellRun


Numbered = tuple[int, Cell]


async def _restart(path: str, context: ToolContext, *, none_is_fine: bool) -> str:
    if context.kernels is None:
        raise NotebookError("no_kernel", "No kernel can be reached from here.")
    try:
        await context.kernels.restart(path)
    except NotebookError as error:
        if error.code != "no_kernel" or not none_is_fine:
            raise
        return f"{path} had no kernel; one was started."
    return f"The kernel of {path} was restarted: its variables are gone."


async def run_in_order(path: str, cells: Sequence[Numbered], context: ToolContext) -> ToolResult:
    """Cancelling stops the running cell and starts no later one; a cell that was changed meanwhile ends it too."""
    ran: list[_Ran] = []
    gone = 0
    for place, (number, cell) in enumerate(cells, 1):
        where = f"cell {place} of {len(cells)}"
        context.progress(where)
        try:
            run = await run_cell(path, cell.id, context, _prefixed(where, context.progress), cell.hash)
        except NotebookError as error:
            if error.code != "no_cell":
                raise _so_far(error, ran, number, cell) from error
            gone += 1
            continue
        ran.append(_Ran(number, cell, run))
        if run.status != "ok":
            break
    return _run_result(path, cells, ran, gone, context)


def _prefixed(where: str, progress: Callable[[str], None]) -> Callable[[str], None]:
    return lambda line: progress(f"{where} · {line}")


def _so_far(error: NotebookError, ran: Sequence[_Ran], number: int, cell: Cell) -> NotebookError:
    """The error with the cells that ran before it, so that the model knows about them."""
    before = f"{_cells(ran)} ran before it" if ran else "the first"
    return NotebookError(error.code, f"In cell {number} ({cell.id}; {before}): {error}", data=error.data)


def _run_result(
    path: str, cells: Sequence[Numbered], ran: Sequence[_Ran], gone: int, context: ToolContext
) -> ToolResult:
    """How it ended, then one line per cell, then the output of the last one."""
    if not ran:
        none = f"{path} has no code cells there: nothing was run."
        return ToolResult(none, ok=gone == 0, origin="own", data={"notebook": path})
    last = ran[-1]
    ok = last.run.status == "ok"
    left = len(cells) - len(ran) - gone
    if ok:
        head = f"Ran {_cells(ran)} of {path}."
    else:
        how = "raised an error" if last.run.status == "error" else "was stopped"
        were = "was" if left == 1 else "were"
        head = (
            f"Cell {last.number} ({plain_id(last.cell.id)}) {how}; {len(ran) - 1} ran before it, {left} {were} not run."
        )
    lines = [_ran_line(one) for one in ran]
    were_deleted = "1 cell was deleted" if gone == 1 else f"{gone} cells were deleted"
    notes = [f"{were_deleted} meanwhile." if gone else "", *dict.fromkeys(one.run.note or "" for one in ran)]
    shown = render_outputs(last.run.outputs, min(RUN_OUTPUT_CHARS, context.max_output_bytes) // 2)
    images = render_outputs([output for one in ran[-12:] for output in one.run.outputs], 0).attachments
    shown_text = with_figures(shown.text, last.run)
    output = f"Output of cell {last.number}:\n{shown_text}" if shown_text else ""
    text = "\n".join(part for part in (*_shortened(lines), *notes, output) if part)
    return ToolResult(
        f"{head}\n{text}",
        ok,
        images,
        truncated=shown.truncated,
        external=f"cells of {path}",
        own_head=f"{head}\n",
        data=_ran_data(path, ran),
        failure=run_failure(last.run, head),
    )


def _ran_data(path: str, ran: Sequence[_Ran]) -> dict[str, Any]:
    """Only the last ones, if there are too many to list."""
    cells = [{"number": one.number, "id": one.cell.id, "status": one.run.status} for one in ran[-MAX_CELLS:]]
    return {"notebook": path, "ran": cells}


def _ran_line(one: _Ran) -> str:
    words = output_words(one.run.outputs)
    return f"{one.number} {one.cell.id}{count(one.run)} {one.run.status}{f' → {words}' if words else ''}"


def _shortened(lines: Sequence[str], most: int = 60) -> list[str]:
    if len(lines) <= most:
        return list(lines)
    return [f"[… {len(lines) - most} cells before these succeeded …]", *lines[-most:]]


def code_cells(view: NotebookView, from_id: str | None, to_id: str | None) -> list[Numbered]:
    """The non-empty code cells of the range, with their numbers. Raises: NotebookError (no_cell)."""
    ids = [cell.id for cell in view.cells]
    first = 0 if from_id is None else index_of(ids, from_id, view.path)
    last = len(ids) - 1 if to_id is None else index_of(ids, to_id, view.path)
    wanted = list(enumerate(view.cells, 1))[first : last + 1]
    return [(number, cell) for number, cell in wanted if cell.cell_type == "code" and cell.source.strip()]


def _cells(cells: Sequence[object]) -> str:
    return "1 cell" if len(cells) == 1 else f"{len(cells)} cells"


def _shown(cell: Cell, number: int) -> dict[str, object]:
    return {"number": number, "cellId": cell.id, "cellType": "code", "source": cell.source}
