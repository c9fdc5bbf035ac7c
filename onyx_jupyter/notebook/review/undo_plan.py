"""Plans how to revert changes in a notebook's current state: one batch, and what is left alone. It does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onyx_jupyter.notebook.review.cell_order import target_order
from onyx_jupyter.notebook.review.reviewed_cells import ReviewedCell
from onyx_jupyter.notebook.review.shown_digest import extends_outputs, shown_digest
from onyx_jupyter.protocols import (
    After,
    Cell,
    CellChange,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NotebookView,
    Place,
    RestoreCell,
)

Reason = Literal["changed", "changed_later", "deleted", "moved", "ran", "running", "outputs_not_kept", "not_found"]
EMPTY_CELL: Mapping[str, Any] = {"cell_type": "code", "source": "", "metadata": {}, "outputs": []}


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A cell that a revert did not touch, or only in part: something else was done there since."""

    cell_id: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Plan:
    """`done` are the cells that are as before once `changes` are made; some of `left` may be among them in part."""

    changes: tuple[CellChange, ...]
    done: tuple[str, ...]
    left: tuple[LeftAlone, ...]


def plan(
    view: NotebookView,
    reviewed: Sequence[ReviewedCell],
    is_later: Callable[[str], bool],
    rest: Sequence[ReviewedCell] = (),
    along: Sequence[ReviewedCell] = (),
    *,
    are_pointed_at: bool = False,
) -> Plan:
    """Reverts all these changes, except where the notebook is no longer as they left it.

    `view` has the full outputs of cells that show something else than before.

    `is_later` says whether another run changed a cell afterwards, which affects the reported reason. `rest` are other
    changes of runs: they tell the original order of cells. Cells `along` only go back to their places. With
    `are_pointed_at`, the user chose just these cells: then an added cell is removed even if it was run since.
    """
    now = {cell.id: cell for cell in view.cells}
    contents: list[CellChange] = []
    acting, left = [], []
    for item in reviewed:
        reason = _conflict(item, now.get(item.cell_id), is_later, are_pointed_at)
        if reason is not None:
            left.append(LeftAlone(item.cell_id, reason))
            continue
        acting.append(item)
        change, note = _content(item, now.get(item.cell_id))
        contents.extend([change] if change else [])
        left.extend([LeftAlone(item.cell_id, note)] if note else [])
        if item.existed and not item.exists and item.cell_id not in now and item.outputs_left_out:
            left.append(LeftAlone(item.cell_id, "outputs_not_kept"))
    order = [cell.id for cell in view.cells]
    along = [item for item in along if (cell := now.get(item.cell_id)) is not None and not cell.is_running]
    target, stuck = target_order(order, [*acting, *along], rest)
    own = {item.cell_id for item in acting}
    left.extend(LeftAlone(name, "changed_later" if is_later(name) else "moved") for name in stuck if name in own)
    places = _order_changes(order, target, [*acting, *along], now)
    notes = {item.cell_id for item in left if item.reason != "outputs_not_kept" and item.reason != "ran"}
    done = tuple(item.cell_id for item in acting if item.cell_id not in notes)
    filler = [InsertCell(EMPTY_CELL, "start")] if order and not target else []
    return Plan((*filler, *contents, *places), done, tuple(left))


def is_notebook_unchanged(view: NotebookView, items: Sequence[ReviewedCell]) -> bool:
    """Whether it holds only the run's cells, as the run left them: cells that a user ran since count as theirs."""
    made = {item.cell_id: item for item in items if not item.existed and item.after is not None}
    blank = [cell for cell in view.cells if cell.id not in made and not cell.source.strip() and not cell.outputs]
    rest = [cell for cell in view.cells if cell not in blank]
    is_made = all(
        (item := made.get(cell.id)) is not None and is_unchanged(item, cell) and not shows_more(item, cell)
        for cell in rest
    )
    return is_made and view.kernel_status != "busy" and not any(cell.is_running for cell in view.cells)


def is_unchanged(item: ReviewedCell, cell: Cell | None) -> bool:
    """Whether the run's change of the cell is still in effect."""
    after = item.after
    if cell is None or after is None:
        return (cell is not None) == item.exists
    return cell.source == after.get("source")


def shows_more(item: ReviewedCell, cell: Cell) -> bool:
    """Whether the cell, read in full, shows something that the turn's run neither left nor found."""
    is_known = (
        _shows_run(item, cell) or _is_continued_output(item, cell) or _shows_before(item, cell) or _is_cleared(cell)
    )
    return item.touched_outputs and not is_known


