"""Waiting that ends early when the user sends a message."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from onyx_jupyter.agent.run import Inbox

T = TypeVar("T")
NEW_MESSAGE = "The user sent a new message."


class Steered(Exception):
    """The user's new message came first."""


async def unless_steered(waiting: Coroutine[Any, Any, T], inbox: Inbox) -> T:
    """Returns what `waiting` returns; if a message arrives first, `waiting` is cancelled with the reason as message.

    Raises: Steered.
    """
    reason = None
    wait = asyncio.ensure_future(waiting)
    arrival = asyncio.ensure_future(inbox.arrival())
    try:
        await asyncio.wait({wait, arrival}, return_when=asyncio.FIRST_COMPLETED)
        reason = NEW_MESSAGE
    finally:
        arrival.cancel()
        if not wait.done():
            wait.cancel(reason)
            await asyncio.wait({wait})
    if wait.cancelled():
        raise Steered
    return wait.result()
