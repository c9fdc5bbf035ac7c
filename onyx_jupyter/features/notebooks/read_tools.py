"""The tools that read notebooks: list them, outline one, read its cells, find lines in it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import NotebookError, StorageError
from onyx_jupyter.features.notebooks.notebook_access import api_path, opened
from onyx_jupyter.features.notebooks.notebook_call_repair import repair
from onyx_jupyter.features.notebooks.notebook_text import headline, notebook_text, shown_cells
from onyx_jupyter.files.line_pattern import LinePattern, Stopped
from onyx_jupyter.files.walk import walk
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.notebook.cells import find_cell
from onyx_jupyter.notebook.outline import MORE, headings, outline, section
from onyx_jupyter.notebook.output_kinds import OutputKind
from onyx_jupyter.notebook.outputs import render_outputs
from onyx_jupyter.notebook.stale_cells import Staleness, stale_cells
from onyx_jupyter.protocols import Cell, NotebookView
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import ShortForm, tool

DEFAULT_READ_CHARS = 16_000
OUTLINE_TOKENS = 3_400
MAX_NOTEBOOKS = 200
MAX_MATCHES = 100
FIND_S = 10.0
STATES_S = 2.0
_NOTE_CHARS = 1_000
_STATES: Mapping[Staleness, str] = {
    "edited": "edited since",
    "other_kernel": "earlier kernel",
    "out_of_order": "out of order",
}
_FROM = "The first cell's number."


class NotebookOutlineArguments(Arguments):
    path: str = Field(min_length=1)
    from_: int | None = Field(default=None, ge=1, alias="from", description=_FROM)
    cells: int | None = Field(default=None, ge=1, description="How many.")
    heading: str | None = Field(default=None, min_length=1, max_length=200, description="Only this section.")


@tool(
    name="notebook_outline",
    repair=repair,
    activity=Activity("outline_notebook", "path", "path", opens=("file",)),
    arguments=NotebookOutlineArguments,
    description=(
        "Outlines a notebook: each cell's number, id, type, run count, kinds of output, first line. Start here."
    ),
    risk="read",
    family="notebook",
    short=ShortForm("Lists a notebook's cells with their ids."),
)
async def notebook_outline_tool(arguments: NotebookOutlineArguments, context: ToolContext) -> ToolResult:
    """Outlines a notebook of any length in at most 4,000 tokens, with a way to reach each cell."""
    view = await opened(api_path(arguments.path, context), context)
    max_chars = max(500, context.max_result_chars - _NOTE_CHARS)
    part = _part(view, arguments.from_, arguments.cells, arguments.heading)
    states = await _states(view, context)
    made = await asyncio.to_thread(outline, view, part, max_tokens=OUTLINE_TOKENS, max_chars=max_chars, states=states)
    context.seen_cells.record_partial(view.path, made.shown)
    tail = f"\n[{MORE}]" if made.collapsed else ""
    text = "\n".join(filter(None, (headline(view), made.text)))
    source = f"notebook {view.path}"
    data = shown_cells(view, made.shown)
    return ToolResult(text + tail, truncated=made.collapsed, external=source, own_tail=tail, data=data)


class NotebookReadArguments(Arguments):
    path: str = Field(min_length=1)
    cell_ids: list[str] | None = Field(default=None, min_length=1, description="Only these, with images.")
    from_: int | None = Field(default=None, ge=1, alias="from", description=_FROM)
    cells: int | None = Field(default=None, ge=1, description="How many.")
    outputs: list[OutputKind] | None = Field(default=None, description="Only these kinds; [] for none.")
    max_chars: int | None = Field(default=None, ge=500, le=100_000)


@tool(
    name="notebook_read",
    repair=repair,
    activity=Activity("read_notebook", "path", "path", opens=("file",)),
    arguments=NotebookReadArguments,
    description=(
        "Reads a notebook or some of its cells: id, hash, source and outputs of each. Long ones are shortened."
    ),
    risk="read",
    family="notebook",
    short=ShortForm("Shows cells: source and outputs.", ("cellIds",)),
)
async def notebook_read_tool(arguments: NotebookReadArguments, context: ToolContext) -> ToolResult:
    """Shows cells within a budget; says what is left out and how to get it."""
    view = await opened(api_path(arguments.path, context), context, arguments.cell_ids or ())
    for cell_id in arguments.cell_ids or ():
        find_cell(view.cells, cell_id, view.path)
    part = _part(view, arguments.from_, arguments.cells, None)
    fitting = max(500, context.max_result_chars - _NOTE_CHARS)
    max_chars = min(arguments.max_chars or min(DEFAULT_READ_CHARS, fitting), context.max_output_bytes)
    shown = await asyncio.to_thread(notebook_text, view, part, arguments.cell_ids, arguments.outputs, max_chars)
    context.seen_cells.record_seen(view.path, shown.whole)
    context.seen_cells.record_partial(view.path, shown.in_part)
    wanted = [cell for cell in view.cells if cell.id in (arguments.cell_ids or ())]
    with_images = arguments.outputs is None or "image" in arguments.outputs
    outputs = [output for cell in wanted for output in cell.outputs] if with_images else []
    images = render_outputs(outputs, 0).attachments
    return ToolResult(
        output=shown.text,
        attachments=images,
        truncated=shown.truncated,
        external=f"notebook {view.path}",
        own_tail=shown.notes,
        data=shown_cells(view, [*shown.whole, *shown.in_part]),
    )


class NotebookFindArguments(Arguments):
    path: str = Field(min_length=1)
    pattern: str = Field(min_length=1, max_length=1_000)
    regex: bool = Field(default=False, description="True: the pattern is a regular expression.")
    where: Literal["source", "outputs", "both"] = "source"


@tool(
    name="notebook_find",
    repair=repair,
    activity=Activity("search_notebook", "pattern", "code", opens=("file",)),
    arguments=NotebookFindArguments,
    description="Finds lines in a notebook's cells, ignoring case: cell number and id, line, text.",
    risk="read",
    family="notebook",
    deferred=True,
)
async def notebook_find_tool(arguments: NotebookFindArguments, context: ToolContext) -> ToolResult:
    """Searches one notebook in a thread; gives up on a catastrophic pattern."""
    view = await opened(api_path(arguments.path, context), context)
    cancelled = threading.Event()
    try:
        result, found = await asyncio.to_thread(_find, arguments, view, context, cancelled)
    finally:
        cancelled.set()  # a thread cannot be stopped from outside, so it checks this
    context.seen_cells.record_partial(view.path, found)
    return result


class NotebookListArguments(Arguments):
    path: str | None = Field(default=None, description="A folder; default: the server's root.")


@tool(
    name="notebook_list",
    repair=repair,
    activity=Activity("list_notebooks", "path"),
    arguments=NotebookListArguments,
    description="Lists notebooks: the one in front, those open in tabs, and those in a folder and its subfolders.",
    risk="read",
    family="notebook",
    deferred=True,
)
async def notebook_list_tool(arguments: NotebookListArguments, context: ToolContext) -> ToolResult:
    """Lists the active notebook first, then the other open ones, then those in the folder and below."""
    paths, front = context.open_notebooks()
    others = [path for path in paths if path != front]
    names = [*([f"{front} (in front)"] if front else []), *(f"{path} (open)" for path in others)]
    found, more = await asyncio.to_thread(_in_folder, arguments.path or "", context)
    names += [path for path in found if path != front and path not in others]
    if not names:
        return ToolResult("There are no notebooks.", origin="own")
    tail = f"\n[There are more than these {MAX_NOTEBOOKS}. Name a folder.]" if more else ""
    return ToolResult("\n".join(names) + tail, truncated=more, external="the names of notebooks", own_tail=tail)


async def _states(view: NotebookView, context: ToolContext) -> Mapping[str, str]:
    """Cell id → why its outputs are stale, if a running kernel can tell."""
    if context.kernels is None or view.kernel_status is None:
        return {}
    try:
        async with asyncio.timeout(STATES_S):
            executed = await context.kernels.executed(view.path)
    except (NotebookError, TimeoutError):  # an outline is nearly as useful without it
        return {}
    found = await asyncio.to_thread(stale_cells, view.cells, executed)
    return {cell_id: _STATES[kind] for cell_id, kind in found.items()}


def _part(view: NotebookView, first: int | None, count: int | None, heading: str | None) -> range:
    """The indexes of the requested cells, from 0. Raises: NotebookError (no_cell, no_heading)."""
    whole = range(len(view.cells))
    if heading is not None:
        found = section(view.cells, heading)
        if found is None:
            known = ", ".join(one.title for one in headings(view.cells)[:20]) or "none"
            raise NotebookError("no_heading", f"{view.path} has no heading {heading!r}. Headings: {known}.")
        whole = found
    begin = whole.start if first is None else first - 1
    if whole and begin not in whole:
        raise NotebookError("no_cell", f"{view.path} has cells {whole.start + 1} to {whole.stop}, none {begin + 1}.")
    return range(begin, whole.stop if count is None else min(whole.stop, begin + count))


def _find(
    arguments: NotebookFindArguments, view: NotebookView, context: ToolContext, cancelled: threading.Event
) -> tuple[ToolResult, list[Cell]]:
    import regex  # imported late and in a thread, to keep the server start fast

    pattern = LinePattern(
        f"(?i){arguments.pattern if arguments.regex else regex.escape(arguments.pattern)}",
        deadline=time.monotonic() + min(FIND_S, context.timeout_s),
        is_cancelled=cancelled.is_set,
    )
    lines: list[str] = []
    cells: dict[str, Cell] = {}
    note = ""
    used, most = 0, max(500, context.max_result_chars - _NOTE_CHARS)
    try:
        for cell, line in _matches(pattern, arguments.where, view):
            used += len(line) + 1
            if len(lines) == MAX_MATCHES or used > most:
                note = f"[There are more than these {len(lines)}.]"
                break
            lines.append(line)
            cells[cell.id] = cell
    except (Stopped, TimeoutError):
        note = "[The pattern took too long, so not all cells were searched. Make it simpler.]"
    text = "\n".join(lines)
    tail = "\n".join(filter(None, ("" if lines else "Nothing found.", note)))
    tail = f"\n{tail}" if lines and tail else tail
    result = ToolResult(
        text + tail,
        truncated=bool(note),
        external=f"notebook {view.path}",
        own_tail=tail,
        data=shown_cells(view, cells.values()),
    )
    return result, list(cells.values())


def _matches(pattern: LinePattern, where: str, view: NotebookView) -> Iterator[tuple[Cell, str]]:
    for number, cell in enumerate(view.cells, 1):
        name = f"cell {number} ({cell.id})"
        if where != "outputs":
            yield from ((cell, f"{name} line {at}: {text}") for at, text in pattern.lines(cell.source))
        if where != "source" and cell.outputs:
            shown = render_outputs(cell.outputs, 10**9).text
            yield from ((cell, f"{name} output, line {at}: {text}") for at, text in pattern.lines(shown))


def _in_folder(path: str, context: ToolContext) -> tuple[list[str], bool]:
    """The names of the notebooks below the folder, and whether there are more than returned."""
    found: list[str] = []
    try:
        for file in walk(context.paths.resolve(path), context.paths):
            if file.path.suffix != ".ipynb":
                continue
            if len(found) == MAX_NOTEBOOKS:
                return found, True
            found.append(context.paths.shown(file.path))
    except FileNotFoundError as error:
        raise NotebookError("not_found", f"There is no folder {path!r}.") from error
    except OSError as error:
        raise StorageError(f"{path!r} could not be listed: {error.strerror or error}.") from error
    return found, False
