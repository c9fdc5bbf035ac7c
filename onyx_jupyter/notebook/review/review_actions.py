"""Carries out a user's decision about what turns changed: keep, reject, undo a turn, put it back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import InvalidRequest, NotebookError, NotFound
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.lines import Removed, Reverting, UserDecision, Verdict
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder
from onyx_jupyter.notebook.review.reviewed_cells import (
    ReviewedCell,
    marks,
    others,
    pending_changes,
    revert_changes,
    run_changes,
    unmarked_moves,
)
from onyx_jupyter.notebook.review.turns import TurnChanges, turn_changes
from onyx_jupyter.notebook.review.undo_plan import Reason, is_notebook_unchanged, is_unchanged, plan
from onyx_jupyter.notebook.review.writes import Changes

_TRIES = 3
# The notebook was changed between reading and writing: read it again.
_RACED = ("stale", "no_cell", "cell_exists", "running")


@dataclass(frozen=True, slots=True)
class Skipped:
    """A cell, or a whole notebook (`cell_id` None), that a revert left alone; `message` if because of an error."""

    path: str
    cell_id: str | None
    reason: Reason | str
    message: str = ""


@dataclass
class Outcome:
    """The result of a revert. `cells` counts the restored cells; `removed` and `made` are whole notebooks.

    `removed_cells`: for each removed notebook that existed, every cell with its hash at removal.
    """

    revert_id: str
    cells: int = 0
    paths: list[str] = field(default_factory=list)
    left: list[Skipped] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    removed_cells: dict[str, dict[str, str]] = field(default_factory=dict)


class Reviewing:
    """Reads the files of changes and acts on current notebooks; never touches what was changed by others since.

    `is_under_way` says whether a run is still active, `remove` deletes a notebook's file (into the trash, if there is
    one).
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
        """The changes in one notebook that wait for a user's decision. Raises: StorageError."""
        name = self._canonical(path)
        return marks(await self._store.of_notebook(name), name)

    async def turns(self, session_key: str) -> list[TurnChanges]:
        """What each run of the session changed, oldest first. Raises: StorageError."""
        changes = await self._store.of_session(session_key)
        return [turn_changes(changes, run_id) for run_id in changes.run_ids] if changes else []

    async def accept(
        self, path: str, cell_ids: Sequence[str] | None, by: str, shown: Mapping[str, str] | None = None
    ) -> int:
        """Accepts the marks of these cells, or all; returns how many. Raises: StorageError.

        Accepting a mark also accepts older runs' changes to the cell, or they would reappear. `shown` is what the user
        saw: marked cells with the hash of the text that a run had left, "" for none. Cells that differ by now keep
        their marks.
        """
        said = self._ids.new()  # before reading: what is changed from here on waits for another decision
        wanted = await self._wanted(path, cell_ids, shown)
        name = self._canonical(path)
        pending = pending_changes(await self._store.of_notebook(name), name)
        for item in wanted:
            await self._decide("accept", pending.get(item.cell_id, [item]), by, None, said)
        return len(wanted)

    async def reject(
        self, path: str, cell_ids: Sequence[str] | None, by: str, shown: Mapping[str, str] | None = None
    ) -> Outcome:
        """Restores marked cells, these or all; `shown` is as in `accept`.

        Raises: InvalidRequest, NotebookError, StorageError.
        """
        sessions = sorted({session for item in await self._wanted(path, cell_ids, shown) for session, _ in item.runs})
        async with AsyncExitStack() as stack:
            for session_key in sessions:
                await stack.enter_async_context(self._lock(session_key))
            wanted = await self._wanted(path, cell_ids, shown)
            return await self._reject(path, wanted, by, are_pointed_at=cell_ids is not None)

    async def undo(self, session_key: str, run_id: str, by: str) -> Outcome:
        """Reverts everything that the run did to notebooks. Raises: NotFound, InvalidRequest, StorageError."""
        async with self._lock(session_key):  # a second undo finds the first one's decisions
            return await self._undo(session_key, run_id, by)

    async def put_back(self, session_key: str, run_id: str, by: str) -> Outcome:
        """Reverts the run's undos since it was last put back.

        Raises: NotFound, InvalidRequest, StorageError.
        """
        async with self._lock(session_key):
            return await self._restore_run(session_key, run_id, by)

    async def reverts(self, session_key: str) -> Sequence[UserDecision]:
        """All decisions in this session other than accepting, oldest first. Raises: StorageError."""
        changes = await self._store.of_session(session_key)
        return [line for line in changes.decisions if line.what != "accept"] if changes else []

    async def _reject(self, path: str, wanted: Sequence[ReviewedCell], by: str, *, are_pointed_at: bool) -> Outcome:
        outcome = Outcome(self._ids.new())
        if not wanted:
            return outcome
        for _, run_id in {run for item in wanted for run in item.runs}:
            self._refuse_under_way(run_id)
        session_key, run_id = wanted[-1].runs[-1]
        author = await self._author(session_key, run_id, outcome.revert_id)
        name = self._canonical(path)
        along = unmarked_moves(await self._store.of_notebook(name), name, wanted)
        rest = await self._rest(name, [*wanted, *along])
        done = await self._revert(author, name, wanted, outcome, rest, along, are_pointed_at=are_pointed_at)
        await self._decide("reject", done, by, outcome.revert_id)
        return outcome

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
                if path in made and await self._remove_created(author, path, items, outcome):
                    outcome.removed.append(path)
                    done = standing
                    outcome.cells += len([item for item in standing if item.kinds])
                else:
                    rest = await self._rest(path, standing)
                    done = await self._revert(author, path, standing, outcome, rest, undone_by=by)
            except NotebookError as error:
                outcome.left.append(Skipped(path, None, error.code, str(error)))
                continue
            if done or path in outcome.removed:
                await self._decide_path("undo", author, path, [item.cell_id for item in done], by)
        return outcome

    async def _restore_run(self, session_key: str, run_id: str, by: str) -> Outcome:
        changes = await self._changes(session_key, run_id)
        undos = changes.undos(run_id)
        if not undos:
            raise InvalidRequest("This turn has not been undone, so there is nothing to redo.", field="runId")
        outcome = Outcome(self._ids.new())
        author = Author(changes.agent_id, session_key, run_id, revert_id=outcome.revert_id)
        for path, reverts in undos.items():
            try:
                await self._restore_in(author, path, changes, reverts, outcome)
            except NotebookError as error:
                outcome.left.append(Skipped(path, None, error.code, str(error)))
                continue
            stays = {left.cell_id for left in outcome.left if left.path == path and left.reason != "outputs_not_kept"}
            # There are no decided undos only if each one was cut off.
            for revert_id, cells in (_undone(changes, path, reverts) or {reverts[-1]: ()}).items():
                back = [cell_id for cell_id in cells if cell_id not in stays]
                await self._decide_path("put_back", author, path, back, by, revert_id)
        return outcome

    async def _restore_in(
        self, author: Author, path: str, changes: Changes, reverts: Sequence[str], outcome: Outcome
    ) -> None:
        removed = [line for line in changes.removed if line.path == path and line.revert_id in reverts]
        if removed:
            await self._recreate(author, removed[-1], outcome)
        found = revert_changes(changes, reverts, path)
        if found:
            await self._revert(author, path, found, outcome)
        known = {item.cell_id for item in found} | {str(cell["id"]) for line in removed for cell in line.cells}
        cells = {cell_id for cells in _undone(changes, path, reverts).values() for cell_id in cells} - known
        items = [item for item in run_changes(changes, author.run_id) if item.path == path and item.cell_id in cells]
        if any(item.kinds for item in items):  # the undo found them already as before
            view = await self._recorder.notebooks_for(author).read(path)
            now = {cell.id: cell for cell in view.cells}
            missing = [item.cell_id for item in items if item.kinds and not is_unchanged(item, now.get(item.cell_id))]
            outcome.left.extend(Skipped(path, cell_id, "not_found") for cell_id in missing)

    async def _recreate(self, author: Author, removed: Removed, outcome: Outcome) -> None:
        removed = await self._store.whole(removed)
        try:
            await self._recorder.create(author, removed.path, removed.cells, removed.kernel_name)
        except NotebookError as error:
            if error.code != "exists":
                raise
            view = await self._recorder.notebooks_for(author).read(removed.path)
            if not {cell["id"] for cell in removed.cells} <= {cell.id for cell in view.cells}:
                raise  # another notebook has its name
            return  # the server stopped before it was removed, or after it was created again
        outcome.made.append(removed.path)
        bare = (cell for cell in removed.cells if cell["cell_type"] == "code" and "outputs" not in cell)
        outcome.left.extend(Skipped(removed.path, str(cell["id"]), "outputs_not_kept") for cell in bare)
        outcome.cells += len(removed.cells)

    def _lock(self, session_key: str) -> asyncio.Lock:
        return self._locks.setdefault(session_key, asyncio.Lock())

    async def _wanted(
        self, path: str, cell_ids: Sequence[str] | None, shown: Mapping[str, str] | None
    ) -> list[ReviewedCell]:
        found = await self.marks(path)
        chosen = found if cell_ids is None else [item for item in found if item.cell_id in cell_ids]
        return chosen if shown is None else [item for item in chosen if shown.get(item.cell_id) == _text_hash(item)]

    async def _changes(self, session_key: str, run_id: str) -> Changes:
        changes = await self._store.of_session(session_key)
        if changes is None or run_id not in changes.run_ids:
            raise NotFound("There is no record of what this turn changed in notebooks. It may be too old.")
        return changes

    def _refuse_under_way(self, run_id: str) -> None:
        if self._is_under_way(run_id):
            raise InvalidRequest("Onyx is still working on this turn. Stop it, or wait until it ends.", field="runId")

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
        along: Sequence[ReviewedCell] = (),
        *,
        undone_by: str | None = None,
        are_pointed_at: bool = False,
    ) -> list[ReviewedCell]:
        """Returns the restored cells. Never overwrites a concurrent change: it reads the notebook again."""
        notebooks = self._recorder.notebooks_for(author)
        items = await self._store.filled(items)
        later = await self._later(path, items)
        shown = [item.cell_id for item in items if item.touched_outputs and item.exists]
        for tries_left in reversed(range(_TRIES)):
            view = await notebooks.read(path, shown)
            planned = plan(view, items, later.__contains__, rest, along, are_pointed_at=are_pointed_at)
            try:
                if planned.changes:
                    if undone_by is not None:
                        await self._write_intent(author, path, planned.done, undone_by)
                    await self._recorder.apply(author, path, planned.changes)
                break
            except NotebookError as error:
                if error.code not in _RACED or not tries_left:
                    raise
        outcome.left.extend(Skipped(path, left.cell_id, left.reason) for left in planned.left)
        outcome.paths.append(path)
        done = [item for item in items if item.cell_id in planned.done]
        outcome.cells += len([item for item in done if item.kinds])
        return done

    async def _write_intent(self, author: Author, path: str, cells: Iterable[str], by: str) -> None:
        """Lets an interrupted undo be put back, and count if the notebook has answered."""
        intent = Reverting(
            path=path,
            id=self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            by=by,
            cells=tuple(cells),
            revert_id=author.revert_id or "",
        )
        await self._store.append(author.agent_id, author.session_key, intent)

    async def _remove_created(self, author: Author, path: str, items: Sequence[ReviewedCell], outcome: Outcome) -> bool:
        """Removes a notebook that holds only what the run put there; False if anything was added to it."""
        notebooks = self._recorder.notebooks_for(author)
        try:
            for _ in range(2):  # the user may type meanwhile
                view = await notebooks.read(path, [item.cell_id for item in items])
                if not is_notebook_unchanged(view, items):
                    return False
        except NotebookError as error:
            if error.code == "not_found":
                return True
            raise
        removed = await self._recorder.removing(author, view)
        try:
            await self._remove(path)
        except NotebookError:
            await self._recorder.not_removed(author, removed)
            raise
        outcome.removed_cells[path] = {cell.id: cell.hash for cell in view.cells}
        return True

    async def _rest(self, path: str, items: Sequence[ReviewedCell]) -> list[ReviewedCell]:
        """Other changes of runs in that notebook that tell where these cells were."""
        return others(await self._store.of_notebook(path), path, items)

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

    async def _decide(
        self, what: Verdict, items: Sequence[ReviewedCell], by: str, revert_id: str | None, said: str | None = None
    ) -> None:
        of_runs: dict[tuple[str, str, str], list[str]] = {}
        for item in items:
            for session_key, run_id in item.runs:
                of_runs.setdefault((session_key, run_id, item.path), []).append(item.cell_id)
        for (session_key, run_id, path), cells in of_runs.items():
            author = await self._author(session_key, run_id, revert_id or "")
            await self._decide_path(what, author, path, cells, by, said=said)

    async def _decide_path(
        self,
        what: Verdict,
        author: Author,
        path: str,
        cells: Iterable[str],
        by: str,
        revert_id: str | None = None,
        said: str | None = None,
    ) -> None:
        decided = UserDecision(
            path=path,
            id=said or self._ids.new(),
            ts=timestamp(self._clock.now()),
            run_id=author.run_id,
            what=what,
            by=by,
            cells=tuple(cells),
            revert_id=revert_id or author.revert_id or None,
        )
        await self._store.append(author.agent_id, author.session_key, decided)


def _by_path(items: Iterable[ReviewedCell], more: Iterable[str] = ()) -> dict[str, list[ReviewedCell]]:
    found: dict[str, list[ReviewedCell]] = {path: [] for path in more}
    for item in items:
        found.setdefault(item.path, []).append(item)
    return found


def _text_hash(item: ReviewedCell) -> str:
    """The hash of the text that the runs left; "" if they left none."""
    after = item.after or {}
    return cell_hash(after["source"]) if "source" in after else ""


def _undone(changes: Changes, path: str, reverts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The cells of each of these undos that was completed."""
    lines = [line for line in changes.decisions if line.what == "undo" and line.path == path]
    return {line.revert_id: line.cells for line in lines if line.revert_id in reverts and line.revert_id}
