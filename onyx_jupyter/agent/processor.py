"""Processors, which can observe and change a run, and how they are run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from onyx_jupyter.messages import ToolCall, ToolResult, Usage
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.toolsets.registry import ToolRegistry


class Halt(Exception):
    """Raised by a processor to end the turn: `text` is the answer that the user reads instead.

    `result` is the tool result after all processors; Processors fills it in.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.result: ToolResult | None = None


@dataclass(slots=True)
class TotalUsage:
    """The total usage of a run and its children; each run adds its own."""

    usage: Usage = field(default_factory=Usage)

    @property
    def tokens(self) -> int:
        """Input and output."""
        return self.usage.input_tokens + self.usage.output_tokens


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """The state of a run when its processors begin; after a restart it has already done something.

    `usage` is the run's own so far, `spent` is shared with its parent and children.
    """

    tools: ToolRegistry
    done: Sequence[tuple[ToolCall, ToolResult]]
    usage: Usage
    spent: TotalUsage = field(default_factory=TotalUsage)


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model: text, calls, or both.

    `has_text` is whether any text came, even if a filter removed it; `carried` are the provider's own fields.
    """

    text: str
    calls: tuple[ToolCall, ...]
    usage: Usage
    has_text: bool = False
    carried: Mapping[str, Any] | None = field(default=None, repr=False)


class TextFilter(Protocol):
    """Filters an answer's text while it streams; only what it returns is shown."""

    def feed(self, text: str) -> str:
        """Filters the next piece; part of it may be held back until more is known."""
        ...

    def finish(self) -> str:
        """Returns what is still held back at the end."""
        ...


class Processor:
    """Base of all processors; each method may change what it is given, or raise Halt. One instance serves one run."""

    async def begin(self, run: RunSoFar) -> None:
        """Called once, before everything else; must not raise Halt."""

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """Processes a request before it is sent to the model."""
        return request

    def text_filter(self) -> TextFilter | None:
        """A filter for the text of one answer while it streams."""
        return None

    async def after_model(self, reply: Reply) -> Reply:
        """Processes the model's answer before it is saved and acted on."""
        return reply

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Processes a tool's result before it is saved and shown to the model."""
        return result


class Processors:
    """A run's processors in order; the text of an answer passes through all their filters."""

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
        """If one raises Halt, the others still see the result, since it is saved."""
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
        """All filters combined into one."""
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
