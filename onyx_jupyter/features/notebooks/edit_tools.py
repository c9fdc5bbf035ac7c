"""The tools that change a notebook's cells, addressed by id. They overwrite nothing that the model has not seen.

Two of them can also run the cell they wrote, in the same call, which is then approved like running a cell.

Each change carries the hash of the source it is based on: the approved one, the one the model names, or the one it saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, NotebookError
from onyx_jupyter.features.notebooks.cell_commands import with_commands
from onyx_jupyter.features.notebooks.cell_execution import RUN_CELL, run_written
from onyx_jupyter.features.notebooks.notebook_access import (
    api_path,
    apply,
    base_of,
    change_preview,
    grant,
    known,
    must_ask,
    name_of,
    opened_cells,
    path_to_run,
    plain_id,
)
from onyx_jupyter.features.notebooks.notebook_call_repair import repair
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.notebook.cells import cell_hash, cell_label, cell_number, check_unlocked, index_of, source_of
from onyx_jupyter.protocols import (
    After,
    Cell,
    CellType,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    NotebookCells,
    Place,
    ToolPreview,
)
from onyx_jupyter.result_data import cell_inserted, cells_moved
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import ShortForm, tool

MAX_CELLS = 200
MAX_SOURCE_CHARS = 1_000_000
_AFTER = "The cell before it; default: at the end."


class NotebookInsertCellArguments(Arguments):
    path: str = Field(min_length=1)
    cell_type: CellType
    source: str = Field(max_length=MAX_SOURCE_CHARS)
    after_cell_id: str | None = Field(default=None, description=_AFTER)
    at_start: bool = False
    run: bool = False


class NotebookEditCellArguments(Arguments):
    path: str = Field(min_length=1)
    cell_id: str
    source: str = Field(max_length=MAX_SOURCE_CHARS, description="The cell's whole new source.")
    base_hash: str | None = Field(default=None, description="Default: the one you last saw.")
    run: bool = False


Written = NotebookInsertCellArguments | NotebookEditCellArguments


def _written_risk(arguments: Written) -> Risk:
    """A call that also runs the cell has the risk of `notebook_run_cell`."""
    return "execute" if arguments.run else "write"


def _written_also(arguments: Written) -> Sequence[str]:
    return (RUN_CELL,) if arguments.run else ()


def _written_untimed(arguments: Written) -> bool:
    return arguments.run


async def _insert_cell_preview(arguments: NotebookInsertCellArguments, context: ToolContext) -> ToolPreview:
    path = await _path(arguments, context)
    if arguments.run:
        _check_runs(arguments.cell_type)
    place = _place(arguments)
    view = await opened_cells(path, context, _named(place), last=1 if place == "end" else 0)
    where, facts = _where(place, view, name_of(path))
    preview = await change_preview(
        path,
        context,
        f"Insert a {arguments.cell_type} cell {where}{_and_run(arguments)}",
        {"cellType": arguments.cell_type, "source": arguments.source, **facts, **_running(arguments)},
        grant=f"{grant('notebook_insert_cell', path)}{_and_run(arguments)}",
        grant_text=f"every cell inserted into {name_of(path)}{' and run at once' if arguments.run else ''}",
    )
    return await with_commands(preview, [arguments.source], view.kernel_name) if arguments.run else preview


@tool(
    name="notebook_insert_cell",
    repair=repair,
    activity=Activity("insert_cell", "path", "path", when=(("run", True, "insert_and_run_cell"),), opens=("file",)),
    arguments=NotebookInsertCellArguments,
    description="Inserts a cell into a notebook; run: true also runs it. Returns its id and outputs.",
    risk="write",
    family="notebook",
    short=ShortForm("Adds a cell; run: true runs it.", ("afterCellId", "run")),
    preview=_insert_cell_preview,
    risk_of=_written_risk,
    also=_written_also,
    is_untimed=_written_untimed,
)
async def notebook_insert_cell_tool(arguments: NotebookInsertCellArguments, context: ToolContext) -> ToolResult:
    """Inserts one cell and returns its id; with `run` also its outputs."""
    path = await _path(arguments, context)
    cell = new_cell(arguments.cell_type, arguments.source)
    (made,) = await apply(path, [InsertCell(cell, _place(arguments))], context)
    source = source_of(made.after or cell)
    made_id = plain_id(made.cell_id)
    done = f"Inserted {arguments.cell_type} cell {made_id} (hash {cell_hash(source)}) into {path}."
    data = cell_inserted(path, made.cell_id, arguments.after_cell_id, at_start=arguments.at_start)
    if arguments.run:
        return await run_written(path, made.cell_id, arguments.source, done, data, context)
    return ToolResult(done, origin="own", data=data)


async def _edit_cell_preview(arguments: NotebookEditCellArguments, context: ToolContext) -> ToolPreview:
    path = await _path(arguments, context)
    view = await opened_cells(path, context, [arguments.cell_id])
    cell = known(view, arguments.cell_id, context, arguments.base_hash)
    check_unlocked(path, cell.id, cell.metadata, EditCell)
    if arguments.run:
        _check_runs(cell.cell_type)
    if arguments.source == cell.source:  # an approval would be misleading, and so would "edited"
        instead = f" Run it with {RUN_CELL}." if arguments.run else ""
        raise InvalidArguments(f"Cell {cell.id} already has this source: nothing would change.{instead}")
    context.seen_cells.bind(context.call_id, [cell])
    preview = await change_preview(
        path,
        context,
        f"Edit {cell_number(view, cell.id)} of {name_of(path)}{_and_run(arguments)}",
        {"cellId": cell.id, "oldSource": cell.source, "newSource": arguments.source, **_running(arguments)},
        grant=f"{grant('notebook_edit_cell', path)}{_and_run(arguments)}",
        grant_text=f"every edit of a cell in {name_of(path)}{' with a run of it at once' if arguments.run else ''}",
        must_ask=must_ask(view, {cell.id: arguments.source}, context),
    )
    return await with_commands(preview, [arguments.source], view.kernel_name) if arguments.run else preview


@tool(
    name="notebook_edit_cell",
    repair=repair,
    activity=Activity("edit_cell", "path", "path", when=(("run", True, "edit_and_run_cell"),), opens=("file",)),
    arguments=NotebookEditCellArguments,
    description="Replaces a cell's source; run: true also runs it. Refused if the user changed it.",
    risk="write",
    family="notebook",
    short=ShortForm("Replaces a cell's source; run: true runs it.", ("run",)),
    preview=_edit_cell_preview,
    risk_of=_written_risk,
    also=_written_also,
    is_untimed=_written_untimed,
)
async def notebook_edit_cell_tool(arguments: NotebookEditCellArguments, context: ToolContext) -> ToolResult:
    """Replaces a cell's source; the outputs stay until it runs again, which `run` does at once."""
    path = await _path(arguments, context)
    base_hash = base_of(path, arguments.cell_id, context, arguments.base_hash)
    (made,) = await apply(path, [EditCell(arguments.cell_id, arguments.source, base_hash)], context)
    now = cell_hash(source_of(made.after or {"source": arguments.source}))
    done = f"Edited cell {arguments.cell_id} of {path} (hash {now})."
    data = {"notebook": path, "edited": {"id": arguments.cell_id}}
    if arguments.run:
        return await run_written(path, arguments.cell_id, arguments.source, done, data, context)
    return ToolResult(done, origin="own", data=data)


