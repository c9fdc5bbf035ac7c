"""Toolsets: groups of tools for an agent, and how to call them."""

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
    """The agent for which a toolset is asked for its tools, and the folder of its own files."""

    agent_id: str
    workspace: Path


class Toolset(Protocol):
    """Tools that belong together. Asked once for each run, which keeps these tools until its end."""

    @property
    def name(self) -> str:
        """Its name in messages about failures."""
        ...

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        """The agent's tools, in the same order and wording as long as they are the same.

        A provider caches a request only as long as it does not change. If this raises, the run goes without these
        tools, and the user is told.
        """
        ...

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Runs one of them. Cancelling stops the work and everything it started. Raises: ToolError."""
        ...


class FixedToolset:
    """A constant list of tools that run themselves."""

    def __init__(self, name: str, given: Sequence[Tool[Any]]) -> None:
        self._name = name
        self._given = tuple(given)

    @property
    def name(self) -> str:
        """The toolset's name."""
        return self._name

    @property
    def given(self) -> Sequence[Tool[Any]]:
        """The tools, without awaiting."""
        return self._given

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        """All of them, for any agent."""
        return self.given

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Calls the tool itself."""
        return await tool.call(arguments, context)
