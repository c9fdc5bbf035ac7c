"""Reads the chunks of one chat completion to their end, whoever brings them: words as they come, the rest at the end.

It knows neither HTTP nor a library; `litellm_model` and `openai_model` bring the chunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import ModelDone, ModelEvent, TextDelta
from onyx_jupyter.providers.call_fragments import CallFragments
from onyx_jupyter.providers.error_map import Provider, endless, model_error, no_answer, refused, stopped_in_the_middle
from onyx_jupyter.providers.json_action_stream import JsonActionStream
from onyx_jupyter.providers.text_calls import TextCalls

# Far beyond the longest answer that any model gives.
MAX_TEXT_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A fragment of a tool call, as OpenAI's deltas bring it."""

    index: int | None
    id: str | None
    name: str | None
    arguments: str | None


@dataclass(frozen=True, slots=True)
class ChatChunk:
    """What one or more chunks of a stream said; `finish_reason` is the provider's own word, never made up."""

    text: str = ""
    calls: Sequence[CallPiece] = ()
    finish_reason: str | None = None
    usage: Usage | None = None


async def chat_events(
    chunks: AsyncIterator[ChatChunk], provider: Provider, *, as_action: bool, offered: Collection[str] = ()
) -> AsyncGenerator[ModelEvent, None]:
    """The answer as Onyx's own events. Raises: ModelError.

    `as_action` reads the text as a JSON action; else a text that is nothing but a call of an `offered` tool is one.
    """
    answer = _Answer(chunks, provider)
    reader = JsonActionStream() if as_action else TextCalls(offered)
    async with aclosing(answer.texts()) as texts:
        async for text in texts:
            if said := reader.feed(text):
                yield TextDelta(said)
    native = answer.fragments.calls()
    rest, calls = (reader.held, native) if native and isinstance(reader, TextCalls) else reader.finish()
    if rest:
        yield TextDelta(rest)
    yield ModelDone(calls, answer.usage, "tool_calls" if calls else answer.finish_reason or "stop")


class _Answer:
    def __init__(self, chunks: AsyncIterator[ChatChunk], provider: Provider) -> None:
        self.fragments = CallFragments()
        self.usage = Usage()
        self.finish_reason: str | None = None
        self._chunks = chunks
        self._provider = provider
        self._text_chars = 0

    async def texts(self) -> AsyncGenerator[str, None]:
        """Every piece of text. Raises: ModelError, also where the stream ends without having said that it is over."""
        try:
            async for chunk in self._chunks:
                self.usage = chunk.usage or self.usage
                self.finish_reason = chunk.finish_reason or self.finish_reason
                for piece in chunk.calls:
                    self.fragments.add(piece.index, piece.id, piece.name, piece.arguments)
                if chunk.text:
                    self._text_chars += len(chunk.text)
                    yield chunk.text
                    if self._text_chars > MAX_TEXT_CHARS:
                        raise endless(self._provider)
        except (ModelError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise model_error(error, self._provider, started=True) from None
        if self.finish_reason is None:
            began = self._text_chars or self.fragments
            raise stopped_in_the_middle(self._provider) if began else no_answer(self._provider)
        if self.finish_reason == "content_filter":
            raise refused(self._provider)