class NotebookDeleteCellArguments(Arguments):
    path: str = Field(min_length=1)
    cell_ids: list[str] = Field(min_length=1, max_length=MAX_CELLS)


async def _delete_cell_preview(arguments: NotebookDeleteCellArguments, context: ToolContext) -> ToolPreview:
    path = api_path(arguments.path, context)
    ids = list(dict.fromkeys(arguments.cell_ids))
    view = await opened_cells(path, context, ids)
    cells = [known(view, cell_id, context) for cell_id in ids]
    for cell in cells:
        check_unlocked(path, cell.id, cell.metadata, DeleteCell)
    if len(ids) == len(view.order):
        raise NotebookError("would_empty", f"{path} was left alone: all its cells would be removed.")
    context.seen_cells.bind(context.call_id, cells)
    what = cell_number(view, ids[0]) if len(ids) == 1 else f"{len(ids)} cells"
    numbers = {cell.id: number for number, cell in enumerate(view.order, 1)}
    return await change_preview(
        path,
        context,
        f"Delete {what} of {name_of(path)}",
        {"cells": [_shown(cell, numbers[cell.id]) for cell in view.cells]},
        grant=grant("notebook_delete_cell", path),
        grant_text=f"every cell deleted from {name_of(path)}",
        bound={"sources": [cell.hash for cell in cells]},
        must_ask=must_ask(view, dict.fromkeys(ids), context),
    )


@tool(
    name="notebook_delete_cell",
    repair=repair,
    activity=Activity("delete_cells", "path", "path", counted="cellIds", opens=("file",)),
    arguments=NotebookDeleteCellArguments,
    description="Deletes one or more cells of a notebook.",
    risk="write",
    family="notebook",
    deferred=True,
    preview=_delete_cell_preview,
)
async def notebook_delete_cell_tool(arguments: NotebookDeleteCellArguments, context: ToolContext) -> ToolResult:
    """Deletes cells, all of them or none."""
    path = api_path(arguments.path, context)
    ids = list(dict.fromkeys(arguments.cell_ids))
    await apply(path, [DeleteCell(cell_id, base_of(path, cell_id, context)) for cell_id in ids], context)
    done = f"Deleted {'cell' if len(ids) == 1 else 'cells'} {', '.join(ids)} of {path}."
    return ToolResult(done, origin="own", data=cells_moved(path))


