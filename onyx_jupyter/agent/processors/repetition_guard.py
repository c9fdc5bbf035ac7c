"""Warns the model about calls that make no progress, and ends the run if that does not help. It blocks no call."""

from __future__ import annotations

import json
from dataclasses import replace

from onyx_jupyter.agent.processor import Halt, Processor, RunSoFar
from onyx_jupyter.agent.repetition_detector import LoopDetector, Repetition
from onyx_jupyter.config.schema import LoopDetectionConfig
from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.toolsets.registry import ToolRegistry

_WARNING = "\n\n[Onyx] You made this call "
_SHOWN_CHARS = 120


class LoopGuard(Processor):
    """Comes last among the processors that examine results, to judge and mark what the model really gets."""

    def __init__(self, config: LoopDetectionConfig) -> None:
        self._config = config
        self._detector = LoopDetector(config.window)
        self._tools = ToolRegistry(())
        self._asked: str | None = None

    async def begin(self, run: RunSoFar) -> None:
        self._tools = run.tools
        for call, result in run.done:
            self._detect(call, replace(result, output=result.output.partition(_WARNING)[0]))

    async def before_model(self, request: ModelRequest) -> ModelRequest:
        """A new message from a person restarts the detection."""
        asked = next((message.content for message in reversed(request.messages) if message.role == "user"), "")
        if self._asked not in (None, asked):
            self._detector = LoopDetector(self._config.window)
        self._asked = asked
        return request

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Raises: Halt."""
        repetition = self._detect(call, result)
        if repetition.count >= self._config.stop_at:
            raise Halt(_reason(call, repetition, is_known=call.name in self._tools.names))
        if repetition.count >= self._config.warn_at:
            return replace(result, output=result.output + _warning(repetition))
        return result

    def _detect(self, call: ToolCall, result: ToolResult) -> Repetition:
        is_known = call.name in self._tools.names
        return self._detector.add(call, result, is_known=is_known, changes=is_known and self._changes(call))

    def _changes(self, call: ToolCall) -> bool:
        """Whether this particular call may have changed something: viewing a process does not, typing into it does."""
        try:
            tool, arguments = self._tools.validate(call)
        except InvalidArguments:
            return self._tools.get(call.name).risk != "read"
        return tool.risk_of(arguments) != "read"


def _warning(repetition: Repetition) -> str:
    how = {"in a row": " in a row", "in turn": f" in turn with {_named(repetition.other)}", "in between": ""}
    return (
        f"{_WARNING}{repetition.count} times{how[repetition.pattern]}, and its result stays the same. Try something "
        "else, or say what prevents you from continuing. If you repeat it further, this answer ends."
    )


def _reason(call: ToolCall, repetition: Repetition, *, is_known: bool) -> str:
    count = repetition.count
    if not is_known:
        what = f"`{call.name}` does not exist, but was called {count} times."
    elif repetition.pattern == "in turn":
        what = (
            f"{_shown(call)} and {_named(repetition.other)} were called alternately {count} times without a new result."
        )
    elif repetition.pattern == "in a row":
        what = f"{_shown(call)} was called {count} times in a row with the same result."
    else:
        what = f"{_shown(call)} was called {count} times with the same result, with other calls in between."
    return (
        f"Stopped: {what} Tell Onyx what to try instead or what is missing. `runtime.loopDetection` "
        "in onyx.json sets how often a call may repeat."
    )


def _named(call: ToolCall | None) -> str:
    return f"`{call.name}`" if call else "another call"


def _shown(call: ToolCall) -> str:
    if call.malformed is None and not call.arguments:
        return f"`{call.name}`"
    text = call.malformed if call.malformed is not None else json.dumps(dict(call.arguments), ensure_ascii=False)
    line = " ".join(text.replace("`", "'").split())
    return f"`{call.name}` with `{line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + '…'}`"
