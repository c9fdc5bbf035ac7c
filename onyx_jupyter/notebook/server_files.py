"""Notebooks as files of the Jupyter server: taken away, and followed when they are renamed. It never reads one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from onyx_jupyter.errors import NotebookError

CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"


def remover(contents_manager: Any) -> Callable[[str], Awaitable[None]]:
    """Deletes a file as the file browser does: into the system's bin, where the server is set up so."""

    async def remove(path: str) -> None:
        try:
            await ensure_async(contents_manager.delete(path))
        except HTTPError as error:
            reason = error.log_message or error.reason or f"error {error.status_code}"
            raise NotebookError("not_removed", f"{path} could not be removed: {reason}") from error

    return remove


def follow_renames(event_logger: Any, renamed: Callable[[str, str], Awaitable[None]]) -> None:
    """Calls `renamed` with the old and the new path of every file and folder that gets another name."""

    async def on_event(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        if data.get("action") == "rename" and data.get("source_path") and data.get("path"):
            await renamed(str(data["source_path"]).strip("/"), str(data["path"]).strip("/"))

    event_logger.add_listener(schema_id=CONTENTS_EVENTS, listener=on_event)
