"""The toolsets of a server, and the tools that each agent gets from them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import chain
from typing import Any

from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.toolsets.access import is_allowed
from onyx_jupyter.toolsets.run_tools import GatheredTools, gather_tools
from onyx_jupyter.toolsets.tool import Tool
from onyx_jupyter.toolsets.toolset import FixedToolset, Toolset, ToolsetContext
from onyx_jupyter.toolsets.wrappers import Filtered


class AgentToolsets:
    """All toolsets of one server, in the order in which their tools are listed for a model.

    `own` returns those of an agent's own files, which come last.
    """

    def __init__(
        self, toolsets: Callable[[], Sequence[Toolset]], own: Callable[[str], Awaitable[Sequence[Toolset]]]
    ) -> None:
        self._toolsets = toolsets
        self._own = own
        self._seen: dict[tuple[str, str], Sequence[Tool[Any]]] = {}
        self._problems: dict[str, Sequence[str]] = {}

    async def of(self, parts: AgentParts, *more: Toolset) -> GatheredTools:
        """The tools that the agent may use now, followed by `more`. A toolset that fails does not block the others."""
        access, context = parts.config.tools, ToolsetContext(parts.config.id, parts.workspace)

        def keep(tool: Tool[Any]) -> bool:
            return is_allowed(tool, access.allow, access.deny)

        every = [*self._toolsets(), *await self._own(context.agent_id)]
        seen = [Filtered(_Noted(one, self._seen), keep) for one in every]
        gathered = await gather_tools([*seen, *more], context)
        self._problems[context.agent_id] = gathered.problems
        return gathered

    def known(self) -> Sequence[Tool[Any]]:
        """Every tool known from any toolset, whichever agent may use it: what names in a configuration may refer to."""
        fixed = chain.from_iterable(one.given for one in self._toolsets() if isinstance(one, FixedToolset))
        return list({tool.name: tool for tool in [*chain.from_iterable(self._seen.values()), *fixed]}.values())

    def problems(self) -> Sequence[str]:
        """Problems found when the toolsets were last gathered, as messages for the user."""
        return list(dict.fromkeys(chain.from_iterable(self._problems.values())))


class _Noted(Filtered):
    """A toolset that records which tools each agent was last given."""

    def __init__(self, inner: Toolset, seen: dict[tuple[str, str], Sequence[Tool[Any]]]) -> None:
        super().__init__(inner, lambda tool: True)
        self._seen = seen

    async def tools(self, context: ToolsetContext) -> Sequence[Tool[Any]]:
        found = self._seen[context.agent_id, self.name] = await super().tools(context)
        return found
