"""Tests a connection with one real, short completion."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import Model, ModelDone, ModelRequest, TextDelta, ThoughtDelta

TIMEOUT_S = 60.0
# Enough for a model that thinks first to begin with an answer; most use a few.
_MAX_TOKENS = 256
_REQUEST = ModelRequest(
    system="You are being asked whether the connection works.",
    messages=[Message("user", "Reply with the single word: yes")],
    max_tokens=_MAX_TOKENS,
)


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """A completed answer, with the seconds to its first piece and to its end."""

    usage: Usage
    first_s: float
    total_s: float


async def check_connection(model: Model, timeout_s: float = TIMEOUT_S) -> ConnectionCheck:
    """Raises: ModelError."""
    began_s = time.monotonic()
    first_s: float | None = None
    try:
        async with asyncio.timeout(timeout_s):
            async for event in model.stream(_REQUEST):
                if first_s is None and isinstance(event, TextDelta | ThoughtDelta):
                    first_s = time.monotonic() - began_s
                elif isinstance(event, ModelDone):
                    total_s = time.monotonic() - began_s
                    return ConnectionCheck(event.usage, total_s if first_s is None else first_s, total_s)
    except TimeoutError:
        pass
    raise ModelError(
        "timeout",
        f"{model.id} did not complete a short answer within {timeout_s:g} s.",
        hint="Test it again. A model on this machine may still be loading.",
    )
