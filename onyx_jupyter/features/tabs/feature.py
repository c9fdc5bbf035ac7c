"""The browser tabs and the notebooks they have open."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.features.tabs.wire import (
    ClientRequest,
    ClientRespondParams,
    ClientShows,
    ClientShowsParams,
    ClientUpdateParams,
)
from onyx_jupyter.notebook.browser_tabs import OpenNotebook
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.event_type import EventType
from onyx_jupyter.operations.feature import Feature
from onyx_jupyter.operations.keys import HOST, TABS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok


async def update(params: ClientUpdateParams, caller: Caller) -> dict[str, Any]:
    notebooks = [OpenNotebook(notebook.path, notebook.active) for notebook in params.notebooks]
    caller.get(TABS).updated(caller.own_tab, notebooks, params.page_id, params.cards, params.folder)
    return {"ok": True}


async def respond(params: ClientRespondParams, caller: Caller) -> dict[str, Any]:
    given = params.error
    error = NotebookError(given.code, given.message, data=given.data) if given else None
    return {"ok": caller.get(TABS).responded(caller.own_tab, params.request_id, params.result, error)}


async def shows(params: ClientShowsParams, caller: Caller) -> dict[str, Any]:
    path = await caller.get(HOST).notebook_of(params.kernel_id)
    if path is None:
        return {"shown": False}
    shown = caller.get(TABS).tab_with(path) is not None
    return {"path": path, "shown": shown, "cards": caller.get(TABS).cards_with(path)}


FEATURE = Feature(
    "tabs",
    operations=(
        Operation("client.update", ClientUpdateParams, Ok, update, "chat", callers="tab"),
        Operation("client.respond", ClientRespondParams, Ok, respond, "chat", callers="tab"),
        Operation("client.shows", ClientShowsParams, ClientShows, shows, "read", callers="tab"),
    ),
    events=(EventType("client.request", ClientRequest),),
)
