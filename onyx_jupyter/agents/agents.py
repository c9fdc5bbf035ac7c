"""What belongs to one agent: its folder, memory and allowed paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.config.problems import Problem
from onyx_jupyter.config.schema import AUTO_DEFAULT, AgentConfig
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.security.drive_folders import DriveFolders
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.toolsets.access import unknown_names
from onyx_jupyter.toolsets.tool import Tool


@dataclass(frozen=True)
class AgentParts:
    """One agent as currently configured.

    `templates` is the folder from which its workspace's first files were copied.
    """

    config: AgentConfig
    workspace: Path
    templates: Path
    memory: MemoryFiles
    paths: PathGuard


class Agents:
    """The agents of one server. `memory` creates one agent's memory, by id and workspace; `tools` returns all known."""

    def __init__(
        self,
        configured: Configured,
        memory: Callable[[str, Path], MemoryFiles],
        tools: Callable[[], Sequence[Tool[Any]]],
        server_root: Path,
        drive: DriveFolders | None,
    ) -> None:
        self._configured = configured
        self._memory = memory
        self._tools = tools
        self._server_root = server_root
        self._drive = drive
        self._known: dict[str, AgentParts] = {}
        self._known_since = 0

    def agent(self, agent_id: str | None) -> AgentParts:
        """One agent as currently configured; the default one for None. Raises: NotFound."""
        if self._known_since != self._configured.changes:
            self._known, self._known_since = {}, self._configured.changes
        config = self._configured.settings.agent(agent_id)
        if config.id not in self._known:
            self._known[config.id] = self._parts(config)
        return self._known[config.id]

    def problems(self) -> Sequence[Problem]:
        """What is wrong with the configuration, and unknown names in it."""
        config = self._configured.settings.config
        chosen = [name for name in config.security.auto if name not in AUTO_DEFAULT]
        tools = self._tools()
        agents = [
            f"Agent {one.id}: {problem}"
            for one in config.agents.items
            for key, names in (("tools.allow", one.tools.allow or ()), ("tools.deny", one.tools.deny))
            for problem in unknown_names(key, names, tools)
        ]
        unknown = [*agents, *unknown_names("security.auto", chosen, tools)]
        return [*self._configured.settings.problems, *(Problem("warning", words) for words in unknown)]

    def _parts(self, config: AgentConfig) -> AgentParts:
        home = self._configured.home
        workspace = home.workspace(config.id, config.workspace)
        return AgentParts(
            config=config,
            workspace=workspace,
            templates=self._configured.templates,
            memory=self._memory(config.id, workspace),
            paths=PathGuard(self._server_root, workspace, private=home.root, drive=self._drive),
        )
