"""Ensures that what must follow a write does follow, even if the writer is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def finish_despite_cancel(write: Coroutine[Any, Any, T], then: Callable[[T], None]) -> T:
    """Writes, and calls `then` with what was written, both even if cancelled. Raises: whatever `write` does."""
    writing = asyncio.ensure_future(write)
    try:
        written = await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        if not writing.cancelled() and writing.exception() is None:
            then(writing.result())
        raise
    then(written)
    return written
