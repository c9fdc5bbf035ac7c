"""A model with a second one behind it for when it cannot answer. It lives for one run and never changes the choice."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable

from onyx_jupyter.errors import ModelError
from onyx_jupyter.protocols import (
    Model,
    ModelDone,
    ModelEvent,
    ModelNote,
    ModelProgress,
    ModelRequest,
    TextDelta,
    ThoughtDelta,
)
from onyx_jupyter.providers.answer_stream import closing, has_answer_text
from onyx_jupyter.providers.wrapped_model import WrappedModel

# A refusal must not be retried elsewhere, and a conversation that is too long is shortened instead.
_NEVER = frozenset({"refused", "overflow"})


class FallbackModel(WrappedModel):
    """Answers with `first`; if that fails before its first word, with the second until the end of the run.

    It has the id and size of the one in use. `request_for` adapts prompt and tools to the second if it is of another
    size.
    """

    def __init__(
        self,
        first: Model,
        open_second: Callable[[], Model],
        request_for: Callable[[Model, ModelRequest], Awaitable[ModelRequest]],
    ) -> None:
        super().__init__(first)
        self._first = first
        self._open_second = open_second
        self._request_for = request_for
        self._failure: ModelError | None = None
        self._has_started = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One answer, from one model or the other. Raises: ModelError."""
        if self._failure is None:
            shown = False
            try:
                async with closing(self._first.stream(request)) as events:
                    async for event in events:
                        shown = has_answer_text(shown, event)
                        yield event
                return
            except ModelError as error:
                if shown or error.code in _NEVER:
                    raise
                failure = error
            self._failure, self._model = failure, self._open_second()
            yield ModelProgress(f"{self._first.id} failed; asking {self.id}")
            sizes = [(model.light, model.tiny) for model in (self._first, self._model)]
            if sizes[0] != sizes[1] and request.tools:  # a side request has its own prompt
                request = await self._request_for(self._model, request)
        async with closing(self._from_second(request, self._failure)) as events:
            async for event in events:
                yield event

    async def _from_second(self, request: ModelRequest, failure: ModelError) -> AsyncGenerator[ModelEvent, None]:
        try:
            async with closing(self._model.stream(request)) as events:
                async for event in events:
                    if not self._has_started and isinstance(event, TextDelta | ThoughtDelta | ModelDone):
                        self._has_started = True
                        yield self._note(failure)
                    yield event
        except ModelError as error:
            if self._has_started or error.code == "overflow":  # the caller can shorten a conversation
                raise
            if failure.code == error.code == "budget":  # only a free model could have helped
                raise failure from None
            message = f"{failure} The fallback {self.id} also failed: {error}"
            raise ModelError(failure.code, message, hint=failure.hint, retry_after_s=failure.retry_after_s) from None

    def _note(self, failure: ModelError) -> ModelNote:
        return ModelNote(
            "fallback",
            f"{self.id} is answering this message because {self._first.id} failed: {failure}",
            {"model": self.id, "instead": self._first.id, "code": failure.code},
        )
