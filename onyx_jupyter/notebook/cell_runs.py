"""Runs cells from the server when no browser tab does, and puts their outputs into the notebook.

The outputs go wherever the notebook is open at that moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import find_cell, stale
from onyx_jupyter.notebook.drawn_figures import DrawnFigures
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.output_limits import count_chars
from onyx_jupyter.protocols import Cell, CellRun, NotebookCells, Notebooks, SetOutputs

_SHOW_EVERY_S = 0.5
_SHOW_AT_LEAST_EVERY_S = 10.0
_SHOWN_CHARS_PER_S = 1_000_000


def show_every_s(outputs: Sequence[Mapping[str, Any]]) -> float:
    """How long to wait before showing more outputs: each time, all of them are compared or sent again."""
    chars = count_chars(outputs, int(_SHOW_AT_LEAST_EVERY_S * _SHOWN_CHARS_PER_S))
    return min(max(_SHOW_EVERY_S, chars / _SHOWN_CHARS_PER_S), _SHOW_AT_LEAST_EVERY_S)


class CellRuns:
    """Runs cells in one server's kernels. `is_watched` says whether a notebook is open anywhere."""

    def __init__(
        self,
        kernel_manager: Any,
        sessions: KernelSessions,
        notebooks: Notebooks,
        is_watched: Callable[[str], bool],
        figures: DrawnFigures,
    ) -> None:
        self._kernels = kernel_manager
        self._figures = figures
        self._sessions = sessions
        self._notebooks = notebooks
        self._is_watched = is_watched

    async def run(
        self,
        view: NotebookCells,
        cell_id: str,
        progress: Callable[[str], None],
        base_hash: str | None,
        began: Callable[[], None],
    ) -> CellRun:
        """Runs the cell to its end; anyone with the notebook open sees the outputs arrive. `began`: its code may run.

        It runs the source of `base_hash`, else of `view`, and only if the cell still has it when the kernel is free.
        Raises: NotebookError (no_cell, not_code, stale, no_kernel, kernel_died); outputs up to then are kept.
        """
        path = view.path
        cell = _still(view, cell_id, base_hash)
        if cell.cell_type != "code":
            raise NotebookError("not_code", f"Cell {cell_id} of {path} is a {cell.cell_type} cell: nothing to run.")
        kernel_id = await self._sessions.find_or_start(path, view.kernel_name)
        shown = _Shown(path, cell_id, KernelRun(self._kernels, kernel_id, progress), self._notebooks, self._is_watched)

        async def check() -> None:
            _still(await self._notebooks.read_cells(path, [cell_id]), cell_id, cell.hash)

        try:
            async with shown.live():
                result = await self._figures.with_figures(kernel_id, lambda: shown.execution.run(cell.source, check))
        except (asyncio.CancelledError, NotebookError):
            if shown.execution.outputs:
                await shown.keep()
            raise
        finally:
            if shown.execution.has_begun:
                began()
        note = " ".join(filter(None, (result.note, await shown.keep()))) or None
        return replace(result, note=note, before=shown.before, outputs_left_out=shown.left_out, is_shown=shown.is_shown)


def _still(view: NotebookCells, cell_id: str, base_hash: str | None) -> Cell:
    """The cell. Raises: NotebookError (no_cell; stale if its source doesn't match `base_hash`)."""
    cell = find_cell(view.cells, cell_id, view.path)
    if base_hash is not None and cell.hash != base_hash:
        raise stale(view.path, cell_id, cell.source)
    return cell


class _Shown:
    """One execution, and how much of it the notebook shows."""

    def __init__(
        self, path: str, cell_id: str, execution: KernelRun, notebooks: Notebooks, is_watched: Callable[[str], bool]
    ) -> None:
        self.execution = execution
        self.before: Any = None
        self.left_out = False
        self._path = path
        self._cell_id = cell_id
        self._notebooks = notebooks
        self._is_watched = is_watched
        self._last: SetOutputs | None = None

    @property
    def is_shown(self) -> bool:
        """Whether it has changed the notebook."""
        return self._last is not None

    async def keep(self) -> str | None:
        """Puts the outputs so far into the notebook; returns the reason in words if that fails."""
        try:
            await self._show()
        except NotebookError as error:
            return f"The outputs are not in the notebook: {error}"
        return None

    @contextlib.asynccontextmanager
    async def live(self) -> AsyncIterator[None]:
        """Meanwhile, shows new outputs to anyone who has the notebook open; doesn't write a file for it."""
        showing = asyncio.create_task(self._refresh_loop(), name="onyx live outputs")
        try:
            yield
        finally:
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)

    async def _refresh_loop(self) -> None:
        while True:
            if self.execution.has_begun and self._is_watched(self._path):
                with contextlib.suppress(NotebookError):  # the final attempt reports the reason
                    await self._show()
            await asyncio.sleep(show_every_s(self.execution.outputs))

    async def _show(self) -> None:
        change = SetOutputs(self._cell_id, self.execution.outputs, self.execution.execution_count)
        if change == self._last:
            return
        (made,) = await self._notebooks.apply(self._path, [change])
        if self._last is None:
            self.before, self.left_out = made.before, made.outputs_left_out
        self._last = change
