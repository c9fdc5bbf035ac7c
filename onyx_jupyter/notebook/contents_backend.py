"""Works on a notebook that is open nowhere: its file, through the contents API."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.cell_changes import apply_steps, plan
from onyx_jupyter.notebook.cells import cell_views, source_of, wanted_places
from onyx_jupyter.notebook.collaboration_rooms import CollaborationRooms
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.notebook_file import NotebookFile, NotebookFiles
from onyx_jupyter.protocols import AppliedChange, CellChange, CellSize, InsertCell, NbCell, NotebookCells, NotebookView


class ContentsBackend:
    """Notebooks as files. Refuses to write to one that a front end has open (open_in_tab, open_elsewhere)."""

    def __init__(
        self,
        contents_manager: Any,
        sessions: KernelSessions,
        tabs: TabRequests,
        rooms: CollaborationRooms,
    ) -> None:
        self._files = NotebookFiles(contents_manager, self._refuse_open)
        self._sessions = sessions
        self._tabs = tabs
        self._rooms = rooms

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        file = await self._files.load(path)
        session = await self._sessions.find(path)
        return NotebookView(
            path=path,
            cells=cell_views(file.cells, in_full),
            backend="contents",
            kernel_name=session.kernel_name if session else file.kernel_name,
            kernel_status=session.status if session else None,
        )

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        file = await self._files.load(path)
        session = await self._sessions.find(path)
        wanted = [file.cells[at] for at in wanted_places(file.ids, ids, last)]
        return NotebookCells(
            path=path,
            order=tuple(CellSize.of(cell["id"], source_of(cell)) for cell in file.cells),
            cells=cell_views(wanted, in_full),
            kernel_name=session.kernel_name if session else file.kernel_name,
        )

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        def make(file: NotebookFile) -> tuple[AppliedChange, ...]:
            steps = plan(file.cells, file.ids, changes, path)
            file.content["cells"] = apply_steps(file.cells, steps)
            return tuple(step.applied for step in steps)

        return await self._files.change(path, make)

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        """Writes the kernel's name and language, as JupyterLab does; None uses the server's default kernel."""
        if not path.endswith(".ipynb"):
            raise NotebookError("bad_name", f"A notebook's name ends in .ipynb, and {path} does not.")
        steps = plan((), (), [InsertCell(cell) for cell in cells], path)
        metadata = {"kernelspec": await self._sessions.kernelspec(path, kernel_name)}
        content = {"cells": apply_steps((), steps), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
        await self._files.create(path, content)
        return await self.read(path)

    async def has(self, path: str) -> bool:
        """Whether a file of that name exists."""
        return await self._files.has(path)

    async def _refuse_open(self, path: str) -> None:
        """Raises: NotebookError if a front end shows the notebook and would keep its own version."""
        if self._tabs.tab_with(path) is not None:
            raise NotebookError("open_in_tab", f"{path} is open in a browser tab, which keeps its own version of it.")
        if self._rooms.has(path):
            raise NotebookError("open_in_room", f"{path} is open in a collaboration room, which keeps its own version.")
        session = await self._sessions.find(path)
        if session is not None and session.connections:
            raise NotebookError(
                "open_elsewhere",
                f"{path} is open in a front end that Onyx cannot reach, and writing under it would lose work there. "
                "Open it in JupyterLab with Onyx, or close it.",
            )
