"""Notebooks whose every change is written down: before it is made what it will do, afterwards what it did.

It decides nothing about a change, and makes none that could not be written down first.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard
from uuid import uuid4
from weakref import WeakValueDictionary

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import NotebookError, OnyxError
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.lines import BESIDE, Begun, Done, Effect, EffectKind, Line, NotDone, Removed
from onyx_jupyter.notebook.review.recorded_notebooks import RecordedNotebooks
from onyx_jupyter.notebook.review.shown_digest import shown_digest
from onyx_jupyter.protocols import (
    After,
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    DeleteCell,
    EditCell,
    InsertCell,
    MoveCell,
    NbCell,
    NotebookCells,
    Notebooks,
    NotebookView,
    Place,
    RestoreCell,
)

log = logging.getLogger(__name__)
ABOVE = 30
# The notebook may have been changed or not: nobody answered.
_UNSURE = ("tab_gone", "tab_silent", "bad_response")
_NOT_RUN = ("no_cell", "not_code", "no_kernel", "not_found", "not_notebook", "not_open")
_KINDS: dict[type[CellChange], EffectKind] = {
    InsertCell: "insert",
    EditCell: "edit",
    DeleteCell: "delete",
    MoveCell: "move",
    RestoreCell: "restore",
}


@dataclass(frozen=True, slots=True)
class Author:
    """On whose behalf something is changed: a call of a run, or (`revert_id`) a person who takes a run's work back."""

    agent_id: str
    session_key: str
    run_id: str
    call_id: str = ""
    revert_id: str | None = None


@dataclass(frozen=True, slots=True)
class KeepLimits:
    """`output_chars`: outputs of one cell beyond it are not kept. `file_bytes`: nor any, once a file is that large."""

    output_chars: int = 2_000_000
    file_bytes: int = 100_000_000


