"""A model that retries failed calls and pauses a broken provider. Nothing that was shown is requested again."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from onyx_jupyter.errors import EmptyAnswer, ModelError
from onyx_jupyter.protocols import (
    Model,
    ModelDone,
    ModelEvent,
    ModelProgress,
    ModelRequest,
    TextDelta,
    TextWasThinking,
    ThoughtDelta,
)
from onyx_jupyter.providers.answer_stream import closing, has_answer_text
from onyx_jupyter.providers.circuit_breaker import BreakerPolicy, CircuitBreaker
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy, is_outage
from onyx_jupyter.providers.wrapped_model import WrappedModel

_WHAT_HAPPENED = {
    "rate_limit": "is busy",
    "timeout": "did not answer in time",
    "unavailable": "is not available",
    "bad_response": "sent an unusable answer",
}


@dataclass(frozen=True, slots=True)
class Resilience:
    """How failures are handled."""

    retry: RetryPolicy
    breaker: BreakerPolicy
    waits: RetryDelays


class ResilientModel(WrappedModel):
    """Wraps a model with retries before the first word and a circuit breaker; `title` names its provider."""

    def __init__(self, model: Model, title: str, breaker: CircuitBreaker, resilience: Resilience) -> None:
        super().__init__(model)
        self._title = title
        self._breaker = breaker
        self._resilience = resilience

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One answer, from as many calls as it takes. Raises: ModelError."""
        admission = self._breaker.admit(self._title)
        try:
            async with closing(self._calls(request, 1 if admission.is_trial else None)) as events:
                async for event in events:
                    came = isinstance(event, TextDelta | ThoughtDelta)
                    if isinstance(event, ModelDone) or (admission.is_trial and came):
                        self._breaker.succeeded()
                    yield event
        except ModelError as error:
            if is_outage(error):
                self._breaker.failed(admission, self._resilience.breaker)
            elif error.code != "budget":  # then it was not even asked
                self._breaker.succeeded()  # a provider that refuses is reachable
            raise
        finally:
            self._breaker.release(admission)

    async def _calls(self, request: ModelRequest, attempts: int | None) -> AsyncGenerator[ModelEvent, None]:
        retry, waits = self._resilience.retry, self._resilience.waits
        attempts = attempts or retry.attempts
        policy = RetryPolicy(attempts, retry.max_wait_s)
        for made in range(1, attempts + 1):
            shown = False
            try:
                async with closing(self._call(request)) as events:
                    async for event in events:
                        shown = has_answer_text(shown, event)
                        yield event
                return
            except ModelError as error:
                wait_s = None if shown else policy.wait_s(error, made, waits.chance())
                if wait_s is None:
                    raise self._with_wait(error) from None
                line = f"{self._title} {_WHAT_HAPPENED[error.code]}; trying again"
            when = f" in {math.ceil(wait_s)} s" if wait_s >= 0.5 else ""
            yield ModelProgress(f"{line}{when} ({made + 1} of {attempts})")
            await waits.sleep(wait_s)

    async def _call(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One call. An answer with neither words nor a tool call counts as none, even if it has thoughts."""
        said = ""
        async with closing(self._model.stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    said = said or event.text.strip()
                elif isinstance(event, TextWasThinking):
                    said = ""
                elif isinstance(event, ModelDone) and not said and not event.tool_calls:
                    raise self._empty(event.finish_reason)
                yield event

    def _empty(self, finish_reason: str) -> ModelError:
        if finish_reason == "length":
            message = f"{self.id} reached its reply limit before writing an answer."
            return ModelError("bad_response", message, hint="Raise the agent's maxTokens.", permanent=True)
        return EmptyAnswer(self.id)

    def _with_wait(self, error: ModelError) -> ModelError:
        if not self._resilience.retry.asks_too_much(error):
            return error
        message = f"{error} It asks for a wait of {math.ceil(error.retry_after_s or 0)} s."
        hint = "Ask again after that, or choose another model."
        return ModelError(error.code, message, hint=hint, retry_after_s=error.retry_after_s)
