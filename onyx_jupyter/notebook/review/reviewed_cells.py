"""The total effect of writes, cell by cell: its state before and after, and the user's decision. It does no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from onyx_jupyter.notebook.review.lines import Effect, LineReference, UserDecision, Verdict
from onyx_jupyter.notebook.review.writes import Changes, Write

CellKind = Literal["added", "edited", "deleted", "moved", "ran"]
State = Literal["pending", "accepted", "rejected", "undone"]
_STATES: Mapping[Verdict, State] = {"accept": "accepted", "reject": "rejected", "undo": "undone", "put_back": "pending"}
_SHOWN = ("outputs", "execution_count", "attachments")
_OUTPUT_KINDS = ("delete", "restore", "run")


@dataclass(frozen=True, slots=True)
class ReviewedCell:
    """Everything that the writes of one run, or of several consecutive runs, did to one cell of one notebook.

    `effects` are in chronological order, each with a sort key that begins with the write's id. `runs` are (session,
    run). `kept_at`: when a user kept it, if the run has changed it again since.
    """

    path: str
    cell_id: str
    effects: tuple[tuple[str, Effect], ...]
    runs: tuple[tuple[str, str], ...]
    state: State = "pending"
    is_certain: bool = True
    kept_at: str = ""

    @property
    def existed(self) -> bool:
        return self._all[0].kind != "insert"

    @property
    def exists(self) -> bool:
        last = [effect.kind for effect in self._all if effect.kind in ("insert", "delete")]
        return not last or last[-1] == "insert"

    @property
    def before(self) -> Mapping[str, Any] | None:
        """The cell as it was: source, type, metadata, and its outputs if they may have been touched."""
        if not self.existed:
            return None
        found = next((effect.before for effect in self._all if effect.before and "source" in effect.before), {})
        at = self._first_shown
        outputs = (self._all[at].before if at is not None else None) or {}
        return {**found, **{name: value for name, value in outputs.items() if name in _SHOWN}}

    @property
    def after(self) -> Mapping[str, Any] | None:
        """The cell as it was left, without outputs; None if it is gone or its text was not touched."""
        if not self.exists:
            return None
        return next((e.after for e in reversed(self._all) if e.after and "source" in e.after), None)

    @property
    def is_edited(self) -> bool:
        before, after = self.before, self.after
        return bool(before and after and "source" in before and _text(before) != _text(after))

    @property
    def is_moved(self) -> bool:
        """Whether its place has changed; a cell moved there and back counts as not moved."""
        moves = self.moves
        return bool(moves) and moves[-1].place != next(iter(moves[0].above or ()), None)

    @property
    def moves(self) -> Sequence[Effect]:
        """Its effects that moved it, at least for a while."""
        return [effect for effect in self._all if effect.kind == "move"]

    @property
    def ran(self) -> bool:
        return any(effect.kind == "run" for effect in self._all)

    @property
    def touched_outputs(self) -> bool:
        """Whether the cell may show something else than before."""
        return bool(self._shown)

    @property
    def left_count(self) -> int | None:
        """The execution count that it was left with, if its outputs were touched."""
        return (self._shown[-1] or {}).get("execution_count") if self._shown else None

    @property
    def left_digest(self) -> str | None:
        """`shown_digest` of the outputs that it was left with; None if unknown."""
        return (self._shown[-1] or {}).get("digest") if self._shown else None

    @property
    def left_size(self) -> Sequence[int] | None:
        """`shown_size` of those outputs; None if unknown."""
        return (self._shown[-1] or {}).get("size") if self._shown else None

    @property
    def end_is_known(self) -> bool:
        """Whether it was reported what the cell's last run left."""
        return not self._shown or self._shown[-1] is not None

    @property
    def outputs_left_out(self) -> bool:
        """Whether the previous outputs were too large to be kept."""
        touching = (effect for effect in self._all if effect.kind in _OUTPUT_KINDS)
        return next((effect.outputs_left_out for effect in touching), False)

    @property
    def above(self) -> tuple[str, ...] | None:
        """The ids above its original place, nearest first; None if it was neither moved nor deleted."""
        return next((effect.above for effect in self._all if effect.above is not None), None)

    @property
    def kinds(self) -> tuple[CellKind, ...]:
        """Empty if there is no change overall."""
        if not self.existed:
            return ("added",) if self.exists else ()
        if not self.exists:
            return ("deleted",)
        found = (("edited", self.is_edited), ("moved", self.is_moved), ("ran", self.ran))
        return tuple(kind for kind, holds in found if holds)  # type: ignore[misc]

    @property
    def is_seen(self) -> bool:
        """Whether it is marked: a cell that only ran is not."""
        return any(kind != "ran" for kind in self.kinds)

    @property
    def kept(self) -> LineReference | None:
        """Where the previous outputs can be read, unless they are in memory or there were none."""
        at = self._first_shown
        return self.effects[at][1].kept if at is not None else None

    def filled(self, effects: Sequence[Effect]) -> ReviewedCell:
        """Adds the previous outputs from the effect of that number; marks them as left out if it is missing."""
        at = self._first_shown
        if at is None or self.kept is None:
            return self
        key, own = self.effects[at]
        found = effects[self.kept.number] if self.kept.number < len(effects) else None
        if found is not None and found.cell_id == self.cell_id:
            whole = own.model_copy(update={"before": found.before, "kept": None})
        else:
            whole = own.model_copy(update={"outputs_left_out": True, "kept": None})
        return replace(self, effects=(*self.effects[:at], (key, whole), *self.effects[at + 1 :]))

    @property
    def _first_shown(self) -> int | None:
        """The effect that recorded what the cell showed before."""
        found = (at for at, e in enumerate(self._all) if e.before and e.kind in _OUTPUT_KINDS)
        return next(found, None)

    @property
    def _shown(self) -> list[Mapping[str, Any] | None]:
        known = [effect for effect in self._all if effect.kind != "insert" or "digest" in (effect.after or {})]
        return [effect.after for effect in known if effect.kind in ("insert", "run", "restore")]

    @property
    def _all(self) -> list[Effect]:
        return [effect for _, effect in self.effects]


