"""Plans a batch of changes to a list of cells: checked one after the other, all of them or none.

This module does no I/O: each backend passes in cells and carries out the returned steps.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import cell_hash, check_unlocked, index_of, is_unicode, no_cell, source_of, stale
from onyx_jupyter.notebook.output_limits import count_chars
from onyx_jupyter.protocols import (
    After,
    AppliedChange,
    CellChange,
    CellType,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    Place,
    RestoreCell,
    SetOutputs,
)

MAX_CARRIED_CHARS = 1_500_000
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SHOWN = ("outputs", "execution_count", "attachments")
_KINDS: Mapping[str, type | tuple[type, ...]] = {
    "source": (str, list),
    "metadata": dict,
    "attachments": dict,
    "outputs": list,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One change as it is carried out: the cell's old position (None: it is new) and new one (None: it is deleted).

    Both count from 0; `put_at` is the position in the notebook without the cell. `cell` is the whole cell afterwards.
    """

    applied: AppliedChange
    taken_from: int | None
    put_at: int | None
    cell: NbCell | None


def new_cell_id() -> str:
    """An id in the format that nbformat uses."""
    return uuid.uuid4().hex[:8]


def plan(
    cells: Sequence[NbCell],
    ids: Sequence[str],
    changes: Sequence[CellChange],
    path: str,
    new_id: Callable[[], str] = new_cell_id,
) -> tuple[Step, ...]:
    """The steps that carry out the changes; reads from `cells` only those that they touch.

    Raises: NotebookError (no_cell, stale, cell_exists, bad_cell, locked, would_empty); then none may be carried out.
    """
    planning = _Planning(cells, ids, path, new_id)
    steps = tuple(planning.step(change) for change in changes)
    if ids and not planning.order:
        raise NotebookError("would_empty", f"{path} was left alone: the change would remove all its cells.")
    return steps


def apply_steps(cells: Sequence[NbCell], steps: Sequence[Step]) -> list[NbCell]:
    """The cells after these steps, as a new list."""
    after = list(cells)
    for step in steps:
        if step.taken_from is not None:
            del after[step.taken_from]
        if step.put_at is not None and step.cell is not None:
            after.insert(step.put_at, step.cell)
    return after


def carried(cell: NbCell) -> tuple[NbCell, bool]:
    """A cell to pass around, and whether its outputs and attachments were too large for that and left out."""
    shown = [cell[key] for key in ("outputs", "attachments") if key in cell]
    if count_chars(shown, MAX_CARRIED_CHARS) <= MAX_CARRIED_CHARS:
        return cell, False
    return {key: value for key, value in cell.items() if key not in _SHOWN}, True


def after_change(change: CellChange, cell_id: str, before: NbCell | None) -> NbCell | None:
    """The cell after a change; None if the change deletes it."""
    match change:
        case InsertCell():
            return _whole(change.cell, cell_id)
        case EditCell():
            return {**(before or {}), "source": change.source}
        case MoveCell():
            return before
        case RestoreCell():
            return _restored(change.cell, cell_id, before or {})
        case SetOutputs():
            metadata = {**(before or {}).get("metadata", {}), "trusted": True}
            shown = {"outputs": [dict(output) for output in change.outputs], "execution_count": change.execution_count}
            return {**(before or {}), "metadata": metadata, **shown}
        case DeleteCell():
            return None


def check_cell(cell: NbCell) -> None:
    """Raises: NotebookError (bad_cell) if the cell is not valid in nbformat 4.5."""
    if cell.get("cell_type") not in get_args(CellType):
        raise _bad_cell(f"its type is {cell.get('cell_type')!r}, and not one of {', '.join(get_args(CellType))}")
    if not is_unicode(source_of(cell)):
        raise _bad_cell("its source contains half of a character (a lone surrogate), which no file can store")
    wrong = [key for key, kind in _KINDS.items() if key in cell and not isinstance(cell[key], kind)]
    if wrong:
        raise _bad_cell(f"its {wrong[0]} is of the wrong kind")
    cell_id = cell.get("id")
    if cell_id is not None and not (isinstance(cell_id, str) and _ID.fullmatch(cell_id)):
        raise _bad_cell(f"{cell_id!r} is not an id (1 to 64 letters, digits, - and _)")


