"""Holds on to a model's answer while it is read and ends the provider's work afterwards. It never reads the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from onyx_jupyter.protocols import ModelEvent


@asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncIterator[AsyncIterator[ModelEvent]]:
    """The stream, closed on the way out where it can be closed: not every model's answer is a generator."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
