"""Toolsets that wrap a toolset: fewer tools, other names, a question before each call, or deferred listing.

Each takes any toolset and is one, so they can be nested. None of them decides about a call: if one requires a
question, the policy asks it as for any tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.families import FAMILIES
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import Toolset, ToolsetContext


class _Wrapper:
    """Passes everything through to the wrapped toolset."""

    def __init__(self, inner: Toolset) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return await self._inner.tools(context)

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        return await self._inner.call(tool, arguments, context)


class Filtered(_Wrapper):
    """Only the tools for which `keep` returns true."""

    def __init__(self, inner: Toolset, keep: Callable[[Tool[Any]], bool]) -> None:
        super().__init__(inner)
        self._keep = keep

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [tool for tool in await self._inner.tools(context) if self._keep(tool)]


class Prefixed(_Wrapper):
    """Prefixes every name with `prefix`, so that two toolsets may have a tool of the same name.

    A grant for one name does not apply to the other.
    """

    def __init__(self, inner: Toolset, prefix: str) -> None:
        super().__init__(inner)
        self._prefix = prefix

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [self._renamed(tool) for tool in await self._inner.tools(context)]

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        return await self._inner.call(replace(tool, name=tool.name.removeprefix(self._prefix)), arguments, context)

    def _renamed(self, tool: Tool[Any]) -> Tool[Any]:
        name, make_definition, shown = self._prefix + tool.name, tool.make_definition, tool.per_call.preview

        async def preview(arguments: Checked, context: ToolContext) -> ToolPreview:
            assert shown is not None
            made = await shown(arguments, context)
            return replace(made, grant=f"{name} {made.grant}")

        return replace(
            tool,
            name=name,
            make_definition=None if make_definition is None else lambda: replace(make_definition(), name=name),
            per_call=replace(tool.per_call, preview=None if shown is None else preview),
        )


class MinimumRisk(_Wrapper):
    """Gives each call at least that risk, so that none counts as only reading.

    For tools whose own risk is not to be trusted, such as those of a third-party server.
    """

    def __init__(self, inner: Toolset, risk: Risk = "execute") -> None:
        super().__init__(inner)
        self._risk: Risk = risk

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [self._asked(tool) for tool in await self._inner.tools(context)]

    def _asked(self, tool: Tool[Any]) -> Tool[Any]:
        async def risk_here(arguments: Checked, context: ToolContext) -> Risk:
            return self._at_least(await tool.risk_here(arguments, context))

        def risk_of(arguments: Checked) -> Risk:
            return self._at_least(tool.risk_of(arguments))

        per_call = replace(tool.per_call, risk_of=risk_of, risk_here=risk_here)
        return replace(tool, risk=self._at_least(tool.risk), per_call=per_call)

    def _at_least(self, risk: Risk) -> Risk:
        return self._risk if risk == "read" else risk


class Deferred(_Wrapper):
    """Shows a model only the names of its tools; the rest is available through `more_tools`."""

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [replace(tool, deferred=True) for tool in await self._inner.tools(context)]


class WithFamily(_Wrapper):
    """Assigns this family to tools without one, and to tools that name one of Onyx's own.

    Thus the configuration's `group:fs` applies only to Onyx's tools, never to third-party ones.
    """

    def __init__(self, inner: Toolset, family: str) -> None:
        super().__init__(inner)
        self._family = family

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [
            replace(tool, family=self._family) if not tool.family or tool.family in FAMILIES else tool
            for tool in await self._inner.tools(context)
        ]


class SortedTools(_Wrapper):
    """Sorts by name: for a toolset whose own order may vary."""

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return sorted(await self._inner.tools(context), key=lambda tool: tool.name)
