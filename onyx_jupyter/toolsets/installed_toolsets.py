"""The toolsets of installed packages, registered as entry points of the group `onyx_jupyter.toolsets`.

An entry point is a tool, a list of tools, a toolset, or a function without arguments that returns one of these.
Installing a package means trusting it; its code runs only when an agent's tools are first requested.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.run_tools import gather_tools
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import FixedToolset, Toolset, ToolsetContext
from onyx_jupyter.toolsets.wrappers import SortedTools, WithFamily

GROUP = "onyx_jupyter.toolsets"


def installed_toolsets() -> list[Toolset]:
    """One toolset per entry point, sorted by name; the name is its tools' family. Imports none of them yet."""
    found = sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value))
    return [WithFamily(SortedTools(EntryPointToolset(one)), one.name) for one in found]


def tools_at_start(toolsets: Sequence[Toolset], workspace: Path) -> Sequence[Tool[Any]]:
    """The tools of these toolsets, for a thread without an event loop. A toolset that fails has none."""
    return asyncio.run(gather_tools(toolsets, ToolsetContext("", workspace))).tools if toolsets else ()


class EntryPointToolset:
    """The toolset of an entry point, imported in a thread on first use."""

    def __init__(self, entry_point: EntryPoint) -> None:
        self._entry_point = entry_point
        self._lock = asyncio.Lock()
        self._loaded: Toolset | None = None

    @property
    def name(self) -> str:
        """The entry point's name and its package."""
        package = self._entry_point.dist.name if self._entry_point.dist else None
        return f"{self._entry_point.name} of the package {package}" if package else self._entry_point.name

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        """Raises: whatever the package raises; TypeError if it provides no tools."""
        async with self._lock:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
        return await self._loaded.tools(context)

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Calls the package's toolset."""
        assert self._loaded is not None, "a tool is called that was never given"
        return await self._loaded.call(tool, arguments, context)

    def _load(self) -> Toolset:
        try:
            return as_toolset(self.name, self._entry_point.load())
        except SystemExit as error:  # a script's `exit` would end the server
            raise ImportError("it ends the program when it is imported") from error


def as_toolset(name: str, brought: Any) -> Toolset:
    """Makes a toolset from an entry point's object. Raises: TypeError."""
    is_toolset = hasattr(brought, "tools") and not isinstance(brought, type)
    if callable(brought) and not is_toolset:
        brought = brought()
    if isinstance(brought, Tool):
        brought = [brought]
    if isinstance(brought, Sequence) and brought and all(isinstance(one, Tool) for one in brought):
        return FixedToolset(name, brought)
    if callable(getattr(brought, "tools", None)) and callable(getattr(brought, "call", None)):
        toolset: Toolset = brought
        return toolset
    raise TypeError(f"{type(brought).__name__} is no tool, no list of tools and no toolset")
