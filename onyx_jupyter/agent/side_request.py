"""Sends a model one request outside of the conversation, without tools. The answer is neither shown nor stored."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from onyx_jupyter.agent.processor import Processors, Reply
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import Model, ModelDone, ModelNote, ModelRequest, TextDelta, TextWasThinking


async def _ignored(note: ModelNote) -> None:
    """Ignores notes."""


async def side_request(
    model: Model,
    request: ModelRequest,
    processors: Processors,
    on_note: Callable[[ModelNote], Awaitable[None]] = _ignored,
) -> Reply:
    """Returns the whole answer, after the processors. Raises: ModelError, Halt."""
    stream = model.stream(await processors.before_model(request))
    text, usage = "", Usage()
    try:
        async for event in stream:
            if isinstance(event, TextDelta):
                text += event.text
            elif isinstance(event, TextWasThinking):
                text = ""
            elif isinstance(event, ModelNote):
                await on_note(event)
            elif isinstance(event, ModelDone):
                usage = event.usage
    finally:
        await end_stream(stream)
    return await processors.after_model(Reply(text, (), usage, has_text=bool(text)))


async def end_stream(stream: object) -> None:
    """Ends the provider's work now rather than at garbage collection, even if cancelled."""
    if (close := getattr(stream, "aclose", None)) is not None:
        await asyncio.shield(close())
