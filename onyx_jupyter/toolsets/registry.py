"""An agent's tools by name, and the validation of calls against their schemas."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments, OnyxError, ToolError
from onyx_jupyter.messages import Origin, ToolCall, ToolDefinition, ToolResult
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.families import named_in
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS, more_tools
from onyx_jupyter.toolsets.results import failure_of
from onyx_jupyter.toolsets.tool import Tool

_MALFORMED_SHOWN = 200


class ToolRegistry:
    """A list of tools, in the order in which they are shown to models."""

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        left_out: Mapping[str, str] | None = None,
        *,
        few: bool = False,
        known: Iterable[Tool[Any]] = (),
    ) -> None:
        """`left_out` says why tools are missing, for a model that calls one anyway.

        `known` are tools that screens have texts for, whether available or not.
        `few`: shows a small model the tools that have a short form, in that form, and the others on request.
        Raises: ValueError if two tools have the same name, or one is called `more_tools`.
        """
        self._left_out = left_out or {}
        self._tools: dict[str, Tool[Any]] = {}
        for tool in tools:
            if tool.name in self._tools or tool.name == MORE_TOOLS:
                raise ValueError(f"Two tools are called {tool.name!r}. Give one of them another name.")
            self._tools[tool.name] = tool
        self._activities = {tool.name: tool.activity for tool in (*known, *self._tools.values())}
        self._few = few
        self.deferred = [tool for tool in self._tools.values() if (tool.short is None if few else tool.deferred)]
        if self.deferred:
            further = more_tools(self.deferred, few=few)
            self._tools[MORE_TOOLS], self._activities[MORE_TOOLS] = further, further.activity

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def activity(self, name: str) -> Activity | None:
        """What the tool with that name says it does; None if it says nothing or is unknown."""
        return self._activities.get(name)

    def definitions(self) -> Sequence[ToolDefinition]:
        """The tools shown to a model from the start; deferred ones are reached through `more_tools`."""
        offered = [tool for tool in self._tools.values() if tool not in self.deferred]
        return [tool.short_definition() if self._few else tool.definition() for tool in offered]

    def named_in(self, text: str) -> Sequence[ToolDefinition]:
        """The deferred tools of the families that a text asks for, to be shown alongside it."""
        return [replace(tool.definition(), apart=True) for tool in named_in(text, self.deferred)]

    def get(self, name: str) -> Tool[Any]:
        """The tool with that name. Raises: ToolError that names the closest ones."""
        tool = self._tools.get(name)
        if tool is None and name in self._left_out:
            raise ToolError(f"{name} cannot be used now: {self._left_out[name]}").mark_message_safe()
        if tool is None:
            raise ToolError(f"There is no tool called {name!r}. {self._suggestion(name)}").mark_message_safe()
        return tool

    def validate(self, call: ToolCall) -> tuple[Tool[Any], Checked]:
        """The tool and its checked arguments. Raises: ToolError (unknown tool), InvalidArguments (each field named)."""
        tool = self.get(call.name)
        if call.malformed is not None:
            shown = call.malformed[:_MALFORMED_SHOWN]
            again = "Send the call again with one, in smaller pieces if it was cut off."
            raise InvalidArguments(f"The arguments are not a JSON object: {shown!r}. {again}")
        arguments = tool.check(call.arguments)
        for name in tool.also(arguments):
            if name not in self._tools:
                why = self._left_out.get(name, "it is not among your tools.")
                raise InvalidArguments(f"This call would also do the work of {name}, which cannot be used now: {why}")
        return tool, arguments

    def _suggestion(self, name: str) -> str:
        close = difflib.get_close_matches(name, self._tools, n=3, cutoff=0.5)
        if close:
            return f"Did you mean {' or '.join(close)}?"
        return f"Available: {', '.join(self._tools) or 'none'}."


def failed(tool_name: str, error: Exception) -> ToolResult:
    """An error as the model sees it: the tool's name, the type of error, what happened and what to do.

    The message may quote outside text, unless the error says that it does not.
    """
    ours = error if isinstance(error, OnyxError) else None
    head = f"{tool_name} failed ({ours.code if ours else type(error).__name__}): "
    message = str(error) or "no details"
    hint = ours.hint if ours else None
    tail = f" {hint}" if hint and hint not in message else ""
    origin: Origin = "own" if ours and ours.has_safe_message else "outside"
    failure = failure_of(error, f"{message}{tail}")
    return ToolResult(f"{head}{message}{tail}", ok=False, origin=origin, own_head=head, own_tail=tail, failure=failure)
