"""The recorded effects of cell changes: predicted before they are made, exact afterwards. It does no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.notebook.review.lines import BESIDE, Effect, EffectKind
from onyx_jupyter.notebook.review.shown_digest import shown_digest, shown_size
from onyx_jupyter.protocols import (
    After,
    AppliedChange,
    Cell,
    CellChange,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    NotebookCells,
    Place,
    RestoreCell,
)

ABOVE = 30
_KINDS: dict[type[CellChange], EffectKind] = {
    InsertCell: "insert",
    EditCell: "edit",
    DeleteCell: "delete",
    MoveCell: "move",
    RestoreCell: "restore",
}


def id_of(change: CellChange) -> str:
    return str(change.cell["id"]) if isinstance(change, InsertCell | RestoreCell) else change.cell_id


def expected_effects(changes: Sequence[CellChange], now: NotebookCells, max_chars: int) -> tuple[Effect, ...]:
    """The predicted effects of the changes, as far as they can be known; written to disk before they are made."""
    found = {cell.id: cell for cell in now.cells}
    order = [cell.id for cell in now.order]
    effects = []
    for change in changes:
        cell_id = id_of(change)
        cell = found.get(cell_id)
        before = None if cell is None else nb_cell(cell)
        after = {**(before or {}), **_named(change)}
        at = order.index(cell_id) if cell_id in order else 0
        above = tuple(reversed(order[max(0, at - ABOVE) : at]))
        place: Place = After(above[0]) if above else "start"
        applied = AppliedChange(cell_id, before, place, after)
        effect = effect_of(change, applied, above, max_chars)
        _follow(order, change)
        effects.append(effect.model_copy(update=_neighbours(order, cell_id)) if effect.kind == "move" else effect)
    return tuple(effects)


def effect_of(change: CellChange, applied: AppliedChange, above: tuple[str, ...] | None, max_chars: int) -> Effect:
    kind = _KINDS[type(change)]
    before, after, left_out = None, None, False
    if applied.before is not None and kind in ("edit", "delete", "restore"):
        before = _text_of(applied.before)
        if kind != "edit":
            shown, too_large = shown_part(applied.before, max_chars)
            before, left_out = {**before, **shown}, too_large or applied.outputs_left_out
    if applied.after is not None and kind in ("insert", "edit", "restore"):
        after = _text_of(applied.after)
        if kind == "restore":
            after["execution_count"] = applied.after.get("execution_count")
    if after is not None and isinstance(change, InsertCell):  # the answer may have no room for its outputs
        after |= left_shown(change.cell.get("outputs", ()), change.cell.get("execution_count"))
    return Effect(
        cell_id=applied.cell_id,
        kind=kind,
        before=before,
        after=after,
        above=_above(applied, above) if kind in ("delete", "move") else None,
        outputs_left_out=left_out,
    )


def with_seen(effect: Effect, seen: Effect) -> Effect:
    """Adds a moved cell's neighbours and whatever the answer had no room for, as read right before the change."""
    if effect.kind == "move":
        update = {"place": seen.place, "now_above": seen.now_above, "now_below": seen.now_below}
        return effect.model_copy(update=update)
    if not effect.outputs_left_out or seen.outputs_left_out or seen.before is None or effect.before is None:
        return effect
    return effect.model_copy(update={"before": {**seen.before, **effect.before}, "outputs_left_out": False})


def nb_cell(cell: Cell) -> dict[str, Any]:
    """The cell in nbformat. The `outputs` key is missing if not all outputs are known."""
    code: dict[str, Any] = {"execution_count": cell.execution_count} if cell.cell_type == "code" else {}
    if code and not cell.outputs_shortened:
        code["outputs"] = list(cell.outputs)
    return {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source, "metadata": cell.metadata, **code}


def shown_part(cell: NbCell, max_chars: int) -> tuple[dict[str, Any], bool]:
    """The cell's outputs and attachments, and whether they were too large to keep or not known at all."""
    shown: Mapping[str, Any] = {
        name: cell[name] for name in ("outputs", "execution_count", "attachments") if name in cell
    }
    is_whole = cell.get("cell_type") != "code" or "outputs" in cell
    if is_whole and _chars(shown) <= max_chars:
        return dict(shown), False
    return {name: value for name, value in shown.items() if name == "execution_count"}, True


def left_shown(outputs: Sequence[Mapping[str, Any]], execution_count: int | None) -> dict[str, Any]:
    """What identifies these outputs of a cell later on."""
    return {"execution_count": execution_count, "digest": shown_digest(outputs), "size": list(shown_size(outputs))}


def _follow(order: list[str], change: CellChange) -> None:
    """Updates the order as the change does."""
    cell_id = id_of(change)
    if isinstance(change, DeleteCell | MoveCell) and cell_id in order:
        order.remove(cell_id)
    if isinstance(change, InsertCell | MoveCell):
        place = change.place
        behind = place.cell_id if isinstance(place, After) else None
        end = 0 if place == "start" else len(order)
        order.insert(order.index(behind) + 1 if behind in order else end, cell_id)


def _neighbours(order: Sequence[str], cell_id: str) -> dict[str, Any]:
    """The neighbours of a moved cell."""
    at = order.index(cell_id)
    above = tuple(reversed(order[max(0, at - BESIDE) : at]))
    below = tuple(order[at + 1 : at + 1 + BESIDE])
    return {"place": above[0] if above else None, "now_above": above, "now_below": below}


def _named(change: CellChange) -> NbCell:
    match change:
        case InsertCell() | RestoreCell():
            return change.cell
        case EditCell():
            return {"source": change.source}
        case _:
            return {}


def _above(applied: AppliedChange, seen: tuple[str, ...] | None) -> tuple[str, ...]:
    """The cells above the place that the cell left: the one that the notebook named, then those seen before."""
    if not isinstance(applied.before_place, After):
        return ()
    nearest = applied.before_place.cell_id
    return (nearest, *(cell_id for cell_id in seen or () if cell_id not in (nearest, applied.cell_id)))[:ABOVE]


def _text_of(cell: NbCell) -> dict[str, Any]:
    return {name: cell[name] for name in ("cell_type", "source", "metadata") if name in cell}


def _chars(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))