class NotebookMoveCellArguments(Arguments):
    path: str = Field(min_length=1)
    cell_id: str
    after_cell_id: str | None = Field(default=None, description=_AFTER)
    at_start: bool = False


async def _move_cell_preview(arguments: NotebookMoveCellArguments, context: ToolContext) -> ToolPreview:
    path = api_path(arguments.path, context)
    if arguments.after_cell_id == arguments.cell_id:
        raise InvalidArguments("`afterCellId` is the cell itself: name the cell it should come after.")
    place = _place(arguments)
    # At the end, it comes after the last cell, which may be the cell itself.
    view = await opened_cells(path, context, [arguments.cell_id, *_named(place)], last=2 if place == "end" else 0)
    cell = known(view, arguments.cell_id, context)
    context.seen_cells.bind(context.call_id, [cell])
    number = cell_number(view, cell.id)
    where, facts = _where(place, view, name_of(path), moved=cell.id)
    target = where if arguments.after_cell_id else f"to the {'beginning' if arguments.at_start else 'end'}"
    return await change_preview(
        path,
        context,
        f"Move {number} of {name_of(path)} {target}",
        {"cellId": cell.id, "source": cell.source, "from": number, **facts},
        grant=grant("notebook_move_cell", path),
        grant_text=f"every cell moved in {name_of(path)}",
    )


@tool(
    name="notebook_move_cell",
    repair=repair,
    activity=Activity("move_cell", "path", "path", opens=("file",)),
    arguments=NotebookMoveCellArguments,
    description="Moves a cell of a notebook to another place.",
    risk="write",
    family="notebook",
    deferred=True,
    preview=_move_cell_preview,
)
async def notebook_move_cell_tool(arguments: NotebookMoveCellArguments, context: ToolContext) -> ToolResult:
    """Moves a cell together with its outputs."""
    path = api_path(arguments.path, context)
    base_hash = base_of(path, arguments.cell_id, context)
    view = await opened_cells(path, context, ())
    place = _place(arguments)
    number = _index(place, [cell.id for cell in view.order if cell.id != arguments.cell_id], path) + 1
    await apply(path, [MoveCell(arguments.cell_id, place, base_hash)], context)
    done = f"Cell {arguments.cell_id} is now cell {number} of {path}."
    return ToolResult(done, origin="own", data=cells_moved(path))


async def _path(arguments: Written, context: ToolContext) -> str:
    """Raises: PathNotAllowed; also NotebookError (kernel_waits) if the cell is to run."""
    return await path_to_run(arguments.path, context) if arguments.run else api_path(arguments.path, context)


def _check_runs(cell_type: str) -> None:
    """Raises: InvalidArguments."""
    if cell_type != "code":
        raise InvalidArguments(f"`run` is for code cells, and a {cell_type} cell has nothing to run: omit `run`.")


def _and_run(arguments: Written) -> str:
    return " and run it" if arguments.run else ""


def _running(arguments: Written) -> dict[str, Any]:
    return {"run": True} if arguments.run else {}


def _place(arguments: NotebookInsertCellArguments | NotebookMoveCellArguments) -> Place:
    """Raises: InvalidArguments."""
    if arguments.at_start and arguments.after_cell_id is not None:
        raise InvalidArguments("Give either `afterCellId` or `atStart`, not both.")
    if arguments.at_start:
        return "start"
    return "end" if arguments.after_cell_id is None else After(arguments.after_cell_id)


def _named(place: Place) -> list[str]:
    """The cell that the place names."""
    return [place.cell_id] if isinstance(place, After) else []


def _index(place: Place, ids: Sequence[str], path: str) -> int:
    """The index of a cell put there. Raises: NotebookError (no_cell)."""
    if isinstance(place, After):
        return index_of(ids, place.cell_id, path) + 1
    return 0 if place == "start" else len(ids)


def new_cell(cell_type: CellType, source: str) -> NbCell:
    return {"cell_type": cell_type, "source": source, "metadata": {}}


def _where(place: Place, view: NotebookCells, name: str, moved: str | None = None) -> tuple[str, dict[str, Any]]:
    """The place in words and as details. Cells are numbered as shown now, before the cell `moved` is moved."""
    if isinstance(place, After):
        after = cell_label(view, place.cell_id)
        return f"after {after}", {"afterCellId": place.cell_id, "after": after}
    others = [cell.id for cell in view.order if cell.id != moved]
    if place == "start" or not others:
        return f"at the {'beginning' if place == 'start' else 'end'} of {name}", {"after": "the beginning"}
    return f"at the end of {name}", {"after": cell_label(view, others[-1])}


def _shown(cell: Cell, number: int) -> dict[str, Any]:
    return {"number": number, "cellId": cell.id, "cellType": cell.cell_type, "source": cell.source}
