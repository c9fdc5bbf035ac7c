"""What belongs to one agent: its folder, memory, tools and allowed paths. It never runs anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.tools.registry import ToolRegistry
from onyx_jupyter.tools.spec import Tool

Mode = str
ASK = "ask"


@dataclass(frozen=True)
class AgentParts:
    """One agent as it is set up now."""

    config: AgentConfig
    workspace: Path
    memory: MemoryFiles
    paths: PathGuard
    tools: ToolRegistry

    def tools_in(self, mode: Mode | None) -> ToolRegistry:
        """What the agent has in this mode: in `ask` only what reads, whatever a model may call."""
        tools = (self.tools.get(name) for name in self.tools.names)
        return ToolRegistry(tool for tool in tools if mode != ASK or tool.risk == "read")


def agent_parts(
    config: AgentConfig, home: Home, server_root: Path, clock: Clock, all_tools: Callable[[], Sequence[Tool[Any]]]
) -> AgentParts:
    """The agent's parts; `tools.deny` wins over `tools.allow`."""
    workspace = home.workspace(config.id, config.workspace)
    tools = [tool for tool in all_tools() if _is_allowed(tool.name, config)]
    return AgentParts(
        config=config,
        workspace=workspace,
        memory=MemoryFiles(workspace, clock, project=server_root),
        paths=PathGuard(server_root, workspace),
        tools=ToolRegistry(tools),
    )


def _is_allowed(name: str, config: AgentConfig) -> bool:
    return name not in config.tools.deny and (config.tools.allow is None or name in config.tools.allow)
