"""Runs one cell and reports the outcome to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.features.notebooks.notebook_access import run_cell, run_exactly
from onyx_jupyter.messages import Failure, Origin, ToolResult
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.protocols import CellRun
from onyx_jupyter.result_data import cell_ran
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.results import failure_of

RUN_OUTPUT_CHARS = 12_000
RUN_CELL = "notebook_run_cell"
STAYS = "The cell stays; running it failed"


async def run_and_report(path: str, cell_id: str, context: ToolContext) -> ToolResult:
    """Runs the cell if it still is as approved. Raises: NotebookError."""
    return _run_result(path, cell_id, await run_cell(path, cell_id, context, context.progress), context)


async def run_written(
    path: str, cell_id: str, source: str, done: str, data: Mapping[str, Any], context: ToolContext
) -> ToolResult:
    """Runs the cell that this call has just written, if its source is exactly `source`.

    `done` describes the edit in words, `data` for the user interface.

    If the cell cannot start, the edit is not undone: the result says that the cell stays, and why it did not run.
    """
    try:
        run = await run_exactly(path, cell_id, context, context.progress, cell_hash(source))
    except OnyxError as error:
        head, origin = f"{done}\n{STAYS} ({error.code}): ", _origin(error)
        failure = failure_of(error, f"{STAYS} ({error.code}): {error}")
        return ToolResult(f"{head}{error}", ok=False, origin=origin, own_head=head, data=data, failure=failure)
    result = _run_result(path, cell_id, run, context)
    told = replace(result, output=f"{done}\n{result.output}", own_head=f"{done}\n{result.own_head}")
    return replace(told, data={**(result.data or {}), **data})


def _run_result(path: str, cell_id: str, run: CellRun, context: ToolContext) -> ToolResult:
    shown = render_outputs(run.outputs, min(RUN_OUTPUT_CHARS, context.max_output_bytes))
    headline = {
        "ok": f"Ran cell {cell_id}{count(run)}.",
        "error": f"Cell {cell_id}{count(run)} raised an error.",
        "aborted": f"Cell {cell_id} was stopped before it ended.",
    }[run.status]
    text = with_figures(shown.text, run)
    head = f"{headline}\n" if text else f"{headline}\n(no output)"
    note = f"\n{run.note}" if run.note else ""
    return ToolResult(
        output=head + text + note,
        external=f"a cell of {path}",
        own_head=head,
        ok=run.status == "ok",
        attachments=shown.attachments,
        truncated=shown.truncated,
        data=cell_ran(path, cell_id, run.status),
        failure=run_failure(run, headline),
    )


def run_failure(run: CellRun, reason: str) -> Failure | None:
    """The failure of a cell that was run; None if it succeeded."""
    return None if run.status == "ok" else Failure("aborted" if run.status == "aborted" else "failed", reason)


def with_figures(text: str, run: CellRun) -> str:
    """The cell's output, then descriptions of its figures, because not every model can see images."""
    return "\n".join([*filter(None, [text]), *(f"[figure: {figure}]" for figure in run.figures)])


def count(run: CellRun) -> str:
    """The execution count as ` [5]`, if the kernel sent one."""
    return f" [{run.execution_count}]" if run.execution_count is not None else ""


def _origin(error: OnyxError) -> Origin:
    return "own" if error.has_safe_message else "outside"
