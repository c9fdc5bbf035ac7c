"""`client.*`: what a browser tab tells of itself, and its answers to what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_tabs import OpenNotebook
from onyx_jupyter.server.wire import ClientRespondParams, ClientUpdateParams

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection


async def update(params: ClientUpdateParams, connection: Connection) -> dict[str, Any]:
    notebooks = [OpenNotebook(notebook.path, notebook.active) for notebook in params.notebooks]
    connection.service.tabs.updated(connection.tab, notebooks)
    return {"ok": True}


async def respond(params: ClientRespondParams, connection: Connection) -> dict[str, Any]:
    given = params.error
    error = NotebookError(given.code, given.message, data=given.data) if given else None
    return {"ok": connection.service.tabs.responded(connection.tab, params.request_id, params.result, error)}
