"""The toolsets of an agent's own Python files, `<workspace>/tools/*.py`. Only files that a person trusts are run.

A file is trusted like a skill: by its exact content, in the skills panel, and again after each change. What runs is the
text that was trusted, not what is on disk by then.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from types import ModuleType
from typing import Any

from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.skills.skill import Listed, Skill
from onyx_jupyter.toolsets.access import WORKSPACE
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import Toolset, ToolsetContext
from onyx_jupyter.toolsets.wrappers import WithFamily

log = logging.getLogger(__name__)
_MODULES = "onyx_tool_file"
_HOW_TO_TRUST = "Review it under Skills in the sidebar and trust it there"


class ToolFiles:
    """`listed` returns an agent's tool files, and whether each is trusted."""

    def __init__(self, listed: Callable[[str], Awaitable[Sequence[Listed]]]) -> None:
        self._listed = listed
        self._loaded: dict[str, Sequence[Tool[Any]]] = {}
        self._loading = asyncio.Lock()

    async def toolsets(self, agent_id: str) -> Sequence[Toolset]:
        """One per file, by name. After a failure here, the agent still answers, without these tools."""
        try:
            files = await self._listed(agent_id)
        except Exception:
            log.exception("The tool files of agent %s could not be listed", agent_id)
            return []
        return [WithFamily(_ToolFile(item, self), WORKSPACE) for item in files]

    async def load(self, skill: Skill) -> Sequence[Tool[Any]]:
        """The file's tools. Its code runs once per version, and again after a failure: a package may be installed now.

        Raises: whatever the code raises; ToolError.
        """
        async with self._loading:
            if skill.digest not in self._loaded:
                self._loaded[skill.digest] = await asyncio.to_thread(_run, skill)
        return self._loaded[skill.digest]


class _ToolFile:
    """The tools of one file as it is now."""

    def __init__(self, item: Listed, files: ToolFiles) -> None:
        self._item = item
        self._files = files

    @property
    def name(self) -> str:
        return f"tools/{self._item.skill.name}"

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        if self._item.state == "untrusted" or not self._item.trusted:
            raise ToolError(f"{self._item.reason or 'It has not been trusted yet.'} {_HOW_TO_TRUST}")
        if self._item.state != "ready":
            raise ToolError(self._item.reason or self._item.state)
        return await self._files.load(self._item.skill)

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        return await tool.call(arguments, context)


def _run(skill: Skill) -> Sequence[Tool[Any]]:
    """Runs the file, and returns every tool that has a name in it."""
    name = f"{_MODULES}_{skill.path.stem}_{skill.digest[:12]}"
    module = ModuleType(name, skill.description)
    module.__file__ = str(skill.path)
    code = compile(skill.text, str(skill.path), "exec", dont_inherit=True)
    sys.modules[name] = module  # string annotations are looked up there
    try:
        exec(code, module.__dict__)  # noqa: S102  # nosec B102 - a person has read this very text and trusts it
    except SystemExit as error:  # how a script exits; it would end the server
        raise ImportError("importing it exits the program") from error
    tools = [value for value in vars(module).values() if isinstance(value, Tool)]
    if not tools:
        raise ToolError("It defines no tool. Put @tool above a function; see docs/tools-of-your-own.md")
    return tools
