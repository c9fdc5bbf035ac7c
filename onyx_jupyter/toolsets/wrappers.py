"""Toolsets around a toolset: with fewer tools, other names, a question before each call, or told of only when needed.

Each takes any toolset and is one, so they go around one another. None of them decides about a call: where one asks for
a person, the policy does the asking as it does for any tool.
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
    """The toolset within, as it is."""

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
    """Only the tools that `keep` is true of."""

    def __init__(self, inner: Toolset, keep: Callable[[Tool[Any]], bool]) -> None:
        super().__init__(inner)
        self._keep = keep

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [tool for tool in await self._inner.tools(context) if self._keep(tool)]


class Prefixed(_Wrapper):
    """Every name begins with `prefix`, so that two toolsets may have a tool of the same name.

    What a person allows under the one name does not count for the other.
    """

    def __init__(self, inner: Toolset, prefix: str) -> None:
        super().__init__(inner)
        self._prefix = prefix

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [self._renamed(tool) for tool in await self._inner.tools(context)]

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        return await self._inner.call(replace(tool, name=tool.name.removeprefix(self._prefix)), arguments, context)

    def _renamed(self, tool: Tool[Any]) -> Tool[Any]:
        name, told, shown = self._prefix + tool.name, tool.told, tool.per_call.preview

        async def preview(arguments: Checked, context: ToolContext) -> ToolPreview:
            assert shown is not None
            made = await shown(arguments, context)
            return replace(made, grant=f"{name} {made.grant}")

        return replace(
            tool,
            name=name,
            told=None if told is None else lambda: replace(told(), name=name),
            per_call=replace(tool.per_call, preview=None if shown is None else preview),
        )


class Asking(_Wrapper):
    """A call of any of its tools has at least that risk, so that none counts as one that only reads.

    For tools whose own word for what they do is not to be relied on: those of somebody else's server.
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
    """A model is told of its tools by name alone, and of the rest through `more_tools` when it needs one."""

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [replace(tool, deferred=True) for tool in await self._inner.tools(context)]


class OfFamily(_Wrapper):
    """Tools that name no family are of that one, and so are those that name one of Onyx's own.

    What the configuration says of `group:fs` is said of Onyx's tools, and never counts for somebody else's.
    """

    def __init__(self, inner: Toolset, family: str) -> None:
        super().__init__(inner)
        self._family = family

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return [
            replace(tool, family=self._family) if not tool.family or tool.family in FAMILIES else tool
            for tool in await self._inner.tools(context)
        ]


class InOrder(_Wrapper):
    """By name: for a toolset whose own order may differ from one time to the next."""

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        return sorted(await self._inner.tools(context), key=lambda tool: tool.name)
