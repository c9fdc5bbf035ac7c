"""A person's word about what turns changed: keep it, reject it, undo a turn, put it back. It tells nobody about it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import InvalidRequest, NotebookError, NotFound
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.lines import Decided, Verdict
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder
from onyx_jupyter.notebook.review.reverting import Reason, plan
from onyx_jupyter.notebook.review.reviewed_cells import (
    ReviewedCell,
    marks,
    pending_changes,
    revert_changes,
    run_changes,
    since_kept,
)
from onyx_jupyter.notebook.review.writes import Changes
from onyx_jupyter.protocols import NotebookView

_TRIES = 3
# The notebook was changed between reading and writing: look again.
_RACED = ("stale", "no_cell", "cell_exists")


@dataclass(frozen=True, slots=True)
class Left:
    """A cell, or a whole notebook (`cell_id` None), that a revert left alone; `message` where it was an error."""

    path: str
    cell_id: str | None
    reason: Reason | str
    message: str = ""


@dataclass
class Outcome:
    """What came of a revert. `cells` counts those that are as before; `removed` and `made` are whole notebooks.

    `removed_cells`: of each removed notebook that there was, every cell with the hash that it was taken away with.
    """

    revert_id: str
    cells: int = 0
    paths: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    removed_cells: dict[str, dict[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """One run's work in notebooks.

    `cells` carry or carried a mark, `ran` only ran, `pending` wait for a word, and `standing` are there to be undone.
    `paths` are notebooks with their number of `cells`; `revert_id` is set while the run is undone.
    """

    run_id: str
    cells: int
    ran: int
    pending: int
    standing: int
    paths: tuple[tuple[str, int], ...]
    created: tuple[str, ...]
    revert_id: str | None


class Reviewing:
    """Reads the files of changes and acts on notebooks as they stand now; what somebody changed since is never touched.

    `is_under_way` says of a run whether it still works, `remove` takes a notebook's file away (to the bin, if any).
    """

    def __init__(
        self,
        store: ChangeStore,
        recorder: ChangeRecorder,
        canonical: Callable[[str], str],
        remove: Callable[[str], Awaitable[None]],
        is_under_way: Callable[[str], bool],
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._store = store
        self._recorder = recorder
        self._canonical = canonical
        self._remove = remove
        self._is_under_way = is_under_way
        self._clock = clock
        self._ids = ids
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def marks(self, path: str) -> list[ReviewedCell]:
        """What waits for a person's word in one notebook. Raises: StorageError."""
        name = self._canonical(path)
        return marks(await self._store.of_notebook(name), name)

    async def turns(self, session_key: str) -> list[TurnChanges]:
        """What each run of the session changed, oldest first. Raises: StorageError."""
        changes = await self._store.of_session(session_key)
        return [_turn(changes, run_id) for run_id in changes.run_ids] if changes else []

    async def accept(self, path: str, cell_ids: Sequence[str] | None, by: str) -> int:
        """Marks are taken as they are: of these cells, or of all. How many. Raises: StorageError.

        With a mark goes what older runs did to the cell, or it would come up behind it.
        """
        wanted = await self._wanted(path, cell_ids)
        name = self._canonical(path)
        pending = pending_changes(await self._store.of_notebook(name), name)
        for item in wanted:
            await self._decide("accept", pending.get(item.cell_id, [item]), by, None)
        return len(wanted)

    async def reject(self, path: str, cell_ids: Sequence[str] | None, by: str) -> Outcome:
        """Marked cells, these or all, become as they were before.

        Raises: InvalidRequest, NotebookError, StorageError.
        """
        wanted = await self._wanted(path, cell_ids)
        outcome = Outcome(self._ids.new())
        if not wanted:
            return outcome
        for _, run_id in {run for item in wanted for run in item.runs}:
            self._refuse_under_way(run_id)
        session_key, run_id = wanted[-1].runs[-1]
        author = await self._author(session_key, run_id, outcome.revert_id)
        name = self._canonical(path)
        done = await self._revert(author, name, wanted, outcome, await self._rest(name, wanted))
        await self._decide("reject", done, by, outcome.revert_id)
        return outcome

    async def undo(self, session_key: str, run_id: str, by: str) -> Outcome:
        """All that the run did to notebooks is taken back. Raises: NotFound, InvalidRequest, StorageError."""
        lock = self._locks.setdefault(session_key, asyncio.Lock())
        async with lock:  # a second one finds what the first has decided
            return await self._undo(session_key, run_id, by)

    async def put_back(self, session_key: str, run_id: str, by: str) -> Outcome:
        """The newest undo of the run is taken back itself. Raises: NotFound, InvalidRequest, StorageError."""
        lock = self._locks.setdefault(session_key, asyncio.Lock())
        async with lock:
            return await self._put_back(session_key, run_id, by)

    async def reverts(self, session_key: str) -> Sequence[Decided]:
        """What people decided in this session other than to keep things, oldest first. Raises: StorageError."""
        changes = await self._store.of_session(session_key)
        return [line for line in changes.decisions if line.what != "accept"] if changes else []

    async def _undo(self, session_key: str, run_id: str, by: str) -> Outcome:
        changes = await self._changes(session_key, run_id)
        self._refuse_under_way(run_id)
        outcome = Outcome(self._ids.new())
        author = Author(changes.agent_id, session_key, run_id, revert_id=outcome.revert_id)
        made = {write.path for write in changes.of_run(run_id) if write.creates and write.is_certain}
        for path, items in _by_path(run_changes(changes, run_id), made).items():
            standing = [item for item in items if item.state in ("pending", "accepted")]
            done: Sequence[ReviewedCell] = ()
            try:
                if path in made and await self._taken_away(author, path, items, outcome):
                    outcome.removed.append(path)
                    done = standing
                    outcome.cells += len([item for item in standing if item.kinds])
                else:
                    rest = [item for item in items if item not in standing]
                    done = await self._revert(author, path, standing, outcome, rest)
            except NotebookError as error:
                outcome.left.append(Left(path, None, error.code, str(error)))
                continue
            if done or path in outcome.removed:
                await self._decide_path("undo", author, path, [item.cell_id for item in done], by)
        return outcome

    async def _put_back(self, session_key: str, run_id: str, by: str) -> Outcome:
        changes = await self._changes(session_key, run_id)
        undone = _turn(changes, run_id).revert_id
        if undone is None:
            raise InvalidRequest("This turn is not undone, so there is nothing to put back.", field="runId")
        outcome = Outcome(self._ids.new())
        author = Author(changes.agent_id, session_key, run_id, revert_id=outcome.revert_id)
        decided = {line.path: line.cells for line in changes.decisions if line.revert_id == undone}
        for removed in (line for line in changes.removed if line.revert_id == undone and line.path in decided):
            try:
                await self._recorder.create(author, removed.path, removed.cells, removed.kernel_name)
            except NotebookError as error:
                outcome.left.append(Left(removed.path, None, error.code, str(error)))
                continue
            outcome.made.append(removed.path)
            bare = (cell for cell in removed.cells if cell["cell_type"] == "code" and "outputs" not in cell)
            outcome.left.extend(Left(removed.path, str(cell["id"]), "outputs_not_kept") for cell in bare)
            outcome.cells += len(removed.cells)
        found = _by_path(revert_changes(changes, undone))
        for path in decided:
            if path not in outcome.made and path in found:
                try:
                    await self._revert(author, path, found[path], outcome)
                except NotebookError as error:
                    outcome.left.append(Left(path, None, error.code, str(error)))
                    continue
            if all(left.path != path or left.cell_id is not None for left in outcome.left):
                stays = (left for left in outcome.left if left.path == path and left.reason != "outputs_not_kept")
                kept = {left.cell_id for left in stays}
                cells = [cell_id for cell_id in decided[path] if cell_id not in kept]
                await self._decide_path("put_back", author, path, cells, by, undone)
        return outcome

    async def _wanted(self, path: str, cell_ids: Sequence[str] | None) -> list[ReviewedCell]:
        found = await self.marks(path)
        return found if cell_ids is None else [item for item in found if item.cell_id in cell_ids]

    async def _changes(self, session_key: str, run_id: str) -> Changes:
        changes = await self._store.of_session(session_key)
        if changes is None or run_id not in changes.run_ids:
            raise NotFound("Nothing is known of what this turn changed in notebooks. It may be too long ago.")
        return changes

    def _refuse_under_way(self, run_id: str) -> None:
        if self._is_under_way(run_id):
            raise InvalidRequest("Onyx still works on this turn. Stop it, or wait for its end.", field="runId")

    async def _author(self, session_key: str, run_id: str, revert_id: str) -> Author:
        changes = await self._changes(session_key, run_id)
        return Author(changes.agent_id, session_key, run_id, revert_id=revert_id)

    async def _revert(
        self,
        author: Author,
        path: str,
        items: Sequence[ReviewedCell],
        outcome: Outcome,
        rest: Sequence[ReviewedCell] = (),
    ) -> list[ReviewedCell]:
        """Those that are as before now. A change of somebody else in between is looked at, never written over."""
        notebooks = self._recorder.notebooks_for(author)
        later = await self._later(path, items)
        shown = [item.cell_id for item in items if item.touched_outputs and item.exists]
        for tries_left in reversed(range(_TRIES)):
            view = await notebooks.read(path, shown)
            planned = plan(view, items, later.__contains__, rest)
            try:
                if planned.changes:
                    await self._recorder.apply(author, path, planned.changes)
                break
            except NotebookError as error:
                if error.code not in _RACED or not tries_left:
                    raise
        outcome.left.extend(Left(path, left.cell_id, left.reason) for left in planned.left)
        outcome.paths.append(path)
        done = [item for item in items if item.cell_id in planned.done]
        outcome.cells += len([item for item in done if item.kinds])
        return done

    async def _taken_away(self, author: Author, path: str, items: Sequence[ReviewedCell], outcome: Outcome) -> bool:
        """Removes a notebook that holds only what the run put there; False where somebody has done more in it."""
        notebooks = self._recorder.notebooks_for(author)
        try:
            view = await notebooks.read(path)
            if not _is_as_made(view, items):
                return False
            view = await notebooks.read(path, [cell.id for cell in view.cells])
            if not _is_as_made(view, items):  # somebody has typed meanwhile
                return False
        except NotebookError as error:
            if error.code == "not_found":
                return True
            raise
        await self._recorder.removing(author, view)
        await self._remove(path)
        outcome.removed_cells[path] = {cell.id: cell.hash for cell in view.cells}
        return True

    async def _rest(self, path: str, items: Sequence[ReviewedCell]) -> list[ReviewedCell]:
        """What else the same runs did there, be it taken back already or not."""
        own = {item.cell_id for item in items}
        found: list[ReviewedCell] = []
        for session_key, run_id in dict.fromkeys(run for item in items for run in item.runs):
            changes = await self._store.of_session(session_key)
            found.extend(run_changes(changes, run_id) if changes else ())
        rest = [item for item in found if item.path == path and item.cell_id not in own]
        return [since_kept(item) if item.state == "pending" else item for item in rest]

    async def _later(self, path: str, items: Sequence[ReviewedCell]) -> set[str]:
        """The cells that another run changed after these changes."""
        last = {item.cell_id: item.effects[-1][0] for item in items}
        own = {run_id for item in items for _, run_id in item.runs}
        return {
            effect.cell_id
            for changes in await self._store.of_notebook(path)
            for write in changes.writes
            if write.path == path and write.revert_id is None and write.run_id not in own
            for effect in write.effects
            if write.id > last.get(effect.cell_id, write.id)
        }

    async def _decide(self, what: Verdict, items: Sequence[ReviewedCell], by: str, revert_id: str | None) -> None:
        of_runs: dict[tuple[str, str, str], list[str]] = {}
        for item in items:
            for session_key, run_id in item.runs:
                of_runs.setdefault((session_key, run_id, item.path), []).append(item.cell_id)
        for (session_key, run_id, path), cells in of_runs.items():
            author = await self._author(session_key, run_id, revert_id or "")
            await self._decide_path(what, author, path, cells, by)

    async def _decide_path(
        self, what: Verdict, author: Author, path: str, cells: Iterable[str], by: str, revert_id: str | None = None
    ) -> None:
        decided = Decided(
            path=path,
            id=self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            what=what,
            by=by,
            cells=tuple(cells),
            revert_id=revert_id or author.revert_id or None,
        )
        await self._store.append(author.agent_id, author.session_key, decided)


