"""Notebooks as files of the Jupyter server: removes them, and follows renames."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.collaboration_rooms import CollaborationRooms
from onyx_jupyter.notebook.kernel_sessions import KernelSessions

CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"


def remover(
    contents_manager: Any, tabs: TabRequests, rooms: CollaborationRooms, sessions: KernelSessions
) -> Callable[[str], Awaitable[None]]:
    """Deletes a file as the file browser does: into the system's trash, if the server is configured so.

    Refuses (open_in_tabs, open_elsewhere) if the notebook may be open with unsaved work.
    """

    async def remove(path: str) -> None:
        if not rooms.has(path):
            await _refuse_open(path, tabs, sessions)
        try:
            await ensure_async(contents_manager.delete(path))
        except HTTPError as error:
            reason = error.log_message or error.reason or f"error {error.status_code}"
            raise NotebookError("not_removed", f"{path} could not be removed: {reason}") from error

    return remove


async def _refuse_open(path: str, tabs: TabRequests, sessions: KernelSessions) -> None:
    count = tabs.count_with(path)
    if count > 1:
        raise NotebookError(
            "open_in_tabs",
            f"{path} is open in {count} browser windows, each with its own version of it. Close all but one.",
        )
    session = None if count else await sessions.find(path)
    if session is not None and session.connections:
        raise NotebookError(
            "open_elsewhere",
            f"{path} is open in a front end that Onyx cannot reach, whose unsaved work would be lost. Close it there.",
        )


async def _ignored(path: str) -> None:
    """Ignores the event."""


def follow_renames(
    event_logger: Any,
    renamed: Callable[[str, str], Awaitable[None]],
    *,
    saved: Callable[[str], Awaitable[None]] = _ignored,
    deleted: Callable[[str], Awaitable[None]] = _ignored,
) -> None:
    """Calls `renamed` with the old and the new path of every renamed file and folder.

    Calls `saved` and `deleted` with the path of every saved or deleted one.
    """

    heard = {"save": saved, "delete": deleted}

    async def on_event(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        action, path = data.get("action"), str(data.get("path") or "").strip("/")
        if action == "rename" and path and data.get("source_path"):
            await renamed(str(data["source_path"]).strip("/"), path)
        elif action in heard and path:
            await heard[action](path)

    event_logger.add_listener(schema_id=CONTENTS_EVENTS, listener=on_event)
