"""Onyx within one Jupyter server: connects it to the server's managers and to the clients."""

from __future__ import annotations

import asyncio
import logging
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

from onyx_jupyter.app.onyx import Onyx
from onyx_jupyter.clock import IdSource, SystemClock
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.config.paths import Home
from onyx_jupyter.errors import OnyxError
from onyx_jupyter.features.memory.memories import MEMORIES
from onyx_jupyter.features.notebooks.review_service import NOTEBOOK_REVIEW
from onyx_jupyter.features.skills.library import PROJECT_FOLDER
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.collaboration_rooms import CollaborationRooms
from onyx_jupyter.notebook.document_service import document_service, kernel_sessions, notebook_paths
from onyx_jupyter.notebook.file_access import NotebookPlaces
from onyx_jupyter.notebook.kernel_service import KernelService
from onyx_jupyter.notebook.server_files import follow_renames, remover
from onyx_jupyter.operations.host import Host
from onyx_jupyter.operations.keys import CONFIGURED, TABS
from onyx_jupyter.security.drive_folders import DRIVE_PREFIX
from onyx_jupyter.server.connection import Connection
from onyx_jupyter.server.drive.contents import drive_contents
from onyx_jupyter.server.drive.merged_contents import MergedContents
from onyx_jupyter.server.drive.onyx_drive import onyx_drive
from onyx_jupyter.server.log import Log
from onyx_jupyter.server.packages import Packages

log = logging.getLogger(__name__)

SHARED = Path("share") / "onyx_jupyter"


def installed(name: str) -> Path:
    """Where an installation put one of its folders: the environment, the system, or the user's own packages."""
    places = (
        sys.prefix,
        sysconfig.get_path("data"),
        sysconfig.get_path("data", sysconfig.get_preferred_scheme("user")),
    )
    found = (Path(place) / SHARED / name for place in places)
    return next((folder for folder in found if folder.is_dir()), Path(sys.prefix) / SHARED / name)


def installed_templates() -> Path:
    """Templates of the first workspace."""
    return installed("workspace")


def installed_skills() -> Path:
    """The skills that come with the package."""
    return installed("skills")


class Service:
    """The Onyx instance of a server and its connections."""

    def __init__(self, server_app: Any, ceiling: Ceiling, packages: Packages) -> None:
        home = Home.from_environment()
        root = Path(server_app.root_dir)
        drive = onyx_drive(
            home,
            lambda: self.onyx.get(CONFIGURED).workspaces(),
            project_skills=root / PROJECT_FOLDER,
            packaged_skills=installed_skills(),
        )
        self.drive_contents = drive_contents(
            server_app, drive, home, lambda places: self.onyx.get(MEMORIES).noting(places)
        )
        contents = MergedContents(server_app.contents_manager, self.drive_contents)
        paths = notebook_paths(server_app, drive)
        sessions = kernel_sessions(server_app, paths)
        rooms = CollaborationRooms(server_app, paths)
        self._tabs = TabRequests(IdSource(SystemClock()), paths)
        self.documents = document_service(server_app, self._tabs, paths, contents)
        host = Host(
            home,
            root,
            self.documents,
            installed_templates(),
            packaged_skills=installed_skills(),
            drive=drive,
            open_notebooks=self._tabs.open_notebooks,
            open_folder=self._tabs.open_folder,
            show_notebook=self._tabs.show,
            notebook_of=sessions.notebook_of,
            kernels=KernelService(server_app.kernel_manager, sessions, self._tabs),
            installed_toolsets=packages.toolsets,
            places=NotebookPlaces(
                paths.canonical, remover(contents, self._tabs, rooms, sessions), self.documents.path_now
            ),
            secrets=lambda: _server_secrets(server_app),
            ceiling=ceiling,
            on_settings=lambda settings: self._log.configure(settings.config.logging),
        )
        self.onyx = Onyx(host, packages.features, lent={TABS: self._tabs}, failed=packages.failed)
        follow_renames(server_app.event_logger, self._notebook_renamed)
        follow_renames(
            self.drive_contents.event_logger,
            self._renamed_on_drive,
            saved=lambda path: self.documents.saved(DRIVE_PREFIX + path),
            deleted=lambda path: self.documents.deleted(DRIVE_PREFIX + path),
        )
        self._warming: asyncio.Task[None] | None = None
        self._log = Log(home.log_file, self.onyx.get(CONFIGURED).redact_data)

    def connect(self, send: Callable[[str], None], user: str) -> Connection:
        """A new client. The first one prepares the home; heavy work waits until somebody writes."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm(), name="onyx warm-up")
        return Connection(self.onyx, self._tabs, send, user)

    async def start(self) -> None:
        """Continues unfinished work from before this server's start; no client has to be connected."""
        try:
            await self.onyx.ready()
        except OnyxError as error:
            log.error("Onyx could not start: %s", error)

    async def warmed(self) -> None:
        """Returns when the preparation that the first client started is done."""
        if self._warming is not None:
            await asyncio.wait([self._warming])

    async def close(self) -> None:
        """Ends all work when the server shuts down; an error here would keep Jupyter from exiting."""
        if self._warming is not None:
            self._warming.cancel()
        try:
            await self.onyx.close()
        except Exception:
            log.exception("Onyx did not shut down cleanly")
        await asyncio.to_thread(self._log.close)

    async def _renamed_on_drive(self, old: str, new: str) -> None:
        await self.documents.renamed(DRIVE_PREFIX + old, DRIVE_PREFIX + new)
        await self._notebook_renamed(DRIVE_PREFIX + old, DRIVE_PREFIX + new)

    async def _notebook_renamed(self, old: str, new: str) -> None:
        """Recorded changes of the notebook, or of the notebooks in a folder, move to the new path."""
        await self.onyx.ready()
        await self.onyx.get(NOTEBOOK_REVIEW).renamed(old, new)

    async def _warm(self) -> None:
        try:
            await self.onyx.warm()
        except OnyxError as error:
            log.error("Onyx could not start: %s", error)
        except Exception:
            log.exception("Onyx could not be warmed up")


def _server_secrets(server_app: Any) -> dict[str, str]:
    """The server's own secrets, value → kind."""
    token = getattr(server_app.identity_provider, "token", "")
    return {token: "jupyter-token"} if token else {}
