"""A run's changes to notebooks, in numbers. It does no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from onyx_jupyter.notebook.review.reviewed_cells import run_changes
from onyx_jupyter.notebook.review.writes import Changes


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """One run's changes to notebooks.

    `cells` have or had a mark, `ran` only ran, `pending` wait for a decision, and `standing` can be undone. `paths` are
    notebooks with their number of `cells`; `revert_id` names the newest undo that can be put back; even then, some of
    the run's changes may still be in effect.
    """

    run_id: str
    cells: int
    ran: int
    pending: int
    standing: int
    paths: tuple[tuple[str, int], ...]
    created: tuple[str, ...]
    revert_id: str | None


def turn_changes(changes: Changes, run_id: str) -> TurnChanges:
    """What that run did, by cell and by notebook."""
    items = run_changes(changes, run_id)
    seen = [item for item in items if item.is_seen]
    created = tuple(dict.fromkeys(write.path for write in changes.of_run(run_id) if write.creates and write.is_certain))
    paths = dict.fromkeys((*created, *(item.path for item in items if item.kinds)), 0)
    for item in seen:
        paths[item.path] += 1
    undos = [revert_id for reverts in changes.undos(run_id).values() for revert_id in reverts]
    return TurnChanges(
        run_id,
        cells=len(seen),
        ran=len([item for item in items if item.kinds == ("ran",)]),
        pending=len([item for item in seen if item.state == "pending"]),
        standing=len([item for item in items if item.kinds and item.state in ("pending", "accepted")]),
        paths=tuple(paths.items()),
        created=created,
        revert_id=max(undos, default=None),
    )
