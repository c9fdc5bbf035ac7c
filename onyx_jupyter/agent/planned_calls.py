"""Models for what is already decided: calls to make before the actual one is asked, and an answer to say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from onyx_jupyter.messages import Message, ToolCall
from onyx_jupyter.protocols import Model, ModelDone, ModelEvent, ModelRequest, TextDelta

ALL_DONE = "Done."


class PlannedCalls:
    """The calls pass through the loop like a model's own: checked, decided about and recorded.

    `asks` says whether the actual model then writes the answer. What has been done is read from the request, so a run
    that is continued makes no call twice.
    """

    def __init__(self, model: Model, calls: Sequence[ToolCall], *, asks: bool) -> None:
        self._model = model
        self._calls = tuple(calls)
        self._asks = asks
        self.id = model.id
        self.light = model.light
        self.tiny = model.tiny

    @property
    def context_window(self) -> int:
        return self._model.context_window

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        done = _since_request(request.messages)
        if not done:
            return self._answer(calls=self._calls)
        return self._model.stream(request) if self._asks else self._answer(_summary(done))

    async def _answer(self, text: str = "", calls: tuple[ToolCall, ...] = ()) -> AsyncIterator[ModelEvent]:
        if text:
            yield TextDelta(text)
        yield ModelDone(calls)


class KnownAnswer:
    """A model that says what is already known."""

    def __init__(self, model: Model, text: str) -> None:
        self._model = model
        self._text = text
        self.id = model.id
        self.light = model.light
        self.tiny = model.tiny

    @property
    def context_window(self) -> int:
        return self._model.context_window

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield TextDelta(self._text)
        yield ModelDone()


def _since_request(messages: Sequence[Message]) -> Sequence[Message]:
    place = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[place + 1 :]


def _summary(done: Sequence[Message]) -> str:
    results = [message.status for message in done if message.role == "tool"]
    failed = sum(status != "ok" for status in results)
    return f"{failed} of {len(results)} steps did not succeed." if failed else ALL_DONE
