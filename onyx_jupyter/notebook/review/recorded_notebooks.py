"""The notebooks as one author sees them. It keeps what the author saw, and changes nothing but through the recorder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from onyx_jupyter.protocols import (
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    NbCell,
    NotebookCells,
    Notebooks,
    NotebookView,
)

if TYPE_CHECKING:
    from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder


class RecordedNotebooks:
    """`Notebooks` of one author: reading is plain, and all that changes something goes through the recorder."""

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
        seen = self._seen.get(path, {}).pop(cell_id, None)  # once: it shows something else from now on
        return await self._recorder.run_cell(self._author, path, cell_id, progress, seen, base_hash, began)
