"""Browser tabs on the socket: what they have open, and the requests sent to them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class OpenNotebook(Wire):
    """A notebook that a tab has open; `active` is the one in front."""

    path: str
    active: bool = False


class ClientUpdateParams(Wire):
    """What this tab has open now; it replaces what the tab said before.

    `page_id` stays the same over all connections of a page, of which only the newest counts. `cards` are the MIME types
    of ours that it draws; a page from before an upgrade does not know the newest. `folder` is the one that its file
    browser shows, None where it has none.
    """

    notebooks: list[OpenNotebook] = Field(max_length=500)
    page_id: str | None = Field(default=None, max_length=100)
    cards: list[str] = Field(default_factory=list, max_length=50)
    folder: str | None = Field(default=None, max_length=4_096)


class ClientShowsParams(Wire):
    """A kernel asks for the notebook that it runs."""

    kernel_id: str = Field(max_length=200)


class ClientShows(Wire):
    """`path` is the notebook of that kernel, where this server has started it; `shown` says that a tab has it open.

    `cards` are the MIME types of ours that every tab which has it open draws.
    """

    shown: bool
    path: str | None = None
    cards: list[str] = Field(default_factory=list)


class ClientError(Wire):
    """Why a tab could not do it.

    Codes: not_open, no_cell, stale, cell_exists, would_empty, too_large, no_kernel, kernel_died, not_code, no_run,
    kernel_busy, closed, bad_request, internal.
    """

    code: str
    message: str
    data: dict[str, Any] | None = None


class ClientRespondParams(Wire):
    request_id: str
    result: dict[str, Any] | None = None
    error: ClientError | None = None


class ClientRequest(Wire):
    """Asked of one tab alone. Actions: notebook.read, .apply, .wait, .run, .join, .interrupt, .restart, .open.

    notebook.read {path, from, inFull, only?, last?} answers all cells, or those of `only` and the `last` ones, with
    `sizes` [[id, source chars], …] of all. notebook.run {path, cellId, runKey, baseHash?} refuses (stale) a cell
    that has another source when its turn comes.
    """

    request_id: str
    action: str
    params: dict[str, Any]
