"""Waiting for a condition, with a limit that only a broken test reaches."""

import asyncio
from collections.abc import Callable

LIMIT_S = 60.0


async def until(is_true: Callable[[], object]) -> None:
    """Returns as soon as the condition holds. Raises: TimeoutError."""
    async with asyncio.timeout(LIMIT_S):
        while not is_true():  # noqa: ASYNC110 - the condition may be about a file or another process
            await asyncio.sleep(0.002)