def run_changes(changes: Changes, run_id: str) -> list[ReviewedCell]:
    """What the run did, one entry per cell that it touched, including cells that did not change overall."""
    decided = _decided(changes, run_id)
    runs = ((changes.session_key, run_id),)
    return [
        _judged(_reviewed(path, cell_id, parts, runs), decided.get((path, cell_id), ()))
        for (path, cell_id), parts in _by_cell(changes.of_run(run_id)).items()
    ]


def revert_changes(changes: Changes, revert_ids: Collection[str], path: str) -> list[ReviewedCell]:
    """What these reverts did in one notebook, in the same form as a run's changes."""
    writes = changes.of_reverts(revert_ids, path)
    return [
        _reviewed(path, cell_id, parts, ((changes.session_key, writes[0].run_id),))
        for (_, cell_id), parts in _by_cell(writes).items()
    ]


def marks(sessions: Iterable[Changes], path: str) -> list[ReviewedCell]:
    """The changes in one notebook that wait for a user's decision, one entry per cell, from any run.

    Changes of several runs to a cell are combined if each began with what the previous one had left. If something else
    was done in between, only the later ones are shown: the earlier ones cannot be reverted by themselves.
    """
    found = _all_joined(sessions, path)
    return sorted((change for change in found if change.is_seen), key=lambda change: change.effects[0][0])


def unmarked_moves(sessions: Iterable[Changes], path: str, beside: Sequence[ReviewedCell]) -> list[ReviewedCell]:
    """Unmarked cells that runs moved, with a neighbour or there and back, if these marks affect the order of cells.

    They wait as long as another moved cell is marked, since that may be the neighbour.
    """
    runs = {run for item in beside if item.moves or not (item.existed and item.exists) for run in item.runs}
    judged = {item.cell_id for item in beside}
    moved = [item for item in _all_joined(sessions, path) if item.moves]
    waiting = {run for item in moved if item.is_seen and item.cell_id not in judged for run in item.runs}
    return [
        item
        for item in moved
        if not item.is_seen and item.exists and not runs.isdisjoint(item.runs) and waiting.isdisjoint(item.runs)
    ]


def pending_changes(sessions: Iterable[Changes], path: str) -> dict[str, list[ReviewedCell]]:
    """By cell of one notebook, the undecided changes of each run, including those without a mark."""
    pending: dict[str, list[ReviewedCell]] = {}
    for changes in sessions:
        for run_id in changes.run_ids:
            for change in run_changes(changes, run_id):
                if change.path == path and change.state == "pending":
                    pending.setdefault(change.cell_id, []).append(since_kept(change))
    return pending


