"""Where cells were before changes that are being reverted, and which ones a user moved since. It does no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onyx_jupyter.notebook.review.lines import BESIDE, Effect
from onyx_jupyter.notebook.review.reviewed_cells import ReviewedCell

_ORDER_KINDS = ("insert", "delete", "move")


def target_order(
    order: Sequence[str], acting: Sequence[ReviewedCell], rest: Sequence[ReviewedCell] = ()
) -> tuple[list[str], list[str]]:
    """The cell order as if these changes had not been made, and the cells that a user moved elsewhere since.

    `rest` are other changes of runs: they are also reverted one by one, and reverting all of them must restore the
    original order.
    """
    touched = {item.cell_id for item in (*acting, *rest) if _order_effects(item)}
    stuck = [item.cell_id for item in acting if item.cell_id in order and _is_moved_since(item, order, touched)]
    if any(item.state != "accepted" and _order_effects(item) for item in rest):
        return _beside_anchors(order, acting, rest, set(stuck)), stuck
    return _undo_all(order, acting, set(stuck)), stuck


def _is_moved_since(item: ReviewedCell, order: Sequence[str], touched: set[str]) -> bool:
    """Whether the cell has neither neighbour of the place where the run put it, and is not back in its original place.

    Cells that the runs themselves inserted, moved or removed don't indicate a user's move.
    """
    if not item.moves:
        return False
    put, at = item.moves[-1], order.index(item.cell_id)
    if put.now_above is None or put.now_below is None:  # written before neighbours were recorded
        return put.place in order and order.index(put.place) > at
    above = next((other for other in reversed(order[:at]) if other not in touched), None)
    below = next((other for other in order[at + 1 :] if other not in touched), None)
    home = next((other for other in item.above or () if other not in touched), None)
    return above != home and not (_is(above, put.now_above, touched) or _is(below, put.now_below, touched))


def _is(neighbour: str | None, recorded: Sequence[str], touched: set[str]) -> bool:
    expected = next((other for other in recorded if other not in touched), None)
    # None is the notebook's edge, unless the record ends before it.
    return neighbour == expected or (expected is None and len(recorded) >= BESIDE)


def _undo_all(order: Sequence[str], acting: Sequence[ReviewedCell], stuck: set[str]) -> list[str]:
    """Undoes the changes one by one, newest first, so that each finds its neighbours as it left them."""
    target = list(order)
    effects = sorted((part for item in acting for part in item.effects), key=lambda part: part[0], reverse=True)
    for _, effect in effects:
        cell_id = effect.cell_id
        if effect.kind == "insert" and cell_id in target:
            target.remove(cell_id)
        elif effect.kind == "delete" and cell_id not in target:
            target.insert(_behind(target, effect.above or ()), cell_id)
        elif effect.kind == "move" and cell_id in target and cell_id not in stuck:
            target.remove(cell_id)
            target.insert(_behind(target, effect.above or ()), cell_id)
    return target


def _beside_anchors(
    order: Sequence[str], acting: Sequence[ReviewedCell], rest: Sequence[ReviewedCell], stuck: set[str]
) -> list[str]:
    """Puts each cell after its nearest original predecessor that is in its original place, or back there."""
    target = list(order)
    coming: dict[str, None] = {}
    for item in acting:
        cell_id, is_there = item.cell_id, item.cell_id in order
        if cell_id in stuck or not _order_effects(item):
            continue
        if is_there and (not item.existed or item.moves):
            target.remove(cell_id)
        if item.existed and (item.moves if is_there else not item.exists):
            coming[cell_id] = None
    over = _Over([*acting, *(item for item in rest if item.state != "accepted")])
    away = stuck | _away(target, [item for item in rest if item.state == "pending"], over)
    for cell_id in over.sorted(list(coming)):
        anchor = over.nearest(cell_id, {other for other in target if other not in away})
        target.insert(0 if anchor is None else target.index(anchor) + 1, cell_id)
    return target


def _away(order: Sequence[str], pending: Sequence[ReviewedCell], over: _Over) -> set[str]:
    """The cells with pending moves that are not in their original place.

    A cell that was moved together with its neighbour counts as not moved, and yet is elsewhere.
    """
    moves: dict[str, ReviewedCell] = {}
    for item in pending:
        if item.moves:  # several turns may have moved it, perhaps there and back
            effects = (*(moves[item.cell_id].effects if item.cell_id in moves else ()), *item.effects)
            moves[item.cell_id] = replace(item, effects=tuple(sorted(effects, key=lambda part: part[0])))
    added = {item.cell_id for item in pending if not item.existed}
    firm = {cell_id for cell_id in order if cell_id not in moves and cell_id not in added}
    found = set()
    for cell_id, item in moves.items():
        if cell_id in order:
            now = next((other for other in reversed(order[: order.index(cell_id)]) if other in firm), None)
            if item.is_moved or now != over.nearest(cell_id, firm):
                found.add(cell_id)
    return found


class _Over:
    """The cells above each cell before any of these changes, nearest first, as far as the changes record it."""

    def __init__(self, items: Sequence[ReviewedCell]) -> None:
        parts = (part for item in items for part in _order_effects(item))
        self._effects = [effect for _, effect in sorted(parts, key=lambda part: part[0])]
        self._first: dict[str, int] = {}
        for number, effect in enumerate(self._effects):
            self._first.setdefault(effect.cell_id, number)
        self._known: dict[str, list[str]] = {}

    def of(self, cell_id: str) -> list[str]:
        if cell_id not in self._known:
            self._known[cell_id] = self._undo_all(self._first[cell_id]) if cell_id in self._first else []
        return self._known[cell_id]

    def sorted(self, cell_ids: Sequence[str]) -> list[str]:
        """Orders the cells so that each follows those that were above it."""
        left = dict.fromkeys(cell_ids)
        found: list[str] = []
        while left:
            stack = [next(iter(left))]
            del left[stack[0]]
            while stack:
                over = next((other for other in self.of(stack[-1]) if other in left), None)
                if over is None:
                    found.append(stack.pop())
                else:
                    del left[over]
                    stack.append(over)
        return found

    def nearest(self, cell_id: str, anchors: set[str]) -> str | None:
        """The first anchor above the cell; if its record ends, continues with the record of the last cell in it."""
        seen: set[str] = set()
        at: str | None = cell_id
        while at is not None and at not in seen:
            seen.add(at)
            over = self.of(at)
            found = next((other for other in over if other in anchors), None)
            if found is not None:
                return found
            at = over[-1] if over else None
        return None

    def _undo_all(self, number: int) -> list[str]:
        """The cells above a cell when its first change was made, with all earlier changes undone."""
        first = self._effects[number]
        column = [*reversed(first.above or ()), first.cell_id]
        for effect in reversed(self._effects[:number]):
            if effect.cell_id in column:
                column.remove(effect.cell_id)
            if effect.kind != "insert":
                known = set(column)
                over = next((other for other in effect.above or () if other in known), None)
                if over is not None:
                    column.insert(column.index(over) + 1, effect.cell_id)
                elif not effect.above:
                    column.insert(0, effect.cell_id)
        return column[: column.index(first.cell_id)][::-1]


def _order_effects(item: ReviewedCell) -> list[tuple[str, Effect]]:
    return [part for part in item.effects if part[1].kind in _ORDER_KINDS]


def _behind(order: Sequence[str], above: Sequence[str]) -> int:
    found = next((cell_id for cell_id in above if cell_id in order), None)
    return 0 if found is None else order.index(found) + 1
