"""Turns the chunks of one chat completion into model events: words as they arrive, the rest at the end.

Thoughts are separated from the answer, in whichever form they arrive. This module knows neither HTTP nor a client
library; the models supply the chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import CallProgress, ModelDone, ModelEvent, TextDelta, TextWasThinking
from onyx_jupyter.providers.error_map import (
    Provider,
    answer_too_long,
    incomplete_stream,
    model_error,
    no_answer,
    refused,
)
from onyx_jupyter.providers.json_action_stream import JsonActionStream
from onyx_jupyter.providers.text_calls import TextCalls
from onyx_jupyter.providers.thoughts import ThinkingHabit, ThoughtSplitter
from onyx_jupyter.providers.tool_call_deltas import ToolCallDeltas
from onyx_jupyter.text_tokens import token_weight

# Far beyond the longest answer that any model gives.
MAX_TEXT_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A fragment of a tool call, as in OpenAI's deltas; `carried` are fields that go back with it."""

    index: int | None
    id: str | None
    name: str | None
    arguments: str | None
    carried: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ChatChunk:
    """The content of one or more chunks of a stream; `finish_reason` is the provider's own, never made up.

    `thought` comes from a separate field; the text may contain thoughts, too. `usage` is that of the answer so far;
    where it is `estimated`, it leaves out output. `carried` are the fields of the message that go back with the results
    of its calls, as far as they have come.
    """

    text: str = ""
    calls: Sequence[CallPiece] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    thought: str = ""
    carried: Mapping[str, Any] | None = None


async def chat_events(
    chunks: AsyncIterator[ChatChunk],
    provider: Provider,
    *,
    as_action: bool,
    offered: Collection[str] = (),
    habit: ThinkingHabit | None = None,
    restarted: bool = False,
    progress: CallProgress | None = None,
) -> AsyncGenerator[ModelEvent, None]:
    """The answer as Onyx's own events. Raises: ModelError.

    `as_action` reads the text as a JSON action; otherwise a text that is only a call of an `offered` tool becomes one.
    `restarted` is passed on to `ModelDone`. `progress` is kept up to date from the first chunk on.
    """
    answer = _Answer(chunks, provider, progress or CallProgress())
    reader = JsonActionStream() if as_action else TextCalls(offered)
    splitter = ThoughtSplitter(habit or ThinkingHabit())
    try:
        async with aclosing(answer.words()) as words:
            async for chunk in words:
                for event in as_said(splitter.feed(chunk.text, chunk.thought), reader):
                    yield event
    except ModelError:
        for event in as_said(splitter.finish(is_whole=False), reader):
            yield event
        if isinstance(reader, TextCalls) and reader.held:
            yield TextDelta(reader.held)
        raise
    for event in as_said(splitter.finish(is_whole=answer.finish_reason != "length"), reader):
        yield event
    native = answer.fragments.calls()
    rest, calls = (reader.held, native) if native and isinstance(reader, TextCalls) else reader.finish()
    if rest:
        yield TextDelta(rest)
    reason = "tool_calls" if calls else answer.finish_reason or "stop"
    yield ModelDone(calls, answer.usage, reason, restarted, answer.carried if native else None)


def as_said(events: Iterable[ModelEvent], reader: JsonActionStream | TextCalls | None) -> Iterator[ModelEvent]:
    """The same events, with text that may be a call replaced by the words in it."""
    for event in events:
        if isinstance(event, TextWasThinking) and reader is not None:
            reader.reset()
        if not isinstance(event, TextDelta) or reader is None:
            yield event
        elif said := reader.feed(event.text):
            yield TextDelta(said)


class _Answer:
    def __init__(self, chunks: AsyncIterator[ChatChunk], provider: Provider, progress: CallProgress) -> None:
        self.fragments = ToolCallDeltas()
        self.finish_reason: str | None = None
        self._progress = progress
        self._chunks = chunks
        self._provider = provider
        self._chars = 0
        self._of_message: Mapping[str, Any] = {}

    @property
    def usage(self) -> Usage:
        """The provider's figures; none of tokens if it gave none."""
        return self._progress.usage or Usage()

    @property
    def carried(self) -> Mapping[str, Any] | None:
        """The fields that go back with the results of the calls, as `carried_fields` reads them."""
        fields = {"message": self._of_message, "calls": self.fragments.carried()}
        return {name: value for name, value in fields.items() if value} or None

    async def words(self) -> AsyncGenerator[ChatChunk, None]:
        """Every chunk with text or thought. Raises: ModelError, also if the stream ends without saying so."""
        try:
            async for chunk in self._chunks:
                self._count(chunk)
                self.finish_reason = chunk.finish_reason or self.finish_reason
                self._of_message = chunk.carried or self._of_message
                for piece in chunk.calls:
                    self.fragments.add(piece.index, piece.id, piece.name, piece.arguments, piece.carried)
                if chunk.text or chunk.thought:
                    self._chars += len(chunk.text) + len(chunk.thought)
                    yield chunk
                    if self._chars > MAX_TEXT_CHARS:
                        raise answer_too_long(self._provider)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise model_error(error, self._provider, started=True) from None
        if self.finish_reason is None:
            began = self._chars or self.fragments
            raise incomplete_stream(self._provider) if began else no_answer(self._provider)
        if self.finish_reason == "content_filter":
            raise refused(self._provider)

    def _count(self, chunk: ChatChunk) -> None:
        self._progress.usage = chunk.usage or self._progress.usage
        for text in (chunk.text, chunk.thought, *(piece.arguments for piece in chunk.calls)):
            if text:
                self._progress.output_tokens += token_weight(text)
