"""Collects a model's whole answer, so that a test can check it in one piece."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ModelDone, ModelEvent, TextDelta, TextWasThinking, ThoughtDelta


@dataclass(frozen=True, slots=True)
class Collected:
    """The events of one answer, and the ModelError that ended it, if one did."""

    events: tuple[ModelEvent, ...]
    error: ModelError | None = None

    @property
    def text(self) -> str:
        """The answer, without text that turned out to be thought."""
        return self._unpacked[1]

    @property
    def thought(self) -> str:
        """What the model thought before answering."""
        return self._unpacked[0]

    @property
    def ends(self) -> list[ModelDone]:
        """Every ModelDone; a well-behaved answer has one or, with an error, none."""
        return [event for event in self.events if isinstance(event, ModelDone)]

    @property
    def done(self) -> ModelDone:
        """The end. Raises: the answer's own error, or AssertionError if it had no end."""
        if self.error is not None:
            raise self.error
        assert self.ends, "The answer has no end."
        return self.ends[-1]

    @property
    def _unpacked(self) -> tuple[str, str]:
        thought = text = ""
        for event in self.events:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, ThoughtDelta):
                thought += event.text
            elif isinstance(event, TextWasThinking):
                thought, text = thought + text.strip(), ""
        return thought, text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return self.done.tool_calls


async def collect(stream: AsyncIterator[ModelEvent]) -> Collected:
    """Everything up to the end or the ModelError; other exceptions propagate."""
    events: list[ModelEvent] = []
    try:
        async for event in stream:
            events.append(event)  # noqa: PERF401 - what came before an error counts too
    except ModelError as error:
        return Collected(tuple(events), error)
    return Collected(tuple(events))