class ChangeRecorder:
    """Writes changes down and makes them. `changed` hears of each.

    `canonical` gives a notebook its one spelling, `path_now` the one that it has where it was renamed meanwhile.
    """

    def __init__(
        self,
        notebooks: Notebooks,
        store: ChangeStore,
        canonical: Callable[[str], str],
        clock: Clock,
        ids: IdSource,
        limits: Callable[[], KeepLimits],
        changed: Callable[[str, Author], None],
        path_now: Callable[[str], Awaitable[str]] | None = None,
    ) -> None:
        self._notebooks = notebooks
        self._store = store
        self._canonical = canonical
        self._clock = clock
        self._ids = ids
        self._limits = limits
        self._changed = changed
        self._path_now = path_now
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def notebooks_for(self, author: Author) -> RecordedNotebooks:
        """The notebooks as that author is to see them."""
        return RecordedNotebooks(self._notebooks, self, author)

    async def apply(
        self, author: Author, path: str, changes: Sequence[CellChange], seen: Mapping[str, Cell] | None = None
    ) -> tuple[AppliedChange, ...]:
        """As `Notebooks.apply`. Raises: StorageError too, where nothing could be written down; then nothing is done.

        `seen` are cells as the author last saw them: one that is edited on that very source is not read again.
        """
        name = await self._name(path)
        lock = self._locks.setdefault(name, asyncio.Lock())
        changes = [_with_id(change) for change in changes]
        async with lock:  # so that changes stand in the file in the order in which they were made
            now = await self._touched(name, changes, seen or {})
            max_chars = self._max_chars(author)
            expected = _expected(changes, now, max_chars)
            begun = await self._begin(author, name, expected)
            try:
                applied = await self._notebooks.apply(name, changes)
            except NotebookError as error:
                if error.code not in _UNSURE:
                    await self._end(author, NotDone(path=name, id=begun.id))
                raise
            effects = tuple(
                _with_seen(_effect(change, done, seen.above, max_chars), seen)
                for change, done, seen in zip(changes, applied, expected, strict=True)
            )
            name = await self._name(name)
            await self._end(author, Done(path=name, id=begun.id, effects=effects))
        self._changed(name, author)
        return applied

    async def create(self, author: Author, path: str, cells: Sequence[NbCell], kernel_name: str | None) -> NotebookView:
        """As `Notebooks.create`. Raises: StorageError too."""
        name = self._canonical(path)
        cells = [cell if cell.get("id") else {**cell, "id": _new_id()} for cell in cells]
        effects = _expected([InsertCell(cell) for cell in cells], NotebookCells(name, (), ()), 0)
        begun = await self._begin(author, name, effects, creates=True)
        try:
            view = await self._notebooks.create(name, cells, kernel_name)
        except NotebookError:
            await self._end(author, NotDone(path=name, id=begun.id))
            raise
        await self._end(author, Done(path=name, id=begun.id, effects=effects))
        self._changed(name, author)
        return view

    async def run_cell(
        self,
        author: Author,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        seen: Cell | None = None,
    ) -> CellRun:
        """As `Notebooks.run_cell`. What it showed before is on disk before it runs. Raises: StorageError too.

        `seen` is the cell as the author last saw it: one that showed nothing is not read again.
        """
        name = await self._name(path)
        cell = seen
        is_read = cell is None or bool(cell.outputs)
        if is_read:  # what was seen of outputs may be shortened
            cell = next(iter((await self._notebooks.read_cells(name, [cell_id], [cell_id])).cells), None)
        if cell is None:
            return await self._notebooks.run_cell(name, cell_id, progress)
        max_chars = self._max_chars(author)
        known = _shown(_nb_cell(cell), max_chars)
        # A run that is stopped has only this: what the cell showed has to be whole in it.
        expected = Effect(cell_id=cell_id, kind="run", before=known[0], outputs_left_out=known[1])
        begun = await self._begin(author, name, (expected,))
        try:
            run = await self._notebooks.run_cell(name, cell_id, progress)
        except NotebookError as error:
            if error.code in _NOT_RUN:
                await self._end(author, NotDone(path=name, id=begun.id))
            raise
        if not run.is_shown:
            await self._end(author, NotDone(path=name, id=begun.id))
            return run
        left_out = run.outputs_left_out
        before, too_large = known if left_out and is_read else _shown(run.before or _nb_cell(cell), max_chars)
        effect = Effect(
            cell_id=cell_id,
            kind="run",
            before=before,
            after={"execution_count": run.execution_count, "digest": shown_digest(run.outputs)},
            outputs_left_out=too_large or (left_out and not is_read),
        )
        name = await self._name(name)  # a cell may run for hours
        await self._end(author, Done(path=name, id=begun.id, effects=(effect,)))
        self._changed(name, author)
        return run

    async def removing(self, author: Author, view: NotebookView) -> Removed:
        """Keeps all that stands in a notebook which is about to be taken away. Raises: StorageError."""
        removed = Removed(
            path=view.path,
            id=self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            revert_id=author.revert_id or "",
            cells=tuple(map(_nb_cell, view.cells)),
            kernel_name=view.kernel_name,
        )
        await self._store.append(author.agent_id, author.session_key, removed)
        return removed

    async def not_removed(self, author: Author, removed: Removed) -> None:
        """It stays after all."""
        await self._end(author, NotDone(path=removed.path, id=removed.id))

    async def _touched(self, name: str, changes: Sequence[CellChange], seen: Mapping[str, Cell]) -> NotebookCells:
        """The cells as they are before it, without the order where no place is left that has to be known."""
        edited = [seen[change.cell_id] for change in changes if _is_edit_of(change, seen)]
        if all(isinstance(change, InsertCell) or _is_edit_of(change, seen) for change in changes):
            return NotebookCells(name, (), tuple(edited))
        in_full = [_id_of(change) for change in changes if isinstance(change, DeleteCell | RestoreCell)]
        return await self._notebooks.read_cells(name, [_id_of(change) for change in changes], in_full)

    async def _name(self, path: str) -> str:
        name = self._canonical(path)
        return await self._path_now(name) if self._path_now is not None else name

    async def _begin(self, author: Author, path: str, effects: tuple[Effect, ...], *, creates: bool = False) -> Begun:
        begun = Begun(
            path=path,
            id=self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            call_id=author.call_id,
            revert_id=author.revert_id,
            creates=creates,
            effects=effects,
        )
        await self._store.append(author.agent_id, author.session_key, begun)
        return begun

    async def _end(self, author: Author, line: Line) -> None:
        """What was begun is on disk: a disk that refuses now costs exactness, not the change's being known."""
        try:
            await self._store.append(author.agent_id, author.session_key, line)
        except OnyxError as error:
            log.error("How a change to %s ended could not be written down: %s", line.path, error)

    def _max_chars(self, author: Author) -> int:
        limits = self._limits()
        full = self._store.size(author.agent_id, author.session_key) > limits.file_bytes
        return 0 if full else limits.output_chars


def _chars(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str))


def _new_id() -> str:
    return uuid4().hex[:12]


def _with_id(change: CellChange) -> CellChange:
    """A new cell's id is known before it is there: so it is found after a kill, too."""
    if isinstance(change, InsertCell) and not change.cell.get("id"):
        return replace(change, cell={**change.cell, "id": _new_id()})
    return change


def _is_edit_of(change: CellChange, seen: Mapping[str, Cell]) -> TypeGuard[EditCell]:
    """Whether it is refused unless the cell has the source that was seen."""
    cell = seen.get(change.cell_id) if isinstance(change, EditCell) else None
    return isinstance(change, EditCell) and cell is not None and change.base_hash == cell.hash


