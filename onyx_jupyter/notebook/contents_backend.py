"""Works on a notebook that is open nowhere: its file through the contents API, its kernel through a kernel client."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import BrowserTabs
from onyx_jupyter.notebook.cells import cell_hash, index_of, source_of, stale
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.notebook_file import NotebookFile, NotebookFiles
from onyx_jupyter.protocols import Cell, CellRun, CellType, NotebookView


def _short_id() -> str:
    return uuid.uuid4().hex[:8]


class ContentsBackend:
    """Notebooks as files. A write under one that a front end has open is refused (open_in_tab, open_elsewhere)."""

    def __init__(
        self,
        contents_manager: Any,
        kernel_manager: Any,
        sessions: KernelSessions,
        tabs: BrowserTabs,
        *,
        new_id: Callable[[], str] = _short_id,
    ) -> None:
        self._files = NotebookFiles(contents_manager, self._refuse_open)
        self._kernels = kernel_manager
        self._sessions = sessions
        self._tabs = tabs
        self._new_id = new_id

    async def read(self, path: str) -> NotebookView:
        file = await self._files.load(path)
        session = await self._sessions.find(path)
        return NotebookView(
            path=path,
            cells=tuple(_cell(cell, cell_id) for cell, cell_id in zip(file.cells, file.ids, strict=True)),
            backend="contents",
            kernel_name=session.kernel_name if session else file.kernel_name,
            kernel_status=session.status if session else None,
        )

    async def insert_cell(self, path: str, cell_type: CellType, source: str, after_cell_id: str | None) -> Cell:
        def insert(file: NotebookFile) -> Cell:
            at = len(file.cells) if after_cell_id is None else index_of(file.ids, after_cell_id, path) + 1
            cell_id = self._new_id()
            while cell_id in file.ids:
                cell_id = self._new_id()
            code: dict[str, Any] = {"execution_count": None, "outputs": []} if cell_type == "code" else {}
            file.cells.insert(at, {"cell_type": cell_type, "metadata": {}, "source": source, **code})
            file.ids.insert(at, cell_id)
            return _cell(file.cells[at], cell_id)

        return await self._files.change(path, insert)

    async def edit_cell(self, path: str, cell_id: str, source: str, base_hash: str | None) -> Cell:
        def edit(file: NotebookFile) -> Cell:
            cell = file.cells[index_of(file.ids, cell_id, path)]
            if base_hash is not None and cell_hash(source_of(cell)) != base_hash:
                raise stale(path, cell_id, source_of(cell))
            cell["source"] = source
            return _cell(cell, cell_id)

        return await self._files.change(path, edit)

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun:
        file = await self._files.load(path)
        cell = file.cells[index_of(file.ids, cell_id, path)]
        if cell["cell_type"] != "code":
            raise NotebookError("not_code", f"Cell {cell_id} of {path} is a {cell['cell_type']} cell: nothing to run.")
        kernel_id = await self._sessions.find_or_start(path, file.kernel_name)
        execution = KernelRun(self._kernels, kernel_id, progress)
        try:
            result = await execution.run(source_of(cell))
        except (asyncio.CancelledError, NotebookError):
            if execution.outputs:
                await self._keep(path, cell_id, execution.execution_count, execution.outputs)
            raise
        note = await self._keep(path, cell_id, result.execution_count, result.outputs)
        return replace(result, note=note)

    async def _keep(
        self, path: str, cell_id: str, execution_count: int | None, outputs: Sequence[Mapping[str, Any]]
    ) -> str | None:
        """Writes outputs into the cell; where that cannot be, the reason in words."""

        def keep(file: NotebookFile) -> None:
            cell = file.cells[index_of(file.ids, cell_id, path)]
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


def _cell(cell: Mapping[str, Any], cell_id: str) -> Cell:
    source = source_of(cell)
    return Cell(
        id=cell_id,
        cell_type=cell["cell_type"],
        source=source,
        hash=cell_hash(source),
        execution_count=cell.get("execution_count"),
        outputs=tuple(cell.get("outputs") or ()),
    )