class _Planning:
    """The notebook as it would be after the changes so far."""

    def __init__(self, cells: Sequence[NbCell], ids: Sequence[str], path: str, new_id: Callable[[], str]) -> None:
        self.order = list(ids)
        self._cells = cells
        self._first = {cell_id: index for index, cell_id in enumerate(ids)}
        self._changed: dict[str, NbCell] = {}
        self._path = path
        self._new_id = new_id

    def step(self, change: CellChange) -> Step:
        match change:
            case InsertCell():
                return self._insert(change)
            case EditCell() | DeleteCell():
                if isinstance(change, EditCell):
                    check_cell({"cell_type": "code", "source": change.source})
                at, cell = self._find(change.cell_id)
                self._check_base(change.cell_id, cell, change.base_hash)
                if not change.even_locked:
                    check_unlocked(self._path, change.cell_id, cell["metadata"], type(change))
                return self._replace(change, at, change.cell_id, cell)
            case SetOutputs():
                at, cell = self._find(change.cell_id)
                if cell["cell_type"] != "code":
                    raise NotebookError("not_code", f"Cell {change.cell_id} of {self._path} is no longer a code cell.")
                return self._replace(change, at, change.cell_id, cell)
            case RestoreCell():
                check_cell(change.cell)
                cell_id = str(change.cell.get("id"))
                at, cell = self._find(cell_id)
                self._check_base(cell_id, cell, change.base_hash)
                return self._replace(change, at, cell_id, cell)
            case MoveCell():
                return self._move(change)

    def _insert(self, change: InsertCell) -> Step:
        check_cell(change.cell)
        cell_id = change.cell.get("id") or self._free_id()
        if cell_id in self.order:
            raise NotebookError("cell_exists", f"{self._path} already has a cell with the id {cell_id!r}.")
        at = self._index(change.place)
        cell = after_change(change, cell_id, None)
        self._put(at, cell_id, cell)
        return Step(_applied(cell_id, None, None, cell), None, at, cell)

    def _replace(self, change: CellChange, at: int, cell_id: str, before: NbCell) -> Step:
        """Edits, deletes or restores the cell in place."""
        place = self._place(at)
        after = after_change(change, cell_id, before)
        del self.order[at]
        if after is not None:
            self._put(at, cell_id, after)
        return Step(_applied(cell_id, before, place, after), at, None if after is None else at, after)

    def _move(self, change: MoveCell) -> Step:
        at, cell = self._find(change.cell_id)
        self._check_base(change.cell_id, cell, change.base_hash)
        place = self._place(at)
        del self.order[at]
        target = self._index(change.place)
        self._put(target, change.cell_id, cell)
        return Step(_applied(change.cell_id, cell, place, cell), at, target, cell)

    def _find(self, cell_id: str) -> tuple[int, NbCell]:
        at = index_of(self.order, cell_id, self._path)
        if cell_id in self._changed:
            return at, self._changed[cell_id]
        return at, _whole(self._cells[self._first[cell_id]], cell_id)

    def _check_base(self, cell_id: str, cell: NbCell, base_hash: str | None) -> None:
        source = source_of(cell)
        if base_hash is not None and cell_hash(source) != base_hash:
            raise stale(self._path, cell_id, source)

    def _index(self, place: Place) -> int:
        if isinstance(place, After):
            if place.cell_id not in self.order:
                raise no_cell(self._path, place.cell_id)
            return self.order.index(place.cell_id) + 1
        return 0 if place == "start" else len(self.order)

    def _place(self, at: int) -> Place:
        return After(self.order[at - 1]) if at else "start"

    def _put(self, at: int, cell_id: str, cell: NbCell | None) -> None:
        assert cell is not None
        self.order.insert(at, cell_id)
        self._changed[cell_id] = cell

    def _free_id(self) -> str:
        cell_id = self._new_id()
        while cell_id in self.order or cell_id in self._first:
            cell_id = self._new_id()
        return cell_id


def _applied(cell_id: str, before: NbCell | None, place: Place | None, after: NbCell | None) -> AppliedChange:
    kept, left_out = (None, False) if before is None else carried(before)
    return AppliedChange(cell_id, kept, place, None if after is None else carried(after)[0], left_out)


def _whole(cell: NbCell, cell_id: str) -> NbCell:
    """The cell with everything nbformat requires, its source as one string, without keys of other cell types."""
    is_code = cell["cell_type"] == "code"
    code = {"execution_count": cell.get("execution_count"), "outputs": cell.get("outputs") or []} if is_code else {}
    foreign = ("attachments",) if is_code else ("outputs", "execution_count")
    rest = {key: value for key, value in cell.items() if key not in foreign}
    return {**rest, "id": cell_id, "metadata": cell.get("metadata") or {}, "source": source_of(cell), **code}


def _restored(cell: NbCell, cell_id: str, now: NbCell) -> NbCell:
    """`cell`, with the keys it lacks taken from `now`."""
    kept = {key: now[key] for key in ("source", "metadata", *_SHOWN) if key in now and key not in cell}
    return _whole({**kept, **cell}, cell_id)


def _bad_cell(reason: str) -> NotebookError:
    return NotebookError("bad_cell", f"This is not a notebook cell: {reason}.")
