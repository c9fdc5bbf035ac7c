"""The tools that read, change and run notebooks, cell by cell id. Where a notebook is open is not their business."""

from __future__ import annotations

import json
import posixpath
from typing import ClassVar

from pydantic import Field

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.notebook.cells import cell_hash, cell_label, cell_number, find_cell, stale
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import After, CellType, EditCell, Exactly, InsertCell, Place, ToolPreview
from onyx_jupyter.tools.asking_cell import refuse_asking_notebook
from onyx_jupyter.tools.builtin.notebook_text import notebook_text
from onyx_jupyter.tools.context import ToolContext
from onyx_jupyter.tools.spec import Arguments, Tool

DEFAULT_READ_CHARS = 16_000
RUN_OUTPUT_CHARS = 12_000
_NOTE_CHARS = 1_000
_PATH = "The notebook's path, as in the file browser."
_CELL_ID = "The cell's id, as notebook_read gives it."


class NotebookReadArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    cell_ids: list[str] | None = Field(
        default=None, min_length=1, description="Only these cells, in full and with images."
    )
    max_chars: int | None = Field(
        default=None, ge=500, le=100_000, description=f"How long the answer may be; {DEFAULT_READ_CHARS} if left out."
    )


class NotebookReadTool(Tool[NotebookReadArguments]):
    """Shows a notebook within a budget; what is left out is named, with how to get it."""

    name = "notebook_read"
    description = (
        "Reads a notebook: its kernel, and each cell's id, hash, source and outputs. Long notebooks are shortened; ask "
        "for single cells with cellIds, which also gives their images."
    )
    risk: ClassVar[Risk] = "read"
    family: ClassVar[str] = "notebook"
    arguments = NotebookReadArguments

    async def run(self, arguments: NotebookReadArguments, context: ToolContext) -> ToolResult:
        path = _api_path(arguments.path, context)
        view = await context.notebooks.read(path, arguments.cell_ids or ())
        for cell_id in arguments.cell_ids or ():
            find_cell(view.cells, cell_id, path)
        fitting = max(500, context.max_result_chars - _NOTE_CHARS)
        max_chars = min(arguments.max_chars or min(DEFAULT_READ_CHARS, fitting), context.max_output_bytes)
        text, truncated = notebook_text(view, arguments.cell_ids, max_chars)
        wanted = [cell for cell in view.cells if cell.id in (arguments.cell_ids or ())]
        outputs = [output for cell in wanted for output in cell.outputs]
        return ToolResult(output=text, attachments=render_outputs(outputs, 0).attachments, truncated=truncated)


class NotebookInsertCellArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    cell_type: CellType
    source: str = Field(max_length=1_000_000)
    after_cell_id: str | None = Field(default=None, description="Id of the cell before it; left out: at the end.")


class NotebookInsertCellTool(Tool[NotebookInsertCellArguments]):
    """Inserts one cell and gives its id."""

    name = "notebook_insert_cell"
    description = "Inserts a cell into a notebook, after a cell or at the end, without running it. Returns its id."
    risk: ClassVar[Risk] = "write"
    family: ClassVar[str] = "notebook"
    arguments = NotebookInsertCellArguments

    async def preview(self, arguments: NotebookInsertCellArguments, context: ToolContext) -> ToolPreview:
        path = _api_path(arguments.path, context)
        cells = (await context.notebooks.read(path)).cells
        details = {"path": path, "cellType": arguments.cell_type, "source": arguments.source}
        if arguments.after_cell_id is not None:
            after = cell_label(cells, arguments.after_cell_id, path)
            where = f"after {after}"
            details |= {"afterCellId": arguments.after_cell_id, "after": after}
        else:
            where = f"at the end of {posixpath.basename(path)}"
            details |= {"after": cell_label(cells, cells[-1].id, path) if cells else "the beginning"}
        return ToolPreview(
            summary=f"Insert a {arguments.cell_type} cell {where}",
            details=details,
            grant=_grant(self.name, path),
            grant_text=f"every cell inserted into {posixpath.basename(path)}",
            exactly=Exactly({"path": path}, without=("path",)),
        )

    async def run(self, arguments: NotebookInsertCellArguments, context: ToolContext) -> ToolResult:
        path = _api_path(arguments.path, context)
        cell = {"cell_type": arguments.cell_type, "source": arguments.source, "metadata": {}}
        place: Place = "end" if arguments.after_cell_id is None else After(arguments.after_cell_id)
        (made,) = await context.notebooks.apply(path, [InsertCell(cell, place)])
        new_hash = cell_hash(arguments.source)
        return ToolResult(output=f"Inserted {arguments.cell_type} cell {made.cell_id} (hash {new_hash}) into {path}.")


class NotebookEditCellArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    cell_id: str = Field(description=_CELL_ID)
    source: str = Field(max_length=1_000_000, description="The cell's whole new source.")
    base_hash: str | None = Field(
        default=None, description="The hash of the source that you saw; the edit is refused if it has changed."
    )


class NotebookEditCellTool(Tool[NotebookEditCellArguments]):
    """Replaces a cell's source; its outputs stay until it runs again."""

    name = "notebook_edit_cell"
    description = "Replaces the source of one cell of a notebook, without running it. Give baseHash from notebook_read."
    risk: ClassVar[Risk] = "write"
    family: ClassVar[str] = "notebook"
    arguments = NotebookEditCellArguments

    async def preview(self, arguments: NotebookEditCellArguments, context: ToolContext) -> ToolPreview:
        path = _api_path(arguments.path, context)
        cells = (await context.notebooks.read(path)).cells
        cell = find_cell(cells, arguments.cell_id, path)
        if arguments.base_hash is not None and arguments.base_hash != cell.hash:
            raise stale(path, cell.id, cell.source)
        name = posixpath.basename(path)
        return ToolPreview(
            summary=f"Edit {cell_number(cells, cell.id, path)} of {name}",
            details={"path": path, "cellId": cell.id, "oldSource": cell.source, "newSource": arguments.source},
            grant=_grant(self.name, path),
            grant_text=f"every edit of a cell in {name}",
            exactly=Exactly({"path": path}, without=("path",)),
        )

    async def run(self, arguments: NotebookEditCellArguments, context: ToolContext) -> ToolResult:
        path = _api_path(arguments.path, context)
        await context.notebooks.apply(path, [EditCell(arguments.cell_id, arguments.source, arguments.base_hash)])
        return ToolResult(output=f"Edited cell {arguments.cell_id} of {path} (hash {cell_hash(arguments.source)}).")


class NotebookRunCellArguments(Arguments):
    path: str = Field(min_length=1, description=_PATH)
    cell_id: str = Field(description=_CELL_ID)


class NotebookRunCellTool(Tool[NotebookRunCellArguments]):
    """Runs one cell in the notebook's own kernel, for as long as it takes."""

    name = "notebook_run_cell"
    description = "Runs one code cell in the notebook's kernel and returns its outputs, images included."
    risk: ClassVar[Risk] = "execute"
    family: ClassVar[str] = "notebook"
    untimed: ClassVar[bool] = True
    arguments = NotebookRunCellArguments

    async def preview(self, arguments: NotebookRunCellArguments, context: ToolContext) -> ToolPreview:
        path = _api_path(arguments.path, context)
        await refuse_asking_notebook(path, context)
        cells = (await context.notebooks.read(path)).cells
        cell = find_cell(cells, arguments.cell_id, path)
        if cell.cell_type != "code":
            raise NotebookError("not_code", f"Cell {cell.id} of {path} is a {cell.cell_type} cell: nothing to run.")
        name = posixpath.basename(path)
        return ToolPreview(
            summary=f"Run {cell_number(cells, cell.id, path)} of {name}",
            details={"path": path, "cellId": cell.id, "source": cell.source},
            grant=_grant(self.name, path),
            grant_text=f"every cell run in {name}",
            exactly=Exactly({"path": path, "source": cell.source}, without=("path",)),
        )

    async def run(self, arguments: NotebookRunCellArguments, context: ToolContext) -> ToolResult:
        path = _api_path(arguments.path, context)
        await refuse_asking_notebook(path, context)
        run = await context.notebooks.run_cell(path, arguments.cell_id, context.progress)
        shown = render_outputs(run.outputs, min(RUN_OUTPUT_CHARS, context.max_output_bytes))
        count = f" [{run.execution_count}]" if run.execution_count is not None else ""
        headline = {
            "ok": f"Ran cell {arguments.cell_id}{count}.",
            "error": f"Cell {arguments.cell_id}{count} raised an error.",
            "aborted": f"Cell {arguments.cell_id} was stopped before it ended.",
        }[run.status]
        parts = [headline, shown.text or "(no output)", *([run.note] if run.note else [])]
        return ToolResult(
            output="\n".join(parts),
            ok=run.status == "ok",
            attachments=shown.attachments,
            truncated=shown.truncated,
        )


def _api_path(path: str, context: ToolContext) -> str:
    return context.paths.api_path(path.removeprefix("RTC:"))


def _grant(tool: str, path: str) -> str:
    return f"{tool} {json.dumps(path, ensure_ascii=False)}"
