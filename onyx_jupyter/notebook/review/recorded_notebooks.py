"""The notebooks as one author sees them. It remembers what the author saw and records every change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

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

Apply = Callable[[str, Sequence[CellChange], Mapping[str, Cell]], Awaitable[tuple[AppliedChange, ...]]]
Create = Callable[[str, Sequence[NbCell], str | None], Awaitable[NotebookView]]
RunCell = Callable[[str, str, Callable[[str], None], Cell | None, str | None, Callable[[], None]], Awaitable[CellRun]]


class RecordedNotebooks:
    """`Notebooks` of one author: reads pass through, and every change goes through the recorder."""

    def __init__(self, notebooks: Notebooks, apply: Apply, create: Create, run_cell: RunCell) -> None:
        """The recorder's functions for that author; `apply` and `run_cell` also take what the author last saw there."""
        self._notebooks = notebooks
        self._apply = apply
        self._create = create
        self._run_cell = run_cell
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
        return await self._apply(path, changes, self._seen.pop(path, {}))

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        return await self._create(path, cells, kernel_name)

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
        return await self._run_cell(path, cell_id, progress, seen, base_hash, began)
