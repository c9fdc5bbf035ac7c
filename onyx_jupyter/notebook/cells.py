"""Cells: their hash, their ids, finding and naming them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.output_limits import OutputLimits
from onyx_jupyter.protocols import Cell, DeleteCell, EditCell, NotebookCells, NotebookView

_HASH_CHARS = 16
_ID_CHARS = 12
_LABEL_CHARS = 40
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)


def cell_hash(source: str) -> str:
    """The first 16 hex digits of the source's SHA-256; identifies the source that an edit is based on."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]


def source_of(cell: Mapping[str, Any]) -> str:
    """An nbformat cell's source, which may be stored as lines."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def is_unicode(text: str) -> bool:
    """Whether a file or a message can hold the text; neither can hold half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def cell_ids(cells: Iterable[Mapping[str, Any]]) -> list[str]:
    """An id for each nbformat cell: its own, or one derived from its source if it has none or a duplicate.

    A derived id stays the same as long as the source does, whatever happens to the cells around it.
    """
    used: set[str] = set()
    ids = []
    for cell in cells:
        cell_id = str(cell.get("id") or "")
        repeat = 0
        while not cell_id or cell_id in used:
            text = f"{cell.get('cell_type')}\n{repeat}\n{source_of(cell)}"
            cell_id = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_CHARS]
            repeat += 1
        used.add(cell_id)
        ids.append(cell_id)
    return ids


def cell_views(cells: Iterable[Mapping[str, Any]], in_full: Collection[str]) -> tuple[Cell, ...]:
    """nbformat cells, each with its id, as they are shown to readers."""
    limits = OutputLimits()
    return tuple(_view(cell, limits, in_full) for cell in cells)


def _view(cell: Mapping[str, Any], limits: OutputLimits, in_full: Collection[str]) -> Cell:
    source = source_of(cell)
    outputs = limits.limited(cell.get("outputs") or (), in_full=cell["id"] in in_full)
    return Cell(
        id=cell["id"],
        cell_type=cell["cell_type"],
        source=source,
        hash=cell_hash(source),
        execution_count=cell.get("execution_count"),
        outputs=outputs,
        metadata=cell.get("metadata") or {},
        outputs_shortened=limits.has_shortened,
    )


def wanted_places(ids: Sequence[str], wanted: Collection[str], last: int) -> list[int]:
    """The positions of those cells and of the `last` ones, from 0."""
    first_of_last = len(ids) - last
    return [at for at, cell_id in enumerate(ids) if at >= first_of_last or cell_id in wanted]


def index_of(ids: Sequence[str], cell_id: str, path: str) -> int:
    """The cell's position, from 0. Raises: NotebookError (no_cell)."""
    try:
        return ids.index(cell_id)
    except ValueError:
        raise no_cell(path, cell_id) from None


def find_cell(cells: Sequence[Cell], cell_id: str, path: str) -> Cell:
    """Raises: NotebookError (no_cell)."""
    return cells[index_of([cell.id for cell in cells], cell_id, path)]


def no_cell(path: str, cell_id: str) -> NotebookError:
    error = NotebookError("no_cell", f"{path} has no cell with the id {cell_id!r}. Read the notebook for its cells.")
    return error.mark_message_safe()


def stale(path: str, cell_id: str, source: str) -> NotebookError:
    """The cell is not what the edit was based on; `data` has its id, and its current source and hash."""
    return NotebookError(
        "stale",
        f"Cell {cell_id} of {path} has changed since it was read, so it was left alone. It is now "
        f"(hash {cell_hash(source)}):\n{source}",
        data={"cellId": cell_id, "source": source, "hash": cell_hash(source)},
    )


def read_only(path: str) -> NotebookError:
    return NotebookError(
        "not_saved",
        f"{path} is read-only: changes could not be saved, so nothing was changed. Ask the user to make the file "
        "writable and reopen it, or to save it under another name.",
    )


def check_unlocked(path: str, cell_id: str, metadata: Mapping[str, Any], change: type[EditCell | DeleteCell]) -> None:
    """Raises: NotebookError (locked) if the cell's metadata forbids editing or deleting it."""
    key, done = ("editable", "edited") if change is EditCell else ("deletable", "deleted")
    if metadata.get(key) is False:
        raise NotebookError(
            "locked",
            f"Cell {cell_id} of {path} is locked: its metadata says `{key}: false`, so it was not {done}. Leave it as "
            "it is and work in other cells, or ask the user to unlock it.",
        )


def cell_number(view: NotebookView | NotebookCells, cell_id: str) -> str:
    """`cell 4`, counted from 1 as a person does. Raises: NotebookError (no_cell)."""
    return f"cell {index_of([cell.id for cell in view.order], cell_id, view.path) + 1}"


def cell_label(view: NotebookView | NotebookCells, cell_id: str) -> str:
    """What a person would call the cell: its heading in quotes, else its number. Raises: NotebookError (no_cell)."""
    cell = find_cell(view.cells, cell_id, view.path)
    heading = _HEADING.search(cell.source) if cell.cell_type == "markdown" else None
    if heading is None:
        return cell_number(view, cell_id)
    text = heading[1]
    return f"“{text if len(text) <= _LABEL_CHARS else text[: _LABEL_CHARS - 1] + '…'}”"
