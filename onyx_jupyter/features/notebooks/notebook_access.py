"""How the notebook tools open and change a notebook, checked against what the model has seen of it."""

from __future__ import annotations

import asyncio
import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import cell_hash, find_cell, source_of, stale
from onyx_jupyter.notebook.destructive_edits import loss
from onyx_jupyter.protocols import (
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    ExactScope,
    NotebookCells,
    NotebookView,
    ToolPreview,
)
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.instruction_files import why_asked

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WAITS = (
    "The question came from a cell of {asking}, and its kernel{too} is waiting for your answer: nothing else can run "
    "in it until then. Insert the code as a cell and say that the user can run it, or work in another notebook."
)


def api_path(path: str, context: ToolContext) -> str:
    """The path as the file browser shows it. Raises: PathNotAllowed."""
    return context.paths.api_path(path.removeprefix("RTC:"))


async def path_to_run(path: str, context: ToolContext) -> str:
    """Like `api_path`, for code that runs in the notebook's kernel. Also raises: NotebookError (kernel_waits)."""
    found = api_path(path, context)
    await _refuse_asking_notebook(found, context)
    return found


async def _refuse_asking_notebook(path: str, context: ToolContext) -> None:
    """A run must not wait for the kernel whose cell waits for the run. Raises: NotebookError (kernel_waits)."""
    asking = await context.asking_notebook()
    if asking is None:
        return
    too = ""
    if context.paths.api_path(asking) != context.paths.api_path(path):
        if context.kernels is None or not await context.kernels.is_same_kernel(asking, path):
            return
        too = f", in which {path} runs too,"
    raise NotebookError("kernel_waits", _WAITS.format(asking=asking, too=too))


def name_of(path: str) -> str:
    return posixpath.basename(path)


def plain_id(cell_id: str) -> str:
    """The id if it is valid in nbformat; a placeholder for an invalid one, which a file may still contain."""
    return cell_id if _ID.fullmatch(cell_id) else "(an invalid id)"


def grant(tool: str, path: str) -> str:
    """The grant for a session: one tool on one notebook."""
    return f"{tool} {json.dumps(path, ensure_ascii=False)}"


def notebook_preview(
    path: str,
    summary: str,
    details: Mapping[str, Any],
    *,
    grant: str,
    grant_text: str,
    bound: Mapping[str, Any] | None = None,
    must_ask: str = "",
) -> ToolPreview:
    """The preview of a call on a notebook; `bound` is what "always exactly this" covers besides its path."""
    exactly = ExactScope({"path": path, **(bound or {})}, without=("path",))
    return ToolPreview(summary, {"path": path, **details}, grant, grant_text, exactly, must_ask)


async def change_preview(
    path: str,
    context: ToolContext,
    summary: str,
    details: Mapping[str, Any],
    *,
    grant: str,
    grant_text: str,
    bound: Mapping[str, Any] | None = None,
    must_ask: str = "",
) -> ToolPreview:
    """Like `notebook_preview`, for a call that changes the notebook's content, since it may be a skill."""
    reason = await asyncio.to_thread(why_asked, context.paths.resolve(path), context)
    return notebook_preview(
        path, summary, details, grant=grant, grant_text=grant_text, bound=bound, must_ask=must_ask or reason
    )


async def opened(path: str, context: ToolContext, in_full: Collection[str] = ()) -> NotebookView:
    """The current notebook, recorded as seen by this run; only cells `in_full` have complete outputs.

    Raises: NotebookError.
    """
    view = await context.notebooks.read(path, in_full)
    _found(path, view, context)
    context.seen_cells.record_order(view.path, [cell.id for cell in view.cells])
    return view


async def opened_cells(path: str, context: ToolContext, ids: Collection[str], *, last: int = 0) -> NotebookCells:
    """Like `opened`, with only these cells and the `last` ones. Raises: NotebookError."""
    some = await context.notebooks.read_cells(path, ids, last=last)
    _found(path, some, context)
    return some


def _found(path: str, view: NotebookView | NotebookCells, context: ToolContext) -> None:
    context.seen_cells.called(path, view.path)
    context.seen_cells.beginning(context.run_id, view)


def known(view: NotebookView | NotebookCells, cell_id: str, context: ToolContext, base_hash: str | None = None) -> Cell:
    """The cell, if it still is as the model knows it: by `base_hash`, else as it last saw it.

    Raises: NotebookError (no_cell; stale, with the current source, which then counts as seen by the model).
    """
    cell = find_cell(view.cells, cell_id, view.path)
    expected = base_hash or context.seen_cells.hash_of(view.path, cell_id)
    if expected is not None and expected != cell.hash:
        context.seen_cells.record_seen(view.path, [cell])
        raise stale(view.path, cell_id, cell.source)
    return cell


def must_ask(view: NotebookView | NotebookCells, changed: Mapping[str, str | None], context: ToolContext) -> str:
    """Why this change needs an approval; empty if it does not."""
    return loss(context.seen_cells.beginning(context.run_id, view), view, changed)


def base_of(path: str, cell_id: str, context: ToolContext, base_hash: str | None = None) -> str | None:
    """The hash that a write is based on: the approved one, else the one the model names, else the one it last saw."""
    return context.seen_cells.bound(context.call_id, cell_id) or base_hash or context.seen_cells.hash_of(path, cell_id)


async def run_cell(
    path: str, cell_id: str, context: ToolContext, progress: Callable[[str], None], base_hash: str | None = None
) -> CellRun:
    """Runs the cell if it still is as approved (else: as `base_hash` says). Raises: NotebookError."""
    base_hash = context.seen_cells.bound(context.call_id, cell_id) or base_hash
    return await run_exactly(path, cell_id, context, progress, base_hash)


async def run_exactly(
    path: str, cell_id: str, context: ToolContext, progress: Callable[[str], None], source_hash: str | None
) -> CellRun:
    """Runs the cell if its source has that hash; None runs it in any case. Raises: NotebookError."""
    with _learning(path, context):
        return await context.notebooks.run_cell(path, cell_id, progress, base_hash=source_hash)


async def apply(path: str, changes: Sequence[CellChange], context: ToolContext) -> tuple[AppliedChange, ...]:
    """Makes the changes; what they wrote counts as seen by the model. Raises: NotebookError."""
    with _learning(path, context):
        done = await context.notebooks.apply(path, changes)
    for change in done:
        if change.after is not None:
            context.seen_cells.wrote(path, change.cell_id, cell_hash(source_of(change.after)))
    return done


@contextmanager
def _learning(path: str, context: ToolContext) -> Iterator[None]:
    """Records the current source as seen by the model if a refusal contains it."""
    try:
        yield
    except NotebookError as error:
        if error.code == "stale" and "hash" in error.data:
            context.seen_cells.wrote(path, str(error.data.get("cellId")), str(error.data["hash"]))
        raise