def _id_of(change: CellChange) -> str:
    return str(change.cell["id"]) if isinstance(change, InsertCell | RestoreCell) else change.cell_id


def _expected(changes: Sequence[CellChange], now: NotebookCells, max_chars: int) -> tuple[Effect, ...]:
    """What the changes will do, as far as it can be known: what is on disk before they are made."""
    found = {cell.id: cell for cell in now.cells}
    order = [cell.id for cell in now.order]
    effects = []
    for change in changes:
        cell_id = _id_of(change)
        cell = found.get(cell_id)
        before = None if cell is None else _nb_cell(cell)
        after = {**(before or {}), **_named(change)}
        at = order.index(cell_id) if cell_id in order else 0
        above = tuple(reversed(order[max(0, at - ABOVE) : at]))
        place: Place = After(above[0]) if above else "start"
        applied = AppliedChange(cell_id, before, place, after)
        effect = _effect(change, applied, above, max_chars)
        _follow(order, change)
        effects.append(effect.model_copy(update=_neighbours(order, cell_id)) if effect.kind == "move" else effect)
    return tuple(effects)


def _follow(order: list[str], change: CellChange) -> None:
    """The order once the change is made."""
    cell_id = _id_of(change)
    if isinstance(change, DeleteCell | MoveCell) and cell_id in order:
        order.remove(cell_id)
    if isinstance(change, InsertCell | MoveCell):
        place = change.place
        behind = place.cell_id if isinstance(place, After) else None
        end = 0 if place == "start" else len(order)
        order.insert(order.index(behind) + 1 if behind in order else end, cell_id)


def _neighbours(order: Sequence[str], cell_id: str) -> dict[str, Any]:
    """Of a cell that was moved."""
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


def _effect(change: CellChange, applied: AppliedChange, above: tuple[str, ...] | None, max_chars: int) -> Effect:
    kind = _KINDS[type(change)]
    before, after, left_out = None, None, False
    if applied.before is not None and kind in ("edit", "delete", "restore"):
        before = _text_of(applied.before)
        if kind != "edit":
            shown, too_large = _shown(applied.before, max_chars)
            before, left_out = {**before, **shown}, too_large or applied.outputs_left_out
    if applied.after is not None and kind in ("insert", "edit", "restore"):
        after = _text_of(applied.after)
        if kind == "restore":
            after["execution_count"] = applied.after.get("execution_count")
    return Effect(
        cell_id=applied.cell_id,
        kind=kind,
        before=before,
        after=after,
        above=_above(applied, above) if kind in ("delete", "move") else None,
        outputs_left_out=left_out,
    )


def _with_seen(effect: Effect, seen: Effect) -> Effect:
    """With a moved cell's neighbours, and what the answer had no room for, as they were read right before."""
    if effect.kind == "move":
        update = {"place": seen.place, "now_above": seen.now_above, "now_below": seen.now_below}
        return effect.model_copy(update=update)
    if not effect.outputs_left_out or seen.outputs_left_out or seen.before is None or effect.before is None:
        return effect
    return effect.model_copy(update={"before": {**seen.before, **effect.before}, "outputs_left_out": False})


def _above(applied: AppliedChange, seen: tuple[str, ...] | None) -> tuple[str, ...]:
    """The cells over the place that the cell left: the one that the notebook named, then those seen before."""
    if not isinstance(applied.before_place, After):
        return ()
    nearest = applied.before_place.cell_id
    return (nearest, *(cell_id for cell_id in seen or () if cell_id not in (nearest, applied.cell_id)))[:ABOVE]


def _nb_cell(cell: Cell) -> dict[str, Any]:
    """Without outputs where not all of them are known: the key is missing then."""
    code: dict[str, Any] = {"execution_count": cell.execution_count} if cell.cell_type == "code" else {}
    if code and not cell.outputs_shortened:
        code["outputs"] = list(cell.outputs)
    return {"id": cell.id, "cell_type": cell.cell_type, "source": cell.source, "metadata": cell.metadata, **code}


def _text_of(cell: NbCell) -> dict[str, Any]:
    return {name: cell[name] for name in ("cell_type", "source", "metadata") if name in cell}


def _shown(cell: NbCell, max_chars: int) -> tuple[dict[str, Any], bool]:
    """What the cell shows besides its text, and whether that was too large to be kept, or to be known at all."""
    shown: Mapping[str, Any] = {
        name: cell[name] for name in ("outputs", "execution_count", "attachments") if name in cell
    }
    is_whole = cell.get("cell_type") != "code" or "outputs" in cell
    if is_whole and _chars(shown) <= max_chars:
        return dict(shown), False
    return {name: value for name, value in shown.items() if name == "execution_count"}, True
