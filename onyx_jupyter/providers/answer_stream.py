"""Helpers for reading a model's answer: closing its stream, and telling when it has words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onyx_jupyter.protocols import ModelEvent, TextDelta, TextWasThinking


def has_answer_text(had_answer_text: bool, event: ModelEvent) -> bool:
    """Whether the answer has words after this event; thoughts don't count."""
    if isinstance(event, TextWasThinking):
        return False
    return had_answer_text or isinstance(event, TextDelta)


@asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """The stream, closed on exit if it can be closed: not every model's answer is a generator."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
