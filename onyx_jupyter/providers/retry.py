"""When a failed call to a provider is retried, and after what wait."""

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
    """How to wait, and a random number in [0, 1) to spread the waits; tests replace both."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`attempts` counts all calls, including the first."""

    attempts: int = 3
    max_wait_s: float = 30.0

    def wait_s(self, error: ModelError, calls_made: int, chance: float) -> float | None:
        """Seconds until the next call; None if there should be none.

        The wait that a provider asks for is the minimum; one beyond `max_wait_s` is not waited for.
        Source: M. Brooker, "Exponential Backoff And Jitter" (full jitter).
        """
        if not is_outage(error) or calls_made >= self.attempts or self.asks_too_much(error):
            return None
        jittered_s = chance * min(self.max_wait_s, FIRST_WAIT_S * 2.0 ** (calls_made - 1))
        return max(jittered_s, error.retry_after_s or 0.0)

    def asks_too_much(self, error: ModelError) -> bool:
        """Whether the provider asks for a longer wait than is acceptable."""
        return error.retry_after_s is not None and error.retry_after_s > self.max_wait_s


def is_outage(error: ModelError) -> bool:
    """Whether the provider failed, rather than refused this one request: it may work again later."""
    return error.code in _OUTAGES and not error.permanent
