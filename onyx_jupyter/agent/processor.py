"""What may look at a run as it goes by and change it: processors, and how they are run. It holds none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from onyx_jupyter.messages import ToolCall, ToolResult, Usage
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.toolsets.registry import ToolRegistry


class Halt(Exception):
    """Raised by a processor to end the turn: `text` is the answer that the user reads instead.

    `result` is a tool's result as all processors have made it; Processors fills it in.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.result: ToolResult | None = None


@dataclass(slots=True)
class Spent:
    """What a run and those that it started have used together; each adds its own."""

    usage: Usage = field(default_factory=Usage)

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.usage.input_tokens + self.usage.output_tokens


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """What a run brings along when its processors meet it; after a restart it has done something already.

    `usage` is its own until now, `spent` counts for all runs that belong together.
    """

    tools: ToolRegistry
    done: Sequence[tuple[ToolCall, ToolResult]]
    usage: Usage
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: words, calls, or both. `said` is whether words came, also where a filter kept them."""

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    said: bool = False


class TextFilter(Protocol):
    """Sees an answer's text while it streams; what it gives back is what anybody gets to see."""

    def feed(self, text: str) -> str:
        """The next piece; a part may be held back until more is known."""
        ...

    def finish(self) -> str:
        """What was held back to the end."""
        ...


class Processor:
    """Base of all processors; each method may change what goes by, or raise Halt. One instance lives for one run."""

    async def begin(self, run: RunSoFar) -> None:
        """Comes once, before all else; it does not raise Halt."""

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """What the model will be asked."""
        return request

    def text_filter(self) -> TextFilter | None:
        """A filter for the text of one answer while it streams."""
        return None

    async def after_model(self, reply: Reply) -> Reply:
        """What the model answered, before it is written down and acted on."""
        return reply

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """What a tool gave back, before it is written down and the model sees it."""
        return result


class Processors:
    """A run's processors in their order; the text of an answer goes through all their filters."""

    def __init__(self, processors: Sequence[Processor] = ()) -> None:
        self._processors = processors

    async def begin(self, run: RunSoFar) -> None:
        for processor in self._processors:
            await processor.begin(run)

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        for processor in self._processors:
            request = await processor.before_model(request)
        return request

    async def after_model(self, reply: Reply) -> Reply:
        for processor in self._processors:
            reply = await processor.after_model(reply)
        return reply

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Where one raises Halt, the others see the result all the same, since it is written down."""
        halted: Halt | None = None
        for processor in self._processors:
            try:
                result = await processor.after_tool(call, result)
            except Halt as halt:
                halted = halted or halt
        if halted is None:
            return result
        halted.result = result
        raise halted

    def text_filter(self) -> TextFilter:
        """All filters as one."""
        made = (processor.text_filter() for processor in self._processors)
        return _Chain([text_filter for text_filter in made if text_filter is not None])


class _Chain:
    def __init__(self, filters: Sequence[TextFilter]) -> None:
        self._filters = filters

    def feed(self, text: str) -> str:
        for text_filter in self._filters:
            text = text_filter.feed(text)
        return text

    def finish(self) -> str:
        text = ""
        for text_filter in self._filters:
            text = text_filter.feed(text) + text_filter.finish()
        return text
