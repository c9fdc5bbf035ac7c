"""Agents on the socket."""

from __future__ import annotations

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class Agent(Wire):
    id: str
    name: str
    model: str = Field(description="provider/model; empty if none can answer yet")
    default: bool
    workspace: str


class Agents(Wire):
    agents: list[Agent]
