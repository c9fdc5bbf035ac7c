"""Works on a notebook that is open nowhere: its file through the contents API, its kernel through a kernel client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import BrowserTabs
from onyx_jupyter.notebook.cell_changes import carried, carried_out, plan
from onyx_jupyter.notebook.cells import cell_hash, source_of
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.notebook_file import NotebookFile, NotebookFiles
from onyx_jupyter.protocols import AppliedChange, Cell, CellChange, CellRun, InsertCell, NbCell, NotebookView


class ContentsBackend:
    """Notebooks as files. A write under one that a front end has open is refused (open_in_tab, open_elsewhere)."""

    def __init__(
        self,
        contents_manager: Any,
        kernel_manager: Any,
        sessions: KernelSessions,
        tabs: BrowserTabs,
    ) -> None:
        self._files = NotebookFiles(contents_manager, self._refuse_open)
        self._kernels = kernel_manager
        self._sessions = sessions
        self._tabs = tabs

    async def read(self, path: str) -> NotebookView:
        file = await self._files.load(path)
        session = await self._sessions.find(path)
        return NotebookView(
            path=path,
            cells=tuple(map(_cell, file.cells)),
            backend="contents",
            kernel_name=session.kernel_name if session else file.kernel_name,
            kernel_status=session.status if session else None,
        )

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        def make(file: NotebookFile) -> tuple[AppliedChange, ...]:
            steps = plan(file.cells, file.ids, changes, path)
            file.content["cells"] = carried_out(file.cells, steps)
            return tuple(step.applied for step in steps)

        return await self._files.change(path, make)

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        """With the kernel's name and language, as JupyterLab writes them; None takes the server's own default."""
        if not path.endswith(".ipynb"):
            raise NotebookError("bad_name", f"A notebook's name ends in .ipynb, and {path} does not.")
        steps = plan((), (), [InsertCell(cell) for cell in cells], path)
        metadata = {"kernelspec": await self._sessions.kernelspec(path, kernel_name)}
        content = {"cells": carried_out((), steps), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        await self._files.create(path, content)
        return await self.read(path)

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun:
        file = await self._files.load(path)
        cell = file.cell(cell_id)
        if cell["cell_type"] != "code":
            raise NotebookError("not_code", f"Cell {cell_id} of {path} is a {cell['cell_type']} cell: nothing to run.")
        before, left_out = carried(cell)
        kernel_id = await self._sessions.find_or_start(path, file.kernel_name)
        execution = KernelRun(self._kernels, kernel_id, progress)
        try:
            result = await execution.run(source_of(cell))
        except (asyncio.CancelledError, NotebookError):
            if execution.outputs:
                await self._keep(path, cell_id, execution.execution_count, execution.outputs)
            raise
        note = await self._keep(path, cell_id, result.execution_count, result.outputs)
        return replace(result, note=note, before=before, outputs_left_out=left_out)

    async def _keep(
        self, path: str, cell_id: str, execution_count: int | None, outputs: Sequence[Mapping[str, Any]]
    ) -> str | None:
        """Writes outputs into the cell; where that cannot be, the reason in words."""

        def keep(file: NotebookFile) -> None:
            cell = file.cell(cell_id)
            cell["outputs"] = [dict(output) for output in outputs]
            cell["execution_count"] = execution_count
            cell.setdefault("metadata", {})["trusted"] = True  # it ran here: as when a person runs it

        try:
            await self._files.change(path, keep)
        except NotebookError as error:
            return f"The outputs are not in the notebook: {error}"
        return None

    async def _refuse_open(self, path: str) -> None:
        """Raises: NotebookError where a front end shows the notebook and would keep its own version."""
        if self._tabs.tab_with(path) is not None:
            raise NotebookError("open_in_tab", f"{path} is open in a browser tab, which keeps its own version of it.")
        session = await self._sessions.find(path)
        if session is not None and session.connections:
            raise NotebookError(
                "open_elsewhere",
                f"{path} is open in a front end that Onyx cannot reach, and writing under it would lose work there. "
                "Open it in JupyterLab with Onyx, or close it.",
            )


def _cell(cell: Mapping[str, Any]) -> Cell:
    source = source_of(cell)
    return Cell(
        id=cell["id"],
        cell_type=cell["cell_type"],
        source=source,
        hash=cell_hash(source),
        execution_count=cell.get("execution_count"),
        outputs=tuple(cell.get("outputs") or ()),
        metadata=cell.get("metadata") or {},
    )
