"""Onyx's tools for an agent by MCP, during an answer and between answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from onyx_jupyter.agent.run import Run
from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.messages import ToolDefinition, ToolResult
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS
from onyx_jupyter.toolsets.registry import ToolRegistry

LEFT_OUT = frozenset({MORE_TOOLS, "plan_update"})
"""An agent gets every tool by name, and has a plan of its own."""


class CallsTools(Protocol):
    """An answer being made."""

    @property
    def run(self) -> Run: ...

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Calls one of the run's tools as the run itself would."""
        ...


class SessionTools:
    """The tools of one session. `turn` is the answer being made, None between answers: then there are none to call."""

    def __init__(self) -> None:
        self.turn: CallsTools | None = None
        self._definitions: tuple[ToolDefinition, ...] = ()

    def offer(self, tools: ToolRegistry) -> bool:
        """The agent is told of these from now on; returns whether they differ from those before."""
        before = self._definitions
        self._definitions = tuple(tools.get(name).definition() for name in tools.names if name not in LEFT_OUT)
        return before != self._definitions

    def definitions(self) -> Sequence[ToolDefinition]:
        if self.turn is not None:
            self.offer(self.turn.run.tools)  # a stricter mode may have been chosen meanwhile
        return self._definitions

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Raises: InvalidRequest."""
        if self.turn is None:
            raise InvalidRequest("No answer is being made in this session now, so no tool can be called.")
        return await self.turn.call_tool(name, arguments)
