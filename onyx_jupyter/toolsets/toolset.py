"""What a toolset is: tools that come together, for an agent, and the way to call them. It decides about no call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import Tool


@dataclass(frozen=True, slots=True)
class ToolsetContext:
    """For whom a toolset is asked what it has: an agent, and the folder of its own files."""

    agent_id: str
    workspace: Path


class Toolset(Protocol):
    """Tools that come together. Asked once for each run, which then has these tools until its end."""

    @property
    def name(self) -> str:
        """How people are told of it where it fails."""
        ...

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        """Those that the agent has, in the same order and words whenever they are the same: a provider keeps what it
        has read only as long as it does not change.

        What is raised here leaves the run without these tools, and the person is told.
        """
        ...

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Runs one of them. Cancelling stops the work and everything it started. Raises: ToolError."""
        ...


class FixedToolset:
    """Always these tools, each of which knows how to run."""

    def __init__(self, name: str, given: Sequence[Tool[Any]]) -> None:
        self._name = name
        self._given = tuple(given)

    @property
    def name(self) -> str:
        """Of the toolset."""
        return self._name

    @property
    def given(self) -> Sequence[Tool[Any]]:
        """The tools, without a wait."""
        return self._given

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        """All of them, for whomever."""
        return self.given

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """As the tool does it."""
        return await tool.call(arguments, context)
