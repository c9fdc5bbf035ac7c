"""The single entry point to notebooks: chooses for each call where a notebook is worked on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.cell_runs import CellRuns
from onyx_jupyter.notebook.collaboration_rooms import CollaborationRooms
from onyx_jupyter.notebook.contents_backend import ContentsBackend
from onyx_jupyter.notebook.drawn_figures import DrawnFigures
from onyx_jupyter.notebook.kernel_inspection import KernelInspection
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.notebook.renames import Renames
from onyx_jupyter.notebook.room_backend import RoomBackend
from onyx_jupyter.notebook.server_files import follow_renames
from onyx_jupyter.protocols import AppliedChange, CellChange, CellRun, NbCell, NotebookCells, NotebookView
from onyx_jupyter.security.drive_folders import DriveFolders

T = TypeVar("T")

# Codes by which a backend says that it did nothing because another backend is now the right one.
_ELSEWHERE = ("not_open", "open_in_tab", "no_room", "open_in_room")
_CHOICES = 3

Backend = BrowserBackend | RoomBackend | ContentsBackend
"""One way to access an existing notebook."""


class DocumentService:
    """Notebooks by path and cell id: through the tab that has one open, else the room that has, else as a file."""

    def __init__(
        self,
        tabs: TabRequests,
        rooms: CollaborationRooms,
        paths: NotebookPaths,
        *,
        browser: BrowserBackend,
        room: RoomBackend,
        contents: ContentsBackend,
        kernel_manager: Any,
        sessions: KernelSessions,
    ) -> None:
        self._tabs = tabs
        self._rooms = rooms
        self._paths = paths
        self._renames = Renames(paths)
        self._browser = browser
        self._room = room
        self._contents = contents
        self._sessions = sessions
        self._figures = DrawnFigures(KernelInspection(kernel_manager))
        self._runs = CellRuns(kernel_manager, sessions, self, self._is_watched, self._figures)

    async def read(self, path: str, in_full: Collection[str] = ()) -> NotebookView:
        # Reading twice is harmless, so a tab that goes away halfway is no reason to fail.
        return await self._at(path, lambda backend, name: backend.read(name, in_full), again_after=("tab_gone",))

    async def read_cells(
        self, path: str, ids: Collection[str], in_full: Collection[str] = (), *, last: int = 0
    ) -> NotebookCells:
        return await self._at(
            path, lambda backend, name: backend.read_cells(name, ids, in_full, last=last), again_after=("tab_gone",)
        )

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        return await self._at(path, lambda backend, name: backend.apply(name, changes))

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        return await self._contents.create(self._paths.canonical(path), cells, kernel_name)

    async def run_cell(
        self,
        path: str,
        cell_id: str,
        progress: Callable[[str], None],
        *,
        base_hash: str | None = None,
        began: Callable[[], None] = lambda: None,
    ) -> CellRun:
        async def run(backend: Backend, name: str) -> CellRun:
            if backend is self._browser:
                session = await self._sessions.find(name)
                return await self._figures.with_figures(
                    session.kernel_id if session else None,
                    lambda: self._browser.run_cell(name, cell_id, progress, base_hash=base_hash, began=began),
                )
            return await self._runs.run(await backend.read_cells(name, [cell_id]), cell_id, progress, base_hash, began)

        return await self._at(path, run)

    async def renamed(self, old_path: str, new_path: str) -> None:
        """A file or a folder was renamed; calls with the old path are redirected to the new one."""
        self._renames.note(old_path, new_path)

    async def saved(self, path: str) -> None:
        """A file was saved under that name, so the name is no longer redirected."""
        self._renames.taken(path)

    async def deleted(self, path: str) -> None:
        """A file or a folder was deleted, so its name is no longer redirected."""
        self._renames.deleted(path)

    async def path_now(self, path: str) -> str:
        """The path that `path` refers to: a renamed notebook's new one, unless the old name is in use again."""
        name = self._paths.canonical(path)
        for _ in range(_CHOICES):
            moved = self._renames.path_now(name)
            if moved is None or self._is_watched(name) or await self._contents.has(name):
                break
            name = moved
        return name

    async def _at(
        self, path: str, operation: Callable[[Backend, str], Awaitable[T]], again_after: tuple[str, ...] = ()
    ) -> T:
        name = self._paths.canonical(path)
        choices_left = _CHOICES
        while True:
            backend = await self._choose(name)
            choices_left -= 1
            try:
                return await operation(backend, name)
            except NotebookError as error:
                moved = self._renames.path_now(name) if error.code == "not_found" else None
                if moved is not None and choices_left:
                    name = moved
                elif error.code not in (*_ELSEWHERE, *again_after) or not choices_left:
                    raise

    async def _choose(self, path: str) -> Backend:
        await self._tabs.settled(path)
        if self._tabs.tab_with(path) is not None:
            return self._browser
        return self._room if self._rooms.has(path) else self._contents

    def _is_watched(self, path: str) -> bool:
        return self._tabs.tab_with(path) is not None or self._rooms.has(path)


def document_service(
    server_app: Any, tabs: TabRequests, paths: NotebookPaths, contents_manager: Any | None = None
) -> DocumentService:
    """The service over a running Jupyter server's managers; `contents_manager` replaces the server's own."""
    sessions = kernel_sessions(server_app, paths)
    rooms = CollaborationRooms(server_app, paths)
    contents = contents_manager or server_app.contents_manager
    service = DocumentService(
        tabs,
        rooms,
        paths,
        browser=BrowserBackend(tabs, interrupt=sessions.interrupt, is_shared=rooms.has),
        room=RoomBackend(rooms, sessions),
        contents=ContentsBackend(contents, sessions, tabs, rooms),
        kernel_manager=server_app.kernel_manager,
        sessions=sessions,
    )
    follow_renames(server_app.event_logger, service.renamed, saved=service.saved, deleted=service.deleted)
    return service


def kernel_sessions(server_app: Any, paths: NotebookPaths) -> KernelSessions:
    """The kernels of that server's notebooks."""
    return KernelSessions(server_app.session_manager, server_app.kernel_manager, server_app.kernel_spec_manager, paths)


def notebook_paths(server_app: Any, drive: DriveFolders | None = None) -> NotebookPaths:
    """Paths of that server and of Onyx's drive; follows links if the server's contents are files."""
    root = getattr(server_app.contents_manager, "root_dir", None)
    return NotebookPaths(Path(root) if root else None, drive)
