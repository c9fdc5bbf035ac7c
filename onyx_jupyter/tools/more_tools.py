"""The tool through which a model reaches the seldom needed ones. It never runs them itself.

A request's list of tools stands before its messages, so changing the list would throw a provider's cache away. Deferred
tools are therefore named in one line, described in a result, and called through a tool that is always there.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import Field

from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import Risk, ToolCall, ToolDefinition, ToolResult
from onyx_jupyter.tools.context import ToolContext
from onyx_jupyter.tools.families import FAMILIES
from onyx_jupyter.tools.spec import Arguments, Tool

MORE_TOOLS = "more_tools"


class MoreToolsArguments(Arguments):
    tool: str = Field(description="A tool or a family of them.")
    arguments: dict[str, Any] | None = Field(default=None, description="Runs the tool; left out: explains it.")


class MoreTools(Tool[MoreToolsArguments]):
    """Explains deferred tools; a call with `arguments` is turned into the tool's own by `unwrapped`."""

    name = MORE_TOOLS
    description = "Further tools, seldom needed."
    risk: ClassVar[Risk] = "read"
    arguments = MoreToolsArguments

    def __init__(self, deferred: Sequence[Tool[Any]], *, few: bool = False) -> None:
        """`few`: the model is a small one, which is told of families, and of each tool in a line."""
        self._deferred = deferred
        self._few = few
        self._description = _families_alone(deferred) if few else _all_names(deferred)

    def definition(self) -> ToolDefinition:
        """With the names of what stands behind it."""
        return replace(super().definition(), description=self._description)

    async def run(self, arguments: MoreToolsArguments, context: ToolContext) -> ToolResult:
        wanted = [tool for tool in self._deferred if arguments.tool in (tool.name, tool.family)]
        if not wanted:
            names = [name for tool in self._deferred for name in (tool.name, tool.family)]
            close = difflib.get_close_matches(arguments.tool, names, n=1) or sorted(set(names))
            raise ToolError(
                f"There is no further tool {arguments.tool!r}. Perhaps {' or '.join(close)}?"
            ).in_own_words()
        if self._few:
            return ToolResult("\n".join(tool.definition().in_one_line for tool in wanted), origin="own")
        return ToolResult("\n\n".join(_explained(tool) for tool in wanted), origin="own")


def unwrapped(call: ToolCall) -> ToolCall:
    """The call that is meant, so that approvals, records and screens show the true tool."""
    name, arguments = call.arguments.get("tool"), call.arguments.get("arguments")
    if call.name != MORE_TOOLS or not isinstance(name, str) or not isinstance(arguments, Mapping):
        return call
    return replace(call, name=name, arguments=dict(arguments))


def _all_names(deferred: Sequence[Tool[Any]]) -> str:
    families: dict[str, list[str]] = {}
    for tool in (tool for tool in deferred if tool.listed):
        families.setdefault(tool.family or tool.name, []).append(f"{tool.name} {tool.at_a_glance}".strip())
    named = "; ".join(f"{family}: {', '.join(names)}" for family, names in families.items())
    which = f" {named}." if named else ""
    return f"Further tools, seldom needed.{which} First explain, or run one whose arguments stand here."


def _families_alone(deferred: Sequence[Tool[Any]]) -> str:
    names = dict.fromkeys(tool.family or tool.name for tool in deferred)
    about = {name: FAMILIES[name].about for name in names if name in FAMILIES}
    listed = (f"{name} ({about[name]})" if about.get(name) else name for name in names)
    return f"Shows a family's tools: {', '.join(listed)}; with arguments it runs one."


def _explained(tool: Tool[Any]) -> str:
    definition = tool.definition()
    schema = json.dumps(definition.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{definition.name}: {definition.description}\narguments: {schema}"
