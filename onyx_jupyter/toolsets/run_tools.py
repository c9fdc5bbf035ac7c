"""The tools of one run, from all toolsets: fixed until it ends, each with the toolset that runs it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.errors import OnyxError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import Toolset, ToolsetContext

log = logging.getLogger(__name__)
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class GatheredTools:
    """The tools found. `problems` are sentences for the user, each naming its toolset."""

    tools: Sequence[Tool[Any]] = ()
    problems: Sequence[str] = ()
    owners: Mapping[str, Toolset] = field(default_factory=dict)

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Calls the tool through its toolset; `more_tools` has none. Raises: ToolError."""
        owner = self.owners.get(tool.name)
        return await (owner.call(tool, arguments, context) if owner else tool.call(arguments, context))


async def gather_tools(
    toolsets: Sequence[Toolset], context: ToolsetContext, timeout_s: float = TIMEOUT_S
) -> GatheredTools:
    """The tools of all toolsets, in order. A toolset that fails or times out doesn't block the others.

    Of two tools with the same name the first is used, and the other is a problem.
    """
    found = await asyncio.gather(*(_tools_of(one, context, timeout_s) for one in toolsets))
    tools: dict[str, Tool[Any]] = {}
    owners: dict[str, Toolset] = {}
    problems: list[str] = []
    for toolset, given in zip(toolsets, found, strict=True):
        if isinstance(given, str):
            problems.append(given)
            continue
        for tool in given:
            if tool.name in tools or tool.name == MORE_TOOLS:
                whose = f"the toolset {owners[tool.name].name}" if tool.name in owners else "Onyx itself"
                problems.append(
                    f"The tool {tool.name!r} of the toolset {toolset.name} is left out: {whose} has one of that name. "
                    "Give it another name."
                )
                continue
            tools[tool.name], owners[tool.name] = tool, toolset
    return GatheredTools(tuple(tools.values()), tuple(problems), owners)


async def _tools_of(toolset: Toolset, context: ToolsetContext, timeout_s: float) -> Sequence[Tool[Any]] | str:
    """The toolset's tools, or why there are none."""
    try:
        async with asyncio.timeout(timeout_s):
            return _checked(await toolset.tools(context))
    except TimeoutError:
        reason = f"it took longer than {timeout_s:g} s to say what it has"
    except OnyxError as error:
        reason = str(error).removesuffix(".")
    except Exception as error:
        log.warning("The toolset %s has no tools now", toolset.name, exc_info=error)
        reason = f"{type(error).__name__}: {error}"
    return f"The toolset {toolset.name} cannot be used: {reason}. All other tools can."


def _checked(given: Sequence[object]) -> list[Tool[Any]]:
    """Checks what third-party code returned. Raises: TypeError."""
    tools = [one for one in given if isinstance(one, Tool)]
    if len(tools) < len(given):
        strange = next(one for one in given if not isinstance(one, Tool))
        raise TypeError(f"{type(strange).__name__} is no tool")
    return tools