def others(sessions: Iterable[Changes], path: str, items: Sequence[ReviewedCell]) -> list[ReviewedCell]:
    """What runs did to other cells of a notebook, if it helps to determine the original places of these cells.

    Changes of earlier runs belong to the original state, as long as none of them has been reverted.
    """
    own_cells = {item.cell_id for item in items}
    own_runs = {run for item in items for run in item.runs}
    began_at = min((item.effects[0][0] for item in items), default="")
    earlier: list[ReviewedCell] = []
    found: list[ReviewedCell] = []
    for changes in sessions:
        for run_id in changes.run_ids:
            for item in run_changes(changes, run_id):
                if item.path == path and item.cell_id not in own_cells:
                    item = since_kept(item) if item.state == "pending" else item
                    is_earlier = item.effects[0][0] < began_at and own_runs.isdisjoint(item.runs)
                    (earlier if is_earlier else found).append(item)
    if any(item.state in ("rejected", "undone") for item in earlier):
        found.extend(earlier)
    return found


def since_kept(change: ReviewedCell) -> ReviewedCell:
    """Only the effects since the user last kept the cell."""
    return replace(change, effects=tuple(part for part in change.effects if part[0] > change.kept_at))


def _all_joined(sessions: Iterable[Changes], path: str) -> list[ReviewedCell]:
    by_cell = pending_changes(sessions, path).values()
    return [_joined(sorted(several, key=lambda change: change.effects[0][0])) for several in by_cell]


def _joined(several: Sequence[ReviewedCell]) -> ReviewedCell:
    chain = several[-1]
    for earlier in reversed(several[:-1]):
        if not _follows(chain, earlier):
            break
        chain = ReviewedCell(
            chain.path,
            chain.cell_id,
            tuple(sorted((*earlier.effects, *chain.effects), key=lambda part: part[0])),
            (*earlier.runs, *chain.runs),
            is_certain=earlier.is_certain and chain.is_certain,
        )
    return chain


def _follows(later: ReviewedCell, earlier: ReviewedCell) -> bool:
    if later.existed != earlier.exists:
        return False
    left, found = earlier.after, later.before
    return not left or not found or "source" not in found or _text(left) == _text(found)


def _reviewed(
    path: str,
    cell_id: str,
    parts: Sequence[tuple[Write, int, Effect]],
    runs: tuple[tuple[str, str], ...],
) -> ReviewedCell:
    effects = tuple((f"{write.id}.{number:06}", effect) for write, number, effect in parts)
    return ReviewedCell(path, cell_id, effects, runs, is_certain=all(write.is_certain for write, _, _ in parts))


def _judged(change: ReviewedCell, decisions: Sequence[UserDecision]) -> ReviewedCell:
    """A decision applies to the state when it was made: later effects of the run wait for another one."""
    if not decisions:
        return change
    last = decisions[-1]
    if last.what == "accept" and last.id < change.effects[-1][0]:
        return replace(change, kept_at=last.id)
    kept_at = next((word.id for word in reversed(decisions) if word.what == "accept"), "")
    kept = tuple(part for part in change.effects if part[0] <= kept_at)
    if last.what == "reject" and kept:
        return replace(change, effects=kept, state="accepted")
    return replace(change, state=_STATES[last.what])


def _by_cell(writes: Iterable[Write]) -> dict[tuple[str, str], list[tuple[Write, int, Effect]]]:
    found: dict[tuple[str, str], list[tuple[Write, int, Effect]]] = {}
    for write in writes:
        for number, effect in enumerate(write.effects):
            found.setdefault((write.path, effect.cell_id), []).append((write, number, effect))
    return found


def _decided(changes: Changes, run_id: str) -> dict[tuple[str, str], list[UserDecision]]:
    """The decisions about each cell, oldest first."""
    found: dict[tuple[str, str], list[UserDecision]] = {}
    for decision in changes.decisions:
        if decision.run_id == run_id:
            for cell_id in decision.cells:
                found.setdefault((decision.path, cell_id), []).append(decision)
    return found


def _text(cell: Mapping[str, Any]) -> tuple[str, str]:
    return str(cell.get("cell_type", "code")), str(cell.get("source", ""))
