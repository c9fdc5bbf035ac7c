"""Notebooks by path and cell id: reading, changing and running them, wherever they are open."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

CellType = Literal["code", "markdown", "raw"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell in its current state. `outputs` are nbformat 4 output dicts; `hash` is `cell_hash(source)`.

    `outputs_shortened` says that `outputs` are incomplete, and cannot be used to restore the cell. `is_running`: the
    tab that was asked is running it, or has it in the kernel's queue.
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
    """A cell without its content. `chars` (code points) is the length of its source; 0 if that is blank."""

    id: str
    chars: int

    @classmethod
    def of(cls, cell_id: str, source: str) -> CellSize:
        return cls(cell_id, len(source) if source.strip() else 0)


@dataclass(frozen=True, slots=True)
class NotebookView:
    """A notebook in its current state. `backend` says where it was read.

    `browser`: open in a tab; `room`: open together with others; `contents`: not open, so read from its file.
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
    """Some cells of a notebook in their current state, in order; `order` are all of its cells, without content."""

    path: str
    order: tuple[CellSize, ...]
    cells: tuple[Cell, ...]
    kernel_name: str | None = None


NbCell = Mapping[str, Any]
"""A whole cell as in nbformat 4.5: id, cell_type, source, metadata, and for code outputs and execution_count."""


@dataclass(frozen=True, slots=True)
class After:
    """The place directly after that cell."""

    cell_id: str


Place = After | Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class InsertCell:
    """A new cell. An id is assigned if it has none; one that the notebook has already is refused (cell_exists)."""

    cell: NbCell
    place: Place = "end"


@dataclass(frozen=True, slots=True)
class EditCell:
    """New source; outputs stay. `base_hash` is that of the source it was based on, None for any source.

    A cell whose metadata says `editable: false` is refused (locked), unless the user undoes something (`even_locked`).
    """

    cell_id: str
    source: str
    base_hash: str | None = None
    even_locked: bool = False


@dataclass(frozen=True, slots=True)
class DeleteCell:
    """Deletes the cell if its source still has `base_hash`. Locked as for `EditCell`, with `deletable: false`."""

    cell_id: str
    base_hash: str | None = None
    even_locked: bool = False


@dataclass(frozen=True, slots=True)
class MoveCell:
    """Moves the cell if its source still has `base_hash`.

    `place` refers to the notebook without the cell.
    """

    cell_id: str
    place: Place
    base_hash: str | None = None


@dataclass(frozen=True, slots=True)
class RestoreCell:
    """Restores earlier source, outputs, execution count and metadata, under the same id and in place.

    Keys missing from `cell` stay as they are; `id` and `cell_type` are required.
    """

    cell: NbCell
    base_hash: str | None = None


@dataclass(frozen=True, slots=True)
class SetOutputs:
    """Sets the outputs of running the cell here: as after any run they are trusted, and the source stays."""

    cell_id: str
    outputs: tuple[Mapping[str, Any], ...]
    execution_count: int | None


CellChange = InsertCell | EditCell | DeleteCell | MoveCell | RestoreCell | SetOutputs


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """The effect of one change: the cell before and after it, and its place before.

    `before` and `before_place` are None for an insertion, `after` for a deletion. `outputs_left_out` says that what the
    cell shows (outputs, attachments) was too large to include: `before` lacks these keys, and cannot restore them.
    """

    cell_id: str
    before: NbCell | None
    before_place: Place | None
    after: NbCell | None
    outputs_left_out: bool = False


@dataclass(frozen=True, slots=True)
class CellRun:
    """How a cell's execution ended, with its nbformat 4 outputs; `note` is a remark about them.

    `before` is the cell before it ran, so that it can be restored (`RestoreCell`); with `outputs_left_out` its outputs
    were too large to include. `is_shown`: the notebook shows the outputs, though perhaps not all of them.
    `figures` describes in words what was drawn, one text for each pair of axes; empty also if the kernel cannot tell.
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
        """All cells; outputs are shortened and without images, except for cells in `in_full`.

        Raises: NotebookError (not_found, not_notebook, too_large).
        """
        ...

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        """Only these cells and the `last` ones, cheap however long the notebook is; unknown ids are absent.

        Outputs are as in `read`; `in_full` is a subset of `ids`. Raises: as `read`.
        """
        ...

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        """Makes all changes, in order and in one step, or none; each sees the effect of those before it.

        Raises: NotebookError (no_cell; stale with current source and hash; cell_exists; bad_cell; would_empty; locked;
        not_saved; running if a running cell would be moved, deleted or become another type; …).
        """
        ...

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        """Creates a notebook. Raises: NotebookError (exists, no_folder, no_kernel, bad_name, bad_cell, not_saved)."""
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
        """Runs a cell in the notebook's kernel, with outputs appearing in place; cancelling interrupts the kernel.

        It may wait for hours until the kernel is free: it then runs only if the source still has `base_hash`. `began`
        is called if its code may have run, before this returns or raises; otherwise the cell still shows its old
        outputs.
        Raises: NotebookError (no_cell, not_code, stale with current source and hash, no_kernel, kernel_died, …).
        """
        ...
