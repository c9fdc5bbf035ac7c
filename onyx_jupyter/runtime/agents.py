"""What belongs to one agent: its folder, memory, tools and allowed paths. It never runs anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.config.paths import Home
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.drive_folders import DriveFolders
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.tools.access import allowed_tools
from onyx_jupyter.tools.spec import Tool


@dataclass(frozen=True)
class AgentParts:
    """One agent as it is set up now.

    `templates` is the folder that its workspace's first files came from, `problems` are names in its configuration that
    mean nothing.
    """

    config: AgentConfig
    workspace: Path
    templates: Path
    memory: MemoryFiles
    paths: PathGuard
    tools: Sequence[Tool[Any]]
    problems: tuple[str, ...] = ()


def agent_parts(
    config: AgentConfig,
    home: Home,
    templates: Path,
    server_root: Path,
    memory: Callable[[str, Path], MemoryFiles],
    all_tools: Callable[[], Sequence[Tool[Any]]],
    drive: DriveFolders | None,
) -> AgentParts:
    """The agent's parts."""
    workspace = home.workspace(config.id, config.workspace)
    access = allowed_tools(all_tools(), config.tools.allow, config.tools.deny)
    return AgentParts(
        config=config,
        workspace=workspace,
        templates=templates,
        memory=memory(config.id, workspace),
        paths=PathGuard(server_root, workspace, private=home.root, drive=drive),
        tools=access.tools,
        problems=access.problems,
    )
