"""Health, agents and models on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.server.wire.base import Wire


class Component(Wire):
    """One part's state; `hint` says what to do when it is not ok."""

    ok: bool
    message: str
    hint: str | None = None


class Health(Wire):
    status: Literal["ok", "degraded"]
    uptime: float = Field(description="seconds since the extension was loaded")
    version: str
    components: dict[str, Component]


class Agent(Wire):
    id: str
    name: str
    model: str
    default: bool
    workspace: str


class Agents(Wire):
    agents: list[Agent]


class ModelsListParams(Wire):
    refresh: bool = False


class ModelInfo(Wire):
    id: str
    provider: str
    local: bool
    tools: bool


class ModelList(Wire):
    models: list[ModelInfo]
