"""The mode in which a message is answered, and what it means for tools.

`ask` has only tools that read, `agent` asks before each change, `auto` runs unasked what `security.auto` names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from onyx_jupyter.config.ceiling import STRICTEST_FIRST, Ceiling, Mode
from onyx_jupyter.messages import Message, ToolDefinition, ToolResult
from onyx_jupyter.protocols import Model, ModelRequest
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.toolsets.access import is_named
from onyx_jupyter.toolsets.arguments import Checked
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from onyx_jupyter.toolsets.run_tools import GatheredTools
from onyx_jupyter.toolsets.tool import Tool

MODE_NOTE = "mode"
_ONLY_READS = "the user chose Ask mode, which only has tools that read. Say what you would do instead of doing it."
_FOR_THIS = "[Onyx] For this you also have:"
_FROM_HERE = {
    "ask": "From here on in Ask mode: nothing more is changed or run.",
    "agent": "From here on in Agent mode: Onyx asks before each change.",
}


def mode_of(meta: Mapping[str, Any]) -> Mode:
    """A message's mode; `agent` if it names none, `ask` if the value is invalid."""
    named = meta.get("mode", "agent")
    return cast(Mode, named) if named in STRICTEST_FIRST else "ask"


class RunMode:
    """The mode of one run: the strictest one of its messages."""

    def __init__(self, messages: Iterable[Entry], ceiling: Ceiling | None = None) -> None:
        strictest = min((mode_of(message.meta) for message in messages), key=STRICTEST_FIRST.index)
        self._own: Mode = ceiling.mode(strictest) if ceiling else strictest
        self._above: RunMode | None = None
        self._announced: Mode = self.current

    @property
    def current(self) -> Mode:
        modes = (self._own, self._above.current) if self._above else (self._own,)
        return min(modes, key=STRICTEST_FIRST.index)

    def stay_within(self, above: RunMode) -> None:
        """From now on never freer than `above`, even when that changes."""
        self._above = above
        self._announced = self.current

    def take(self, message: Entry) -> None:
        """Counts at once, before the message has joined: nothing that it forbids runs after this."""
        self._own = min(self._own, mode_of(message.meta), key=STRICTEST_FIRST.index)

    def notice(self, joined: Sequence[Entry]) -> str | None:
        """What to tell the user when these messages join: that the mode has changed, or could not."""
        if self.current != self._announced:
            self._announced = self.current
            return _FROM_HERE[self.current]
        wished = mode_of(joined[-1].meta)
        if wished == self.current:
            return None
        mode, later = self.current.capitalize(), wished.capitalize()
        return f"This answer stays in {mode} mode; {later} mode applies from the next answer on."


class RunTools:
    """The tools of one run in its current mode."""

    def __init__(
        self, gathered: GatheredTools, mode: RunMode, auto: Collection[str], model: Callable[[], Model]
    ) -> None:
        """`model` returns the one that answers now: a small one that chooses its tools itself is offered few."""
        self._gathered = gathered
        self._mode = mode
        self._auto = auto
        self._model = model
        self._registries: dict[tuple[bool, bool], ToolRegistry] = {}

    @property
    def mode(self) -> Mode:
        return self._mode.current

    @property
    def registry(self) -> ToolRegistry:
        kind = only_reads, few = self.mode == "ask", self._few
        if kind not in self._registries:
            tools = self._gathered.tools
            kept = [tool for tool in tools if tool.risk == "read"] if only_reads else tools
            left_out = {tool.name: _ONLY_READS for tool in tools if only_reads and tool.risk != "read"}
            self._registries[kind] = ToolRegistry(kept, left_out, few=few, known=tools)
        return self._registries[kind]

    @property
    def offered(self) -> Sequence[ToolDefinition]:
        """The tools that a model is offered from the start."""
        return self.registry.definitions()

    def equip(self, request: ModelRequest) -> ModelRequest:
        """The request with the tools that its model may call.

        For a small model, a further family is described after each message that asks for it, always in the same words:
        what it has already read stays unchanged, and its server reads only what is new.
        """
        if not self._few:
            return replace(request, tools=self.offered)
        further: dict[str, ToolDefinition] = {}
        messages: list[Message] = []
        for message in request.messages:
            named = self.registry.named_in(message.content) if message.role == "user" else ()
            further |= {tool.name: tool for tool in named}
            messages.append(_with_tools(message, named))
        return replace(request, tools=[*self.offered, *further.values()], messages=messages)

    async def call(self, tool: Tool[Any], arguments: Checked, context: ToolContext) -> ToolResult:
        """Calls the tool through its toolset. Raises: ToolError."""
        return await self._gathered.call(tool, arguments, context)

    @property
    def _few(self) -> bool:
        model = self._model()
        return model.light and not model.tiny

    def runs_unasked(self, tool: Tool[Any], arguments: Checked, others: Sequence[Tool[Any]] = ()) -> bool:
        """Whether Auto mode covers everything this call does; `others` are tools whose work it also does."""
        if self.mode != "auto":
            return False
        tools = [tool, *map(self.registry.get, tool.also(arguments)), *others]
        return all(is_named(one, self._auto) for one in tools)


def _with_tools(message: Message, tools: Sequence[ToolDefinition]) -> Message:
    if not tools:
        return message
    short = (replace(tool, description=tool.description.partition(". ")[0]) for tool in tools)
    return replace(
        message, content="\n".join([message.content, "", _FOR_THIS, *(tool.one_line_signature for tool in short)])
    )
