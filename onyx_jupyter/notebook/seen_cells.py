"""What one session's model last saw of each cell, and the notebooks when its run began. Kept in memory only.

An edit says which source it is based on. If the model doesn't say so, this does, so that a user's change in between is
never overwritten unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from onyx_jupyter.protocols import Cell, CellSize, NotebookCells, NotebookView


@dataclass(frozen=True, slots=True)
class InitialNotebook:
    """A notebook as a run found it: the number of characters of each cell that is not blank."""

    chars: Mapping[str, int]

    @property
    def total_chars(self) -> int:
        return sum(self.chars.values())


class SeenCells:
    """What one session saw. A cell seen in part counts as seen only if it was never seen in full."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._whole: dict[str, dict[str, str]] = {}
        self._part: dict[str, dict[str, str]] = {}
        self._orders: dict[str, Sequence[str]] = {}
        self._bound: dict[tuple[str, str], str] = {}
        self._run_id = ""
        self._beginnings: dict[str, InitialNotebook] = {}

    def called(self, path: str, name: str) -> None:
        """The notebook requested as `path` is actually called `name` (a link, a new name)."""
        self._names[path] = name
        if name != path and (seen := self._whole.pop(path, None)) is not None:  # seen in a message before it was opened
            self._whole.setdefault(name, {}).update(seen)

    def record_seen(self, path: str, cells: Iterable[Cell]) -> None:
        """The model saw the whole source of these cells."""
        self._whole.setdefault(self._name(path), {}).update({cell.id: cell.hash for cell in cells})

    def record_partial(self, path: str, cells: Iterable[Cell]) -> None:
        """The model saw a line or two of them; the first time counts."""
        part = self._part.setdefault(self._name(path), {})
        for cell in cells:
            part.setdefault(cell.id, cell.hash)

    def wrote(self, path: str, cell_id: str, source_hash: str) -> None:
        """The model knows the source: it wrote it, or saw it in a refusal or a message."""
        self._whole.setdefault(self._name(path), {})[cell_id] = source_hash

    def record_order(self, path: str, ids: Sequence[str]) -> None:
        """The model saw cell numbers of this notebook, which refer to this order."""
        self._orders[self._name(path)] = ids

    def order_of(self, path: str) -> Sequence[str] | None:
        """The order that the cell numbers known to the model refer to; None if it knows none."""
        return self._orders.get(self._name(path))

    def hash_of(self, path: str, cell_id: str) -> str | None:
        """The hash of the source that the model knows; None for a cell that it never saw."""
        name = self._name(path)
        return self._whole.get(name, {}).get(cell_id) or self._part.get(name, {}).get(cell_id)

    def bind(self, call_id: str, cells: Iterable[Cell]) -> None:
        """This call's preview was made from these cells, so they are what the user approves."""
        self._bound = {key: value for key, value in self._bound.items() if key[0] == call_id}
        self._bound.update({(call_id, cell.id): cell.hash for cell in cells})

    def bound(self, call_id: str, cell_id: str) -> str | None:
        return self._bound.get((call_id, cell_id))

    def beginning(self, run_id: str, view: NotebookView | NotebookCells) -> InitialNotebook:
        """The notebook as this run first saw it; that is now, if it had not seen it before."""
        if run_id != self._run_id:
            self._run_id = run_id
            self._beginnings.clear()
        if view.path not in self._beginnings:
            self._beginnings[view.path] = InitialNotebook(chars_of(view.order))
        return self._beginnings[view.path]

    def _name(self, path: str) -> str:
        return self._names.get(path, path)


def chars_of(order: Iterable[CellSize]) -> dict[str, int]:
    """Cell id → characters of its source, for cells that are not blank."""
    return {cell.id: cell.chars for cell in order if cell.chars}
