"""Who asks: what a method may use of its client and of Onyx. It carries no frame itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.notebook.browser_tabs import TabId, TabRequests
from onyx_jupyter.runtime.onyx import Onyx


@dataclass(frozen=True)
class Caller:
    """One connected client.

    `send` hands a frame to it at once; frames put into `after_result` go out right behind the result of the request
    that is being answered. `tab` is the client as one that may have notebooks open.
    """

    onyx: Onyx
    tabs: TabRequests
    tab: TabId
    user: str
    health: Callable[[], Awaitable[dict[str, Any]]]
    send: Callable[[str], None]
    after_result: list[str] = field(default_factory=list)
