"""Health, agents and models on the socket."""

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
    ceiling: ServerCeiling | None = Field(default=None, description="missing where nothing is forbidden")


class Agent(Wire):
    id: str
    name: str
    model: str = Field(description="provider/model; empty where none can answer yet")
    default: bool
    workspace: str


class Agents(Wire):
    agents: list[Agent]


class ModelsListParams(Wire):
    refresh: bool = False


class ModelInfo(Wire):
    """A `locked` one is not allowed on this server: it is shown and cannot be chosen.

    `tool_mode` is how it acts unless a message says otherwise.
    """

    id: str
    provider: str
    local: bool
    tools: bool
    locked: bool = False
    tool_mode: Literal["cell", "tools"] = "tools"


class ModelList(Wire):
    models: list[ModelInfo]
