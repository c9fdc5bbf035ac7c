"""When a failed call of a provider is made again, and how long to wait before. It never waits or calls itself."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from onyx_jupyter.errors import ModelError

FIRST_WAIT_S = 1.0
_OUTAGES = frozenset({"rate_limit", "timeout", "unavailable", "bad_response"})


@dataclass(frozen=True, slots=True)
class RetryDelays:
    """How to wait, and a number in [0, 1) that spreads the waits; a test puts its own in."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` counts all calls, the first one too."""

    attempts: int = 3
    max_wait_s: float = 30.0

    def wait_s(self, error: ModelError, calls_made: int, chance: float) -> float | None:
        """Seconds until the next call; None where there should be none.

        A provider's own wish is the least; one beyond `max_wait_s` is not waited for.
        Source: M. Brooker, "Exponential Backoff And Jitter" (full jitter).
        """
        if not is_outage(error) or calls_made >= self.attempts or self.asks_too_much(error):
            return None
        jittered_s = chance * min(self.max_wait_s, FIRST_WAIT_S * 2.0 ** (calls_made - 1))
        return max(jittered_s, error.retry_after_s or 0.0)

    def asks_too_much(self, error: ModelError) -> bool:
        """Whether the provider wants a longer wait than anybody should sit through."""
        return error.retry_after_s is not None and error.retry_after_s > self.max_wait_s


def is_outage(error: ModelError) -> bool:
    """Whether the provider failed, rather than said no to this one request: then it may be well again later."""
    return error.code in _OUTAGES and not error.permanent
