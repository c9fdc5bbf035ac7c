"""The model inside cell mode, asked one short thing at a time. It adds up what all of it took."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from onyx_jupyter.cell_mode.cell_source import has_block
from onyx_jupyter.messages import Message, ToolCall, Usage
from onyx_jupyter.protocols import Guidance, Model, ModelDone, ModelEvent, ModelRequest, TextDelta, TextWasThought
from onyx_jupyter.security.external_content import plainly

Events = AsyncGenerator[ModelEvent, None]
_WRITE_IT = "Write the cell: one block of code between ``` and ```, and nothing else."
CALM, BOLD, HOT = 0.2, 0.7, 1.1
"""Temperatures: of a first try, and of one after a failure, which has to be another one."""


class Inner:
    """`usage` is that of all requests so far, `text` the last answer as far as it has come.

    `began_anew` says that the last answer does not go on from what was begun for it, `is_cut` that its limit of tokens
    ended it.
    """

    def __init__(self, model: Model, system: str, redact: Callable[[str], str]) -> None:
        self._model = model
        self._system = system
        self._redact = redact
        self.usage = Usage()
        self.text = ""
        self.began_anew = False
        self._asked_again = False
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
        """The answer as it comes, without its end; `before` are turns that stand in front of the prompt.

        Nothing in the prompt or in them can pass for a turn. Raises: ModelError.
        """
        self.text, self.is_cut = "", False
        turns = [Message(one.role, plainly(self._redact(one.content))) for one in (*before, Message("user", prompt))]
        request = ModelRequest(self._system, turns, temperature=temperature, max_tokens=max_tokens, guidance=guidance)
        async with aclosing(self._model.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                if isinstance(event, ModelDone):
                    self.usage = self.usage + event.usage
                    self.began_anew = event.began_anew
                    self.is_cut = event.finish_reason == "length"
                    continue
                if isinstance(event, TextDelta):
                    self.text += event.text
                elif isinstance(event, TextWasThought):
                    self.text = ""
                yield event

    async def ask_for_cell(self, prompt: str, guidance: Guidance, *, max_tokens: int, temperature: float) -> Events:
        """The same; of an answer that began anew, words without a block are none, and once the cell is asked for."""
        before: tuple[Message, ...] = ()
        while True:
            asking = self.ask(prompt, guidance, max_tokens=max_tokens, temperature=temperature, before=before)
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            if not self.began_anew or has_block(self.text):
                return
            before, prompt = (Message("user", prompt), Message("assistant", self.text)), _WRITE_IT
            self.text = ""
            yield TextWasThought()
            if self._asked_again:
                return
            self._asked_again = True

    async def gather(
        self,
        prompt: str,
        guidance: Guidance,
        *,
        max_tokens: int,
        temperature: float,
        before: Sequence[Message] = (),
    ) -> Events:
        """The same, with the answer in `text` alone: what comes out is what else there is to tell."""
        asking = self.ask(prompt, guidance, max_tokens=max_tokens, temperature=temperature, before=before)
        async with aclosing(asking) as events:
            async for event in events:
                if not isinstance(event, TextDelta):
                    yield event

    def end(self) -> ModelDone:
        """The end of an answer, with what all of it took."""
        return ModelDone((), self.usage)

    async def say(self, text: str) -> Events:
        """An answer that needs no model."""
        yield TextDelta(text)
        yield self.end()

    async def call(self, call: ToolCall) -> Events:
        """The end of a step that goes on with a tool."""
        yield ModelDone((call,), self.usage, "tool_calls")
