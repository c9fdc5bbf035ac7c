"""Health on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class ConfigProblem(Wire):
    """What is wrong at one key: `error` if its value is refused, `warning` if it has no effect.

    `line` is that of onyx.json; `variable` is set if the environment is at fault instead.
    """

    severity: Literal["error", "warning", "notice"]
    message: str
    key: str | None = None
    line: int | None = None
    variable: str | None = None


class Component(Wire):
    """One part's state; `hint` says what to do when it is not ok. Only `config` has `problems`."""

    ok: bool
    message: str
    hint: str | None = None
    problems: list[ConfigProblem] | None = None


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
