"""Health on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class Component(Wire):
    """One part's state; `hint` says what to do when it is not ok."""

    ok: bool
    message: str
    hint: str | None = None


class ServerCeiling(Wire):
    """What the server's administrator allows at most; `providers` is missing where all are allowed."""

    deny: list[str]
    modes: list[Literal["ask", "agent", "auto"]]
    providers: list[str] | None = None
    allow_always: bool


class Health(Wire):
    status: Literal["ok", "degraded"]
    uptime: float = Field(description="seconds since the extension was loaded")
    version: str
    components: dict[str, Component]
    ceiling: ServerCeiling | None = Field(default=None, description="omitted if nothing is restricted")
