"""Works on a notebook that is open in a collaboration room, through its shared document, which all participants see.

The file is saved by the room.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, overload

from onyx_jupyter.notebook.cell_changes import Step, plan
from onyx_jupyter.notebook.cells import cell_ids, cell_views, read_only, wanted_places
from onyx_jupyter.notebook.collaboration_rooms import CollaborationRooms
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.shared_cells import edit_source, restore_cell
from onyx_jupyter.protocols import (
    AppliedChange,
    CellChange,
    CellSize,
    EditCell,
    NbCell,
    NotebookCells,
    NotebookView,
    SetOutputs,
)

_MINOR_WITH_IDS = 5


class RoomBackend:
    """Notebooks with a live room. For any other notebook, every call raises NotebookError (no_room)."""

    def __init__(self, rooms: CollaborationRooms, sessions: KernelSessions) -> None:
        self._rooms = rooms
        self._sessions = sessions

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        session = await self._sessions.find(path)
        document = await self._rooms.document(path)
        return NotebookView(
            path=path,
            cells=cell_views(_Cells(document), in_full),
            backend="room",
            kernel_name=session.kernel_name if session else _kernel_name(document),
            kernel_status=session.status if session else None,
        )

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        session = await self._sessions.find(path)
        document = await self._rooms.document(path)
        cells = _Cells(document)
        return NotebookCells(
            path=path,
            order=cells.sizes,
            cells=cell_views((cells[at] for at in wanted_places(cells.ids, ids, last)), in_full),
            kernel_name=session.kernel_name if session else _kernel_name(document),
        )

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        """Doesn't await between reading and changing, so no keystroke can come in between.

        Outputs are shown to the participants even if the file is read-only.
        """
        is_kept = not all(isinstance(change, SetOutputs) for change in changes)
        if is_kept and not await self._rooms.is_writable(path):
            raise read_only(path)
        document = await self._rooms.document(path)
        cells = _Cells(document)
        steps = plan(cells, cells.ids, changes, path)
        with document.ydoc.transaction():
            cells.give_ids()
            for change, step in zip(changes, steps, strict=True):
                _apply_steps(document, change, step)
        return tuple(step.applied for step in steps)


class _Cells(Sequence[NbCell]):
    """The document's cells, each converted on access, with a unique id."""

    def __init__(self, document: Any) -> None:
        self._document = document
        stubs = [
            {"id": cell.get("id"), "cell_type": cell["cell_type"], "source": str(cell["source"])}
            for cell in document.ycells
        ]
        self._had = [stub["id"] for stub in stubs]
        self.ids = cell_ids(stubs)
        self.sizes = tuple(CellSize.of(id_, stub["source"]) for id_, stub in zip(self.ids, stubs, strict=True))

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> NbCell: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[NbCell]: ...

    def __getitem__(self, index: int | slice) -> NbCell | Sequence[NbCell]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        cell: Mapping[str, Any] = self._document.get_cell(index)
        return {**cell, "id": self.ids[index]}

    def give_ids(self) -> None:
        """Stores the ids of cells that had none or a duplicate, and sets a format in which the file keeps them."""
        for at, (had, cell_id) in enumerate(zip(self._had, self.ids, strict=True)):
            if had != cell_id:
                self._document.ycells[at]["id"] = cell_id
        meta = _meta(self._document)
        if int(meta.get("nbformat_minor") or 0) < _MINOR_WITH_IDS:
            meta["nbformat_minor"] = _MINOR_WITH_IDS


def _apply_steps(document: Any, change: CellChange, step: Step) -> None:
    cells = document.ycells
    if step.taken_from is not None and step.taken_from == step.put_at and step.cell is not None:
        cell = cells[step.taken_from]
        if isinstance(change, EditCell):
            edit_source(cell, change.source)
            return
        if cell["cell_type"] == step.cell["cell_type"]:
            restore_cell(cell, step.cell)
            return
    if step.taken_from is not None:
        del cells[step.taken_from]
    if step.put_at is not None and step.cell is not None:
        cells.insert(step.put_at, document.create_ycell(dict(step.cell)))


def _kernel_name(document: Any) -> str | None:
    """The kernel named in the notebook's metadata."""
    kernelspec = (_meta(document).get("metadata") or {}).get("kernelspec") or {}
    return kernelspec.get("name") or None


def _meta(document: Any) -> Any:
    return document.ydoc["meta"]
