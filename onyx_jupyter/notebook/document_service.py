"""The one door to notebooks: chooses at each call where a notebook is worked on. It never edits one itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import BrowserTabs
from onyx_jupyter.notebook.contents_backend import ContentsBackend
from onyx_jupyter.notebook.kernel_sessions import KernelSessions
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.protocols import AppliedChange, CellChange, CellRun, NbCell, Notebooks, NotebookView
from onyx_jupyter.security.drive_folders import DriveFolders

T = TypeVar("T")

# Codes by which a backend says that nothing was done because another one is right by now.
_ELSEWHERE = ("not_open", "open_in_tab")
_CHOICES = 3


class Backend(Protocol):
    """One way to a notebook that exists; the methods are those of `Notebooks`."""

    async def read(self, path: str) -> NotebookView: ...

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]: ...

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun: ...


class DocumentService:
    """Notebooks by path and cell id: through the tab that has one open, else as a file."""

    def __init__(self, tabs: BrowserTabs, paths: NotebookPaths, *, browser: Backend, contents: Notebooks) -> None:
        self._tabs = tabs
        self._paths = paths
        self._browser = browser
        self._contents = contents

    async def read(self, path: str) -> NotebookView:
        # Reading twice harms nobody, so a tab that goes away in the middle is no reason to fail.
        return await self._at(path, lambda backend, name: backend.read(name), again_after=("tab_gone",))

    async def apply(self, path: str, changes: Sequence[CellChange]) -> tuple[AppliedChange, ...]:
        return await self._at(path, lambda backend, name: backend.apply(name, changes))

    async def create(self, path: str, cells: Sequence[NbCell], kernel_name: str | None = None) -> NotebookView:
        return await self._contents.create(self._paths.canonical(path), cells, kernel_name)

    async def run_cell(self, path: str, cell_id: str, progress: Callable[[str], None]) -> CellRun:
        return await self._at(path, lambda backend, name: backend.run_cell(name, cell_id, progress))

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
                if error.code not in (*_ELSEWHERE, *again_after) or not choices_left:
                    raise

    async def _choose(self, path: str) -> Backend:
        await self._tabs.settled(path)
        return self._browser if self._tabs.tab_with(path) is not None else self._contents


def document_service(
    server_app: Any, tabs: BrowserTabs, paths: NotebookPaths, contents_manager: Any | None = None
) -> DocumentService:
    """The service over a running Jupyter server's own managers; `contents_manager` in the place of its own."""
    sessions = kernel_sessions(server_app, paths)
    contents = ContentsBackend(
        contents_manager or server_app.contents_manager, server_app.kernel_manager, sessions, tabs
    )
    return DocumentService(tabs, paths, browser=BrowserBackend(tabs), contents=contents)


def kernel_sessions(server_app: Any, paths: NotebookPaths) -> KernelSessions:
    """The kernels of that server's notebooks."""
    return KernelSessions(server_app.session_manager, server_app.kernel_manager, server_app.kernel_spec_manager, paths)


def notebook_paths(server_app: Any, drive: DriveFolders | None = None) -> NotebookPaths:
    """Paths of that server and of Onyx's drive; where its contents are files, links are followed."""
    root = getattr(server_app.contents_manager, "root_dir", None)
    return NotebookPaths(Path(root) if root else None, drive)
