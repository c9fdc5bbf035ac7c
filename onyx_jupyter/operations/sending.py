"""How a feature sends a message to a session, without knowing the feature that takes it."""

from __future__ import annotations

from typing import Protocol

from onyx_jupyter.runs.runs import Sent, WhenBusy
from onyx_jupyter.sessions.origin import RunOrigin


class SendMessage(Protocol):
    """Sends a message, as `Conversations.send` does."""

    async def __call__(
        self,
        session_key: str,
        message: str,
        *,
        model: str | None = None,
        tool_mode: str | None = None,
        mode: str | None = None,
        when_busy: WhenBusy | None = None,
        origin: RunOrigin = ...,
    ) -> Sent: ...
