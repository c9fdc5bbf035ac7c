"""The tool through which a model reaches rarely needed tools.

A request's list of tools comes before its messages, so changing it would invalidate a provider's cache. Deferred tools
are therefore named in one line, described in a result, and called through a tool that is always listed.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.families import FAMILIES
from onyx_jupyter.toolsets.tool import Tool, tool

MORE_TOOLS = "more_tools"


class MoreToolsArguments(Arguments):
    tool: str = Field(description="A tool or a family.")
    arguments: dict[str, Any] | None = Field(default=None, description="Runs the tool; omit to have it explained.")


def more_tools(deferred: Sequence[Tool[Any]], *, few: bool = False) -> Tool[MoreToolsArguments]:
    """The tool that explains `deferred`; `unwrapped` turns a call with `arguments` into a call of the tool itself.

    `few`: for a small model, which is shown families, and one line per tool.
    """

    @tool(
        name=MORE_TOOLS,
        activity=Activity("look_up_tool", "tool"),
        arguments=MoreToolsArguments,
        description=_families_alone(deferred) if few else _all_names(deferred),
        risk="read",
    )
    async def explain(arguments: MoreToolsArguments, context: ToolContext) -> ToolResult:
        wanted = [tool for tool in deferred if arguments.tool in (tool.name, tool.family)]
        if not wanted:
            names = [name for tool in deferred for name in (tool.name, tool.family)]
            close = difflib.get_close_matches(arguments.tool, names, n=1) or sorted(set(names))
            raise ToolError(
                f"There is no other tool {arguments.tool!r}. Did you mean {' or '.join(close)}?"
            ).mark_message_safe()
        if few:
            return ToolResult("\n".join(tool.definition().one_line_signature for tool in wanted), origin="own")
        return ToolResult("\n\n".join(_explained(tool) for tool in wanted), origin="own")

    return explain


def unwrapped(call: ToolCall) -> ToolCall:
    """The actual call, so that approvals, records and screens show the real tool."""
    name, arguments = call.arguments.get("tool"), call.arguments.get("arguments")
    if call.name != MORE_TOOLS or not isinstance(name, str) or not isinstance(arguments, Mapping):
        return call
    return replace(call, name=name, arguments=dict(arguments))


def _all_names(deferred: Sequence[Tool[Any]]) -> str:
    families: dict[str, list[str]] = {}
    for one in (one for one in deferred if one.listed):
        families.setdefault(one.family or one.name, []).append(f"{one.name} {one.at_a_glance}".strip())
    named = "; ".join(f"{family}: {', '.join(names)}" for family, names in families.items())
    which = f" {named}." if named else ""
    return f"More tools, rarely needed.{which} Have one explained first, unless its arguments are listed here."


def _families_alone(deferred: Sequence[Tool[Any]]) -> str:
    names = dict.fromkeys(tool.family or tool.name for tool in deferred)
    about = {name: FAMILIES[name].about for name in names if name in FAMILIES}
    listed = (f"{name} ({about[name]})" if about.get(name) else name for name in names)
    return f"Shows a family's tools: {', '.join(listed)}; with arguments it runs one."


def _explained(tool: Tool[Any]) -> str:
    definition = tool.definition()
    schema = json.dumps(definition.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{definition.name}: {definition.description}\narguments: {schema}"
