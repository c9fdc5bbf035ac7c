"""The model inside cell mode, asked one short question at a time. It sums up the usage."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from onyx_jupyter.cell_mode.cell_source import has_block
from onyx_jupyter.messages import Message, ToolCall, Usage
from onyx_jupyter.protocols import Guidance, Model, ModelDone, ModelEvent, ModelRequest, TextDelta, TextWasThinking
from onyx_jupyter.security.external_content import escape_marks

Events = AsyncGenerator[ModelEvent, None]
_WRITE_IT = "Write the cell: one block of code between ``` and ```, and nothing else."
CALM, BOLD, HOT = 0.2, 0.7, 1.1
"""Temperatures: of a first try, and of tries after a failure, which have to differ from it."""


class Inner:
    """`usage` is the total of all requests so far, `text` the last answer as far as received.

    `restarted` says that the last answer doesn't continue the given beginning, `is_cut` that its token limit ended it.
    """

    def __init__(self, model: Model, system: str, redact: Callable[[str], str]) -> None:
        self._model = model
        self._system = system
        self._redact = redact
        self.usage = Usage()
        self.text = ""
        self.restarted = False
        self._has_retried = False
        self.is_cut = False

    async def ask(
        self,
        prompt: str,
        guidance: Guidance,
        *,
        max_tokens: int,
        temperature: float = CALM,
        before: Sequence[Message] = (),
    ) -> Events:
        """The answer as it arrives, without its end; `before` are turns that precede the prompt.

        Nothing in the prompt or these turns can pass for a turn. Raises: ModelError.
        """
        self.text, self.is_cut = "", False
        turns = [
            Message(one.role, escape_marks(self._redact(one.content))) for one in (*before, Message("user", prompt))
        ]
        request = ModelRequest(self._system, turns, temperature=temperature, max_tokens=max_tokens, guidance=guidance)
        async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, ModelDone):
                    self.usage = self.usage + event.usage
                    self.restarted = event.restarted
                    self.is_cut = event.finish_reason == "length"
                    continue
                if isinstance(event, TextDelta):
                    self.text += event.text
                elif isinstance(event, TextWasThinking):
                    self.text = ""
                yield event

    async def ask_for_cell(self, prompt: str, guidance: Guidance, *, max_tokens: int, temperature: float) -> Events:
        """Like `ask`; an answer that began anew without a code block is discarded, and the cell requested once more."""
        before: tuple[Message, ...] = ()
        while True:
            asking = self.ask(prompt, guidance, max_tokens=max_tokens, temperature=temperature, before=before)
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            if not self.restarted or has_block(self.text):
                return
            before, prompt = (Message("user", prompt), Message("assistant", self.text)), _WRITE_IT
            self.text = ""
            yield TextWasThinking()
            if self._has_retried:
                return
            self._has_retried = True

    async def gather(
        self,
        prompt: str,
        guidance: Guidance,
        *,
        max_tokens: int,
        temperature: float,
        before: Sequence[Message] = (),
    ) -> Events:
        """Like `ask`, but puts the answer only into `text` and yields all other events."""
        asking = self.ask(prompt, guidance, max_tokens=max_tokens, temperature=temperature, before=before)
        async with aclosing(asking) as events:
            async for event in events:
                if not isinstance(event, TextDelta):
                    yield event

    def end(self) -> ModelDone:
        """The end of an answer, with the total usage."""
        return ModelDone((), self.usage)

    async def answer_text(self, text: str) -> Events:
        """An answer that needs no model."""
        yield TextDelta(text)
        yield self.end()

    async def call(self, call: ToolCall) -> Events:
        """The end of a step that continues with a tool call."""
        yield ModelDone((call,), self.usage, "tool_calls")
