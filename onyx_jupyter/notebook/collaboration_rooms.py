"""Finds the rooms in which jupyter-collaboration has notebooks open. It works without that package."""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.paths import NotebookPaths

_EXTENSION = "jupyter_server_ydoc"
_PREFIX = "json:notebook:"
_READY_S = 15.0
_POLL_S = 0.05


class CollaborationRooms:
    """The rooms of a Jupyter server. Without jupyter-collaboration there are none.

    A room is looked up among the live ones by path, so that a lookup indexes no file and creates no room: a room that
    is not created by a front end may hold each cell twice.
    """

    def __init__(self, server_app: Any, paths: NotebookPaths) -> None:
        self._server = server_app
        self._paths = paths

    def has(self, path: str) -> bool:
        """Whether the notebook is open in a room."""
        return self._room_id(path) is not None

    async def document(self, path: str) -> Any:
        """The shared `YNotebook` itself, loaded, while its content is not being replaced.

        Raises: NotebookError (no_room, room_not_ready).
        """
        try:
            async with asyncio.timeout(_READY_S):
                return await self._ready_document(path)
        except TimeoutError:
            raise NotebookError(
                "room_not_ready", f"{path} is open for working together, and has not loaded for {_READY_S:g} s."
            ) from None

    async def is_writable(self, path: str) -> bool:
        """Whether the room can save changes: it silently skips saving a read-only file."""
        try:
            model = await ensure_async(self._server.contents_manager.get(path, content=False))
        except HTTPError:  # the file is gone by now, and the room may create it again
            return True
        return model.get("writable") is not False

    async def _ready_document(self, path: str) -> Any:
        """A registered room may not have read its file yet: an edit would be lost, or replace the file."""
        while True:
            room_id = self._room_id(path)
            extension = self._extension()
            if room_id is None or extension is None:
                raise NotebookError("no_room", f"{path} is no longer in a room.")
            room = extension.ywebsocket_server.rooms.get(room_id)
            document = await extension.get_document(room_id=room_id, copy=False) if room else None
            if document is not None and getattr(room, "ready", True) and not _is_loading(room):
                return document
            await asyncio.sleep(_POLL_S)

    def _room_id(self, path: str) -> str | None:
        extension = self._extension()
        file_ids = self._server.web_app.settings.get("file_id_manager")
        if extension is None or file_ids is None:
            return None
        wanted = self._paths.canonical(path)
        for room_id in list(extension.ywebsocket_server.rooms):
            if isinstance(room_id, str) and room_id.startswith(_PREFIX):
                found = file_ids.get_path(room_id.removeprefix(_PREFIX))
                if found is not None and self._paths.canonical(found) == wanted:
                    return room_id
        return None

    def _extension(self) -> Any:
        """The collaboration extension once it runs; its server is created together with its handlers."""
        apps = self._server.extension_manager.extension_apps.get(_EXTENSION) or ()
        return next((app for app in apps if hasattr(app, "ywebsocket_server")), None)


def _is_loading(room: Any) -> bool:
    """Whether the room's content is being replaced from its file at this moment."""
    lock = getattr(room, "_update_lock", None)
    return isinstance(lock, asyncio.Lock) and lock.locked()