def _conflict(
    item: ReviewedCell, cell: Cell | None, is_later: Callable[[str], bool], is_pointed_at: bool
) -> Reason | None:
    """The reason why the cell must not be touched at all, if any."""
    changed: Reason = "changed_later" if is_later(item.cell_id) else "changed"
    if item.existed and item.exists and cell is None:
        return "deleted"
    if cell is None or not item.exists:
        return None
    after, before = item.after, item.before
    if cell.is_running and (not item.existed or item.moves):
        return "running"
    ran: Reason = "changed_later" if is_later(item.cell_id) else "ran"
    if not item.existed:
        if after is not None and not _is(cell, after):
            return changed
        return ran if shows_more(item, cell) and not is_pointed_at else None
    if item.is_edited and after is not None and before is not None and not _is(cell, after) and not _is(cell, before):
        return changed
    is_run_only = not item.is_edited and not item.is_moved
    return ran if is_run_only and shows_more(item, cell) else None


def _content(item: ReviewedCell, cell: Cell | None) -> tuple[CellChange | None, Reason | None]:
    """The change that restores the content of an existing cell in place, and a note on what it doesn't restore."""
    before = item.before
    if cell is None or before is None or not item.exists:
        return None, None
    wanted: dict[str, Any] = {}
    if item.is_edited and not _is(cell, before):
        wanted |= {name: before[name] for name in ("source", "cell_type") if name in before}
    note: Reason | None = None
    if item.touched_outputs:
        if not _shows_run(item, cell):
            note = "ran" if shows_more(item, cell) else None
        elif item.outputs_left_out or "outputs" not in before:
            note = "outputs_not_kept"
        else:
            wanted |= {"outputs": before["outputs"], "execution_count": before.get("execution_count")}
    if not wanted:
        return None, note
    if set(wanted) == {"source", "cell_type"} and wanted["cell_type"] == cell.cell_type:
        return EditCell(cell.id, wanted["source"], cell.hash, even_locked=True), note
    whole = {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source, **wanted}
    return RestoreCell(whole, cell.hash), note


def _shows_run(item: ReviewedCell, cell: Cell) -> bool:
    """Whether the cell shows what the run left in it, and not something newer.

    The count alone is not enough: after a restart, cells that run again get the same counts.
    """
    if item.end_is_known:
        is_same = item.left_digest is None or item.left_digest == shown_digest(cell.outputs)
        return is_same and cell.execution_count == item.left_count
    return cell.execution_count is None and not cell.outputs  # as at the start of each run: no output to lose


def _is_continued_output(item: ReviewedCell, cell: Cell) -> bool:
    """Whether a cell that a run added has only put out more since that run ended, as one of its threads may."""
    if item.existed or item.left_digest is None or item.left_size is None:
        return False
    is_same = cell.execution_count == item.left_count
    return is_same and extends_outputs(cell.outputs, item.left_digest, item.left_size)


def _is_cleared(cell: Cell) -> bool:
    """Whether the cell shows no outputs: clearing outputs doesn't count as running the cell."""
    return not cell.outputs and cell.execution_count is None and not cell.is_running


def _shows_before(item: ReviewedCell, cell: Cell) -> bool:
    """Whether the run's outputs are already gone."""
    before = item.before or {}
    is_same = "outputs" in before and shown_digest(cell.outputs) == shown_digest(before["outputs"])
    return is_same and cell.execution_count == before.get("execution_count")


def _order_changes(
    order: Sequence[str], target: Sequence[str], acting: Sequence[ReviewedCell], now: Mapping[str, Cell]
) -> list[CellChange]:
    """Insertions and moves from top to bottom, each right after its upper neighbour; then the deletions."""
    befores = {item.cell_id: item.before for item in acting}
    moved = {item.cell_id for item in acting if item.moves}
    wanted = set(target)
    gone = [cell_id for cell_id in order if cell_id not in wanted]
    changes: list[CellChange] = []
    work = [cell_id for cell_id in order if cell_id in wanted]
    for above, cell_id in zip([None, *target], target, strict=False):
        if cell_id in now and cell_id not in moved:
            continue
        place: Place = "start" if above is None else After(above)
        at = 0 if above is None else work.index(above) + 1
        if work[at : at + 1] == [cell_id]:
            continue
        if cell_id in now:
            changes.append(MoveCell(cell_id, place))
            work.remove(cell_id)
            at = 0 if above is None else work.index(above) + 1
        else:
            changes.append(InsertCell(_whole(cell_id, befores[cell_id] or {}), place))
        work.insert(at, cell_id)
    # Last, so that the notebook is never empty in between.
    return [*changes, *(DeleteCell(cell_id, now[cell_id].hash, even_locked=True) for cell_id in gone)]


def _whole(cell_id: str, before: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": "", "metadata": {}, **before, "id": cell_id}


def _is(cell: Cell, kept: Mapping[str, Any]) -> bool:
    return (cell.source, cell.cell_type) == (kept.get("source", ""), kept.get("cell_type", "code"))