def _turn(changes: Changes, run_id: str) -> TurnChanges:
    items = run_changes(changes, run_id)
    seen = [item for item in items if item.is_seen]
    created = tuple(dict.fromkeys(write.path for write in changes.of_run(run_id) if write.creates and write.is_certain))
    paths = dict.fromkeys((*created, *(item.path for item in items if item.kinds)), 0)
    for item in seen:
        paths[item.path] += 1
    decided = [line for line in changes.decisions if line.run_id == run_id and line.what in ("undo", "put_back")]
    return TurnChanges(
        run_id,
        cells=len(seen),
        ran=len([item for item in items if item.kinds == ("ran",)]),
        pending=len([item for item in seen if item.state == "pending"]),
        standing=len([item for item in items if item.kinds and item.state in ("pending", "accepted")]),
        paths=tuple(paths.items()),
        created=created,
        revert_id=decided[-1].revert_id if decided and decided[-1].what == "undo" else None,
    )


def _by_path(items: Iterable[ReviewedCell], more: Iterable[str] = ()) -> dict[str, list[ReviewedCell]]:
    found: dict[str, list[ReviewedCell]] = {path: [] for path in more}
    for item in items:
        found.setdefault(item.path, []).append(item)
    return found


def _is_as_made(view: NotebookView, items: Sequence[ReviewedCell]) -> bool:
    made = {item.cell_id: item.after for item in items if not item.existed}
    blank = [cell for cell in view.cells if cell.id not in made and not cell.source.strip() and not cell.outputs]
    rest = [cell for cell in view.cells if cell not in blank]
    return all((kept := made.get(cell.id)) is not None and kept.get("source") == cell.source for cell in rest)
