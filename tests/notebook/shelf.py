"""Notebooks in memory, changed as the real ones are: by the same plan, all or nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cell_changes import apply_steps, plan
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import (
    AppliedChange,
    Cell,
    CellChange,
    CellRun,
    DeleteCell,
    MoveCell,
    NbCell,
    NotebookCells,
    NotebookView,
)


class Shelf:
    """`notebooks` by path; `before_apply` is called right before each change, as somebody else's hand in it.

    A run waits for `before_run`, and goes on for `in_run` when its outputs are there already.

    `lose_answer` makes the next change happen without anybody learning of it, `stop_runs` ends every run with its
    cell cleared, as Stop may. `note` is said beside each run, and without `shows_runs` its outputs reach no notebook.
    A cell that is `running` is neither moved nor deleted.

    An answer tells what was there before in no more than `carried_chars`, as a tab's does. `reads` counts how often it
    was asked what is there, `whole_reads` how often for all of it.
    """

    def __init__(self, **notebooks: Sequence[NbCell]) -> None:
        self.notebooks: dict[str, list[dict[str, Any]]] = {
            f"{name}.ipynb": [dict(cell) for cell in cells] for name, cells in notebooks.items()
        }
        self.before_apply: Callable[[], None] = lambda: None
        self.before_run: Callable[[], Awaitable[None]] = _at_once
        self.in_run: Callable[[], Awaitable[None]] = _at_once
        self.lose_answer = False
        self.note: str | None = None
        self.shows_runs = True
        self.stop_runs = False
        self.shortened: set[str] = set()
        self.running: set[str] = set()
        self.carried_chars = 1_500_000
        self.reads = 0
        self.whole_reads = 0
        self.applied: list[Sequence[CellChange]] = []
        self._runs = 0

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        """Outputs of other cells than those `in_full` are only named, as a front end may shorten them.

        Those of `shortened` cells are never told whole.
        """
        self.whole_reads += 1
        return self._view(path, in_full)

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        view = self._view(path, in_full)
        wanted = {*ids, *[cell.id for cell in view.cells][len(view.cells) - last :]}
        return NotebookCells(path, view.order, tuple(cell for cell in view.cells if cell.id in wanted), "python3")

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        self.before_apply()
        cells = self._cells(path)
        steps = plan(cells, [cell["id"] for cell in cells], changes, path)
        moved = {change.cell_id for change in changes if isinstance(change, MoveCell | DeleteCell)}
        if moved & self.running:
            raise NotebookError("running", "A cell runs now.")
        self.applied.append(changes)
        self.notebooks[path] = [dict(cell) for cell in apply_steps(cells, steps)]
        if self.lose_answer:
            self.lose_answer = False
            raise NotebookError("tab_gone", "The tab has gone.")
        return self._told([step.applied for step in steps])

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        if path in self.notebooks:
            raise NotebookError("exists", f"There is {path} already.")
        self.notebooks[path] = [dict(cell) for cell in cells]
        return await self.read(path)

    async def run_cell(
        self,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        *,
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        cell = self.cell(path, cell_id)
        before = dict(cell)
        await self.before_run()
        began()
        if not self.shows_runs:
            return CellRun("ok", 1, (), self.note)
        self.run_by_hand(path, cell_id)
        if self.stop_runs:
            cell["outputs"] = []
            raise asyncio.CancelledError
        await self.in_run()
        ((told, left_out),) = self._carried([before])
        return CellRun(
            "ok",
            cell["execution_count"],
            tuple(cell["outputs"]),
            self.note,
            before=told,
            outputs_left_out=left_out,
            is_shown=True,
        )

    async def remove(self, path: str) -> None:
        """As the file browser's bin."""
        self._cells(path)
        del self.notebooks[path]

    def run_by_hand(self, path: str, cell_id: str) -> None:
        """The cell shows what it computed: its own source, in capitals."""
        self._runs += 1
        cell = self.cell(path, cell_id)
        text = {"output_type": "stream", "name": "stdout", "text": cell["source"].upper()}
        cell.update(outputs=[text], execution_count=self._runs)

    def cell(self, path: str, cell_id: str) -> dict[str, Any]:
        return next(cell for cell in self._cells(path) if cell["id"] == cell_id)

    def order(self, path: str) -> list[str]:
        return [cell["id"] for cell in self._cells(path)]

    def _view(self, path: str, in_full: Collection[str]) -> NotebookView:
        self.reads += 1
        cells = tuple(
            Cell(
                cell["id"],
                cell["cell_type"],
                cell["source"],
                cell_hash(cell["source"]),
                cell.get("execution_count"),
                tuple(cell.get("outputs", ()) if cell["id"] in in_full else map(_shortened, cell.get("outputs", ()))),
                cell["metadata"],
                cell["id"] in self.shortened,
                cell["id"] in self.running,
            )
            for cell in self._cells(path)
        )
        return NotebookView(path, cells, "contents", "python3")

    def _told(self, applied: Sequence[AppliedChange]) -> tuple[AppliedChange, ...]:
        told = self._carried([change.before or {} for change in applied])
        return tuple(
            replace(change, before=before if change.before else None, outputs_left_out=left_out)
            for change, (before, left_out) in zip(applied, told, strict=True)
        )

    def _carried(self, cells: Sequence[NbCell]) -> list[tuple[NbCell, bool]]:
        """All cells together have `carried_chars`."""
        chars_left = self.carried_chars
        carried: list[tuple[NbCell, bool]] = []
        for cell in cells:
            needed = len(json.dumps(cell.get("outputs", ())))
            is_too_large = needed > chars_left
            chars_left -= 0 if is_too_large else needed
            rest = {key: value for key, value in cell.items() if key not in ("outputs", "execution_count")}
            carried.append((rest if is_too_large else cell, is_too_large))
        return carried

    def _cells(self, path: str) -> list[dict[str, Any]]:
        if path not in self.notebooks:
            raise NotebookError("not_found", f"There is no {path}.")
        return self.notebooks[path]


async def _at_once() -> None:
    """Nothing to wait for."""


def _shortened(output: NbCell) -> NbCell:
    return {"output_type": output["output_type"], "name": "stdout", "text": "…"}


def code(cell_id: str, source: str = "", **more: Any) -> dict[str, Any]:
    """A code cell that has not run."""
    whole = {"id": cell_id, "cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    return {**whole, "execution_count": None, **more}
