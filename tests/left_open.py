"""Closes what a test has left open, in the loop in which it was opened."""

import asyncio
import contextlib
from typing import Any

_open: dict[Any, asyncio.AbstractEventLoop] = {}


def opened(server: Any) -> None:
    """It is closed after the test, unless that happens before; without a running loop its maker has to."""
    with contextlib.suppress(RuntimeError):
        _open[server] = asyncio.get_running_loop()


def closed(server: Any) -> None:
    _open.pop(server, None)


def close_all() -> None:
    while _open:
        server, loop = _open.popitem()
        if not loop.is_closed():
            loop.run_until_complete(server.close())
