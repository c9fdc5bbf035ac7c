"""A model that answers from a script, without network or processes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import ToolCall, Usage
from onyx_jupyter.protocols import (
    Model,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelProgress,
    ModelRequest,
    TextDelta,
    TextWasThinking,
    ThoughtDelta,
)
from onyx_jupyter.testing.script import (
    Call,
    Fail,
    Finish,
    Hang,
    Hold,
    NotSaid,
    Pause,
    Progress,
    Reply,
    Say,
    Script,
    Think,
    Tokens,
)

_EVENT_POLL_S = 0.002


class ScriptedModel:
    """A protocols.Model with answers written by a test.

    `requests` holds the requests in order; `interrupted` counts answers that were closed or cancelled before their end,
    `finished` those that reached it.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[ModelRequest], Reply],
        *,
        model_id: str = "scripted/model",
        light: bool = False,
        tiny: bool = False,
        context_window: int = 128_000,
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.interrupted = 0
        self.finished = 0
        self._script: Script[ModelRequest] = Script(replies)
        self._id = model_id
        self._light = light
        self._tiny = tiny
        self._context_window = context_window

    @property
    def id(self) -> str:
        return self._id

    @property
    def light(self) -> bool:
        return self._light

    @property
    def tiny(self) -> bool:
        return self._tiny

    @property
    def context_window(self) -> int:
        return self._context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Plays the next reply. Raises: ModelError if the script says Fail, ScriptEnded after the last reply."""
        self.requests.append(request)
        calls: list[ToolCall] = []
        words = 0
        usage: Usage | None = None
        reason: str | None = None
        try:
            for step in self._script.reply(request):
                match step:
                    case Say():
                        for piece in step.pieces:
                            await asyncio.sleep(step.delay_s)
                            yield TextDelta(piece)
                        words += len(step.text.split())
                    case Think():
                        for piece in step.pieces:
                            await asyncio.sleep(step.delay_s)
                            yield ThoughtDelta(piece)
                        words += len(step.text.split())
                    case NotSaid():
                        yield TextWasThinking()
                    case Call():
                        calls.append(_tool_call(step, len(calls)))
                    case Tokens():
                        usage = Usage(
                            step.input_tokens,
                            step.output_tokens,
                            step.cached_tokens,
                            step.cost_usd,
                            step.reasoning_tokens,
                        )
                    case Progress():
                        yield ModelProgress(step.message)
                    case Finish():
                        reason = step.reason
                    case Fail():
                        raise ModelError(step.code, step.message, hint=step.hint, retry_after_s=step.retry_after_s)
                    case Pause():
                        await asyncio.sleep(step.seconds)
                    case Hold():
                        step.reached.set()
                        await until_set(step.released)
                    case Hang():
                        step.reached.set()
                        await asyncio.Event().wait()
                    case _:
                        raise AssertionError(f"{step!r} is a step for the scripted server only.")
        except (asyncio.CancelledError, GeneratorExit):
            self.interrupted += 1
            raise
        self.finished += 1
        yield ModelDone(
            tool_calls=tuple(calls),
            usage=usage or Usage(_count_words(request), words),
            finish_reason=reason or ("tool_calls" if calls else "stop"),
        )


class ScriptedModels:
    """A protocols.Models over given models. `opened` lists the requested ids."""

    def __init__(self, models: Model | Mapping[str, Model]) -> None:
        self._models = dict(models) if isinstance(models, Mapping) else {models.id: models}
        self.opened: list[str] = []
        self.warmed = False
        self.closed = False

    def open(self, model_id: str) -> Model:
        """Raises: ModelError (not_found)."""
        self.opened.append(model_id)
        if model_id not in self._models:
            known = ", ".join(self._models)
            raise ModelError("not_found", f'There is no model "{model_id}".', hint=f"There are: {known}.")
        return self._models[model_id]

    async def list(self, *, refresh: bool = False) -> Sequence[ModelInfo]:
        return [ModelInfo(name, name.partition("/")[0], local=False, tools=True) for name in self._models]

    async def warm(self) -> None:
        self.warmed = True

    async def close(self) -> None:
        self.closed = True


async def until_set(event: threading.Event) -> None:
    """Waits for an event of another thread without blocking the loop; cancelling is immediate."""
    while not event.is_set():  # noqa: ASYNC110 - the event may belong to another thread
        await asyncio.sleep(_EVENT_POLL_S)


def _tool_call(step: Call, index: int) -> ToolCall:
    call_id = step.id or f"call_{index + 1}"
    try:
        arguments = json.loads(step.raw_arguments)
    except json.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        return ToolCall(call_id, step.name, {}, malformed=step.raw_arguments)
    return ToolCall(call_id, step.name, arguments)


def _count_words(request: ModelRequest) -> int:
    return len(request.system.split()) + sum(len(message.content.split()) for message in request.messages)
