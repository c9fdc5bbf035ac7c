"""Notebooks by path and cell id: what is read, what may be changed, and by whom. It never says where one is open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it stands now. `outputs` are nbformat 4 output dicts; `hash` is `cell_hash(source)`.

    `outputs_shortened` says that `outputs` are not all that the cell shows, and cannot put it back. `is_running`: the
    tab that was asked runs it at this moment, or has it in the kernel's queue.
    """

    id: str
    cell_type: CellType
    source: str
    hash: str
    execution_count: int | None = None
    outputs: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outputs_shortened: bool = False
    is_running: bool = False


@dataclass(frozen=True, slots=True)
class CellSize:
    """A cell without its content. `chars` (code points) is how long its source is; 0 where that is blank."""

    id: str
    chars: int

    @classmethod
    def of(cls, cell_id: str, source: str) -> CellSize:
        return cls(cell_id, len(source) if source.strip() else 0)


@dataclass(frozen=True, slots=True)
class NotebookView:
    """A notebook as it stands now. `backend` says where it was read.

    `browser`: open in a tab; `room`: open together with others; `contents`: open nowhere, so from its file.
    """

    path: str
    cells: tuple[Cell, ...]
    backend: str
    kernel_name: str | None = None
    kernel_status: str | None = None

    @property
    def order(self) -> tuple[CellSize, ...]:
        return tuple(CellSize.of(cell.id, cell.source) for cell in self.cells)


@dataclass(frozen=True, slots=True)
class NotebookCells:
    """Some cells of a notebook as it stands now, in their order; `order` are all of them, without content."""

    path: str
    order: tuple[CellSize, ...]
    cells: tuple[Cell, ...]
    kernel_name: str | None = None


NbCell = Mapping[str, Any]
"""A whole cell as nbformat 4.5 has it: id, cell_type, source, metadata, and for code outputs and execution_count."""


@dataclass(frozen=True, slots=True)
class After:
    """The place right behind that cell."""

    cell_id: str


Place = After | Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class InsertCell:
    """A new cell. One without an id gets one; an id that the notebook has already is refused (cell_exists)."""

    cell: NbCell
    place: Place = "end"


@dataclass(frozen=True, slots=True)
class EditCell:
    """New source; outputs stay. `base_hash` is that of the source it was based on, None for whatever is there.

    A cell whose metadata says `editable: false` is refused (locked), unless a person takes something back
    (`even_locked`).
    """

    cell_id: str
    source: str
    base_hash: str | None = None
    even_locked: bool = False


@dataclass(frozen=True, slots=True)
class DeleteCell:
    """Takes the cell away, if its source is still the one of `base_hash`. As `EditCell`, with `deletable: false`."""

    cell_id: str
    base_hash: str | None = None
    even_locked: bool = False


@dataclass(frozen=True, slots=True)
class MoveCell:
    """Puts the cell elsewhere, if its source is still the one of `base_hash`.

    `place` is meant in the notebook without the cell.
    """

    cell_id: str
    place: Place
    base_hash: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreCell:
    """Source, outputs, execution count and metadata as they once were, under the same id and in place.

    What `cell` does not name (a key that is missing) stays as it is now; `id` and `cell_type` have to be there.
    """

    cell: NbCell
    base_hash: str | None = None


@dataclass(frozen=True, slots=True)
class SetOutputs:
    """What running the cell has put out, here: as after a run, the outputs are trusted, and the source stays."""

    cell_id: str
    outputs: tuple[Mapping[str, Any], ...]
    execution_count: int | None


CellChange = InsertCell | EditCell | DeleteCell | MoveCell | RestoreCell | SetOutputs


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """What one change did: the cell before and after it, and the place where it stood before.

    `before` and `before_place` are None for an insertion, `after` for a deletion. `outputs_left_out` says that what the
    cell shows (outputs, attachments) was too large to be carried: `before` has no such keys, and cannot put it back.
    """

    cell_id: str
    before: NbCell | None
    before_place: Place | None
    after: NbCell | None
    outputs_left_out: bool = False


@dataclass(frozen=True, slots=True)
class CellRun:
    """How a cell's execution ended, with its nbformat 4 outputs; `note`: what has to be said beside them.

    `before` is the cell before it ran, so that it can be put back (`RestoreCell`); with `outputs_left_out` its outputs
    were too large to be carried there. `is_shown`: the notebook shows what came of it, if perhaps not to its end.
    `figures` says in words what was drawn, a text for each pair of axes; empty also where the kernel cannot tell.
    """

    status: Literal["ok", "error", "aborted"]
    execution_count: int | None
    outputs: tuple[Mapping[str, Any], ...]
    note: str | None = None
    before: NbCell | None = None
    outputs_left_out: bool = False
    is_shown: bool = False
    figures: tuple[str, ...] = ()


class Notebooks(Protocol):
    """Notebooks by path (as in the file browser) and cell id, whether open in a tab or not."""

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        """All cells; their outputs shortened and without images, except for those of the cells `in_full`.

        Raises: NotebookError (not_found, not_notebook, too_large).
        """
        ...

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        """Only these cells and the `last` ones, at little cost however long the notebook is; unknown ids are absent.

        Their outputs are as `read` has them; `in_full` is a part of `ids`. Raises: as `read`.
        """
        ...

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        """Makes all the changes, in order and in one step, or none; each sees what those before it made.

        Raises: NotebookError (no_cell; stale with source and hash of now; cell_exists; bad_cell; would_empty; locked;
        not_saved; running where a cell that runs would be moved, deleted or become another type; …).
        """
        ...

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        """A new notebook file. Raises: NotebookError (exists, no_folder, no_kernel, bad_name, bad_cell, not_saved)."""
        ...

    async def run_cell(
        self,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        *,
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        """Runs a cell in the notebook's kernel, outputs appearing in place; cancelling interrupts the kernel.

        It may wait for hours until the kernel is free: only where the source is then still that of `base_hash` it runs.
        `began` is called where its code may have run, before this returns or raises: else the cell shows what it did.
        Raises: NotebookError (no_cell, not_code, stale with source and hash of now, no_kernel, kernel_died, …).
        """
        ...
