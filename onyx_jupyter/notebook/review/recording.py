"""Records every change to a notebook: the expected effect before it is made, the actual effect afterwards.

A change that cannot be recorded first is not made.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard
from uuid import uuid4
from weakref import WeakValueDictionary

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import NotebookError, OnyxError
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.effects import (
    effect_of,
    expected_effects,
    id_of,
    left_shown,
    nb_cell,
    shown_part,
    with_seen,
)
from onyx_jupyter.notebook.review.lines import ChangeRefused, ChangeStarted, Done, Effect, Line, Removed
from onyx_jupyter.protocols import (
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    DeleteCell,
    EditCell,
    InsertCell,
    NbCell,
    NotebookCells,
    Notebooks,
    NotebookView,
    RestoreCell,
)

log = logging.getLogger(__name__)
# The notebook may or may not have changed: no answer arrived.
_UNSURE = ("tab_gone", "tab_silent", "bad_response")
# The cell may keep running unobserved.
_UNOBSERVED = ("tab_gone", "tab_silent", "closed")
# A stopped cell is polled until it has ended; stopping it doesn't have to wait longer than this.
_POLL_S = 1.0
_POLL_INTERVAL_S = 0.1


@dataclass(frozen=True, slots=True)
class Author:
    """On whose behalf something is changed: a call of a run, or (`revert_id`) a user who reverts a run's changes."""

    agent_id: str
    session_key: str
    run_id: str
    call_id: str = ""
    revert_id: str | None = None


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    """`output_chars`: larger outputs of a cell are not kept. `file_bytes`: once a file is larger, no outputs are."""

    output_chars: int = 2_000_000
    file_bytes: int = 100_000_000


class ChangeRecorder:
    """Records changes and makes them. `changed` is called after each.

    `canonical` returns a notebook's canonical path, `path_now` its current path if it was renamed meanwhile.
    """

    def __init__(
        self,
        notebooks: Notebooks,
        store: ChangeStore,
        canonical: Callable[[str], str],
        clock: Clock,
        ids: IdSource,
        limits: Callable[[], RetentionLimits],
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
        """The notebooks for that author, with every change recorded."""
        return RecordedNotebooks(self._notebooks, self, author)

    async def apply(
        self, author: Author, path: str, changes: Sequence[CellChange], seen: Mapping[str, Cell] | None = None
    ) -> tuple[AppliedChange, ...]:
        """Like `Notebooks.apply`. Raises: also StorageError if the change cannot be recorded; then nothing is done.

        `seen` are cells as the author last saw them: a cell whose edit is based on that very source is not read again.
        """
        name = await self._name(path)
        lock = self._locks.setdefault(name, asyncio.Lock())
        changes = [_with_id(change) for change in changes]
        async with lock:  # so that changes are in the file in the order in which they were made
            now = await self._touched(name, changes, seen or {})
            max_chars = self._max_chars(author)
            expected = expected_effects(changes, now, max_chars)
            begun = await self._begin(author, name, expected)
            try:
                applied = await self._notebooks.apply(name, changes)
            except NotebookError as error:
                if error.code not in _UNSURE:
                    await self._end(author, ChangeRefused(path=name, id=begun.id))
                raise
            effects = tuple(
                with_seen(effect_of(change, done, seen.above, max_chars), seen)
                for change, done, seen in zip(changes, applied, expected, strict=True)
            )
            name = await self._name(name)
            await self._end(author, Done(path=name, id=begun.id, effects=effects))
        self._changed(name, author)
        return applied

    async def create(self, author: Author, path: str, cells: Sequence[NbCell], kernel_name: str | None) -> NotebookView:
        """Like `Notebooks.create`. Raises: also StorageError."""
        name = self._canonical(path)
        cells = [cell if cell.get("id") else {**cell, "id": _new_id()} for cell in cells]
        effects = expected_effects([InsertCell(cell) for cell in cells], NotebookCells(name, (), ()), 0)
        begun = await self._begin(author, name, effects, creates=True)
        try:
            view = await self._notebooks.create(name, cells, kernel_name)
        except NotebookError:
            await self._end(author, ChangeRefused(path=name, id=begun.id))
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
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        """Like `Notebooks.run_cell`. The previous outputs are on disk before it runs. Raises: also StorageError.

        `seen` is the cell as the author last saw it: if it had no outputs, it is not read again.
        """
        name = await self._name(path)
        cell = seen
        is_read = cell is None or bool(cell.outputs)
        if is_read:  # the outputs that were seen may be shortened
            cell = next(iter((await self._notebooks.read_cells(name, [cell_id], [cell_id])).cells), None)
        if cell is None:
            return await self._notebooks.run_cell(name, cell_id, progress, base_hash=base_hash, began=began)
        max_chars = self._max_chars(author)
        known = shown_part(nb_cell(cell), max_chars)
        # A stopped run has only this, so it must contain the cell's outputs in full.
        expected = Effect(cell_id=cell_id, kind="run", before=known[0], outputs_left_out=known[1])
        begun = await self._begin(author, name, (expected,))
        has_begun = False

        def note_beginning() -> None:
            nonlocal has_begun
            has_begun = True
            began()

        try:
            run = await self._notebooks.run_cell(name, cell_id, progress, base_hash=base_hash, began=note_beginning)
        except (NotebookError, asyncio.CancelledError) as error:
            if not has_begun:
                await self._end(author, ChangeRefused(path=name, id=begun.id))
            elif not (isinstance(error, NotebookError) and error.code in _UNOBSERVED):
                await self._cut_off(author, begun)
            raise
        if not run.is_shown:
            await self._end(author, ChangeRefused(path=name, id=begun.id))
            return run
        left_out = run.outputs_left_out
        before, too_large = known if left_out and is_read else shown_part(run.before or nb_cell(cell), max_chars)
        effect = Effect(
            cell_id=cell_id,
            kind="run",
            before=before,
            after=left_shown(run.outputs, run.execution_count),
            outputs_left_out=too_large or (left_out and not is_read),
        )
        name = await self._name(name)  # a cell may run for hours
        await self._end(author, Done(path=name, id=begun.id, effects=(effect,)))
        self._changed(name, author)
        return run

    async def removing(self, author: Author, view: NotebookView) -> Removed:
        """Records the contents of a notebook that is about to be removed. Raises: StorageError."""
        removed = Removed(
            path=view.path,
            id=self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            revert_id=author.revert_id or "",
            cells=tuple(map(nb_cell, view.cells)),
            kernel_name=view.kernel_name,
        )
        await self._store.append(author.agent_id, author.session_key, removed)
        return removed

    async def not_removed(self, author: Author, removed: Removed) -> None:
        """The notebook was not removed after all."""
        await self._end(author, ChangeRefused(path=removed.path, id=removed.id))

    async def _cut_off(self, author: Author, begun: ChangeStarted) -> None:
        """Takes what the cell shows once it has ended as the run's result; unobserved, the result stays unknown."""
        (effect,) = begun.effects
        name = await self._name(begun.path)
        try:
            async with asyncio.timeout(_POLL_S):
                while True:
                    cells = (await self._notebooks.read_cells(name, [effect.cell_id], [effect.cell_id])).cells
                    if not any(cell.is_running for cell in cells):
                        break
                    await asyncio.sleep(_POLL_INTERVAL_S)
        except (NotebookError, TimeoutError) as error:
            log.info("The final state of a cell of %s is unknown: %s", name, error)
            return
        ended = [effect.model_copy(update={"after": left_shown(cell.outputs, cell.execution_count)}) for cell in cells]
        if ended:
            await self._end(author, Done(path=name, id=begun.id, effects=tuple(ended)))
            self._changed(name, author)

    async def _touched(self, name: str, changes: Sequence[CellChange], seen: Mapping[str, Cell]) -> NotebookCells:
        """The cells before the change; without their order if no cell leaves its place."""
        edited = [seen[change.cell_id] for change in changes if _is_edit_of(change, seen)]
        if all(isinstance(change, InsertCell) or _is_edit_of(change, seen) for change in changes):
            return NotebookCells(name, (), tuple(edited))
        in_full = [id_of(change) for change in changes if isinstance(change, DeleteCell | RestoreCell)]
        return await self._notebooks.read_cells(name, [id_of(change) for change in changes], in_full)

    async def _name(self, path: str) -> str:
        name = self._canonical(path)
        return await self._path_now(name) if self._path_now is not None else name

    async def _begin(
        self, author: Author, path: str, effects: tuple[Effect, ...], *, creates: bool = False
    ) -> ChangeStarted:
        begun = ChangeStarted(
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
        """The beginning is already on disk: if writing fails now, the change is still known, only less exactly."""
        try:
            await self._store.append(author.agent_id, author.session_key, line)
        except OnyxError as error:
            log.error("The outcome of a change to %s could not be recorded: %s", line.path, error)

    def _max_chars(self, author: Author) -> int:
        limits = self._limits()
        full = self._store.size(author.agent_id, author.session_key) > limits.file_bytes
        return 0 if full else limits.output_chars


class RecordedNotebooks:
    """`Notebooks` of one author: remembers what the author saw, and every change goes through the recorder."""

    def __init__(self, notebooks: Notebooks, recorder: ChangeRecorder, author: Author) -> None:
        self._notebooks = notebooks
        self._recorder = recorder
        self._author = author
        self._seen: dict[str, dict[str, Cell]] = {}

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        view = await self._notebooks.read(path, in_full)
        self._seen[path] = {cell.id: cell for cell in view.cells}
        return view

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        found = await self._notebooks.read_cells(path, ids, in_full, last=last)
        seen = self._seen.setdefault(path, {})
        for cell_id in ids:
            seen.pop(cell_id, None)
        seen.update({cell.id: cell for cell in found.cells})
        return found

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        return await self._recorder.apply(self._author, path, changes, self._seen.pop(path, {}))

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        return await self._recorder.create(self._author, path, cells, kernel_name)

    async def run_cell(
        self,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        *,
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        seen = self._seen.get(path, {}).pop(cell_id, None)  # only once: after the run it shows something else
        return await self._recorder.run_cell(self._author, path, cell_id, progress, seen, base_hash, began)


def _new_id() -> str:
    return uuid4().hex[:12]


def _with_id(change: CellChange) -> CellChange:
    """Sets a new cell's id before it is inserted, so that it can be found even if the process is killed."""
    if isinstance(change, InsertCell) and not change.cell.get("id"):
        return replace(change, cell={**change.cell, "id": _new_id()})
    return change


def _is_edit_of(change: CellChange, seen: Mapping[str, Cell]) -> TypeGuard[EditCell]:
    """Whether the notebook refuses the change unless the cell still has the source that was seen."""
    cell = seen.get(change.cell_id) if isinstance(change, EditCell) else None
    return isinstance(change, EditCell) and cell is not None and change.base_hash == cell.hash
