"""What goes along with a message, read for the agent and the model that will answer it. It sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onyx_jupyter.runtime.runs import Surroundings
from onyx_jupyter.runtime.sent_context import Item, SentContext
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.transcript import SessionTranscript


class MessageContext:
    """Whose paths count and how much fits depends on the session: its agent, and whether its model is a small one."""

    def __init__(self, context: SentContext, surroundings: Surroundings, is_light: Callable[[str], bool]) -> None:
        self._context = context
        self._around = surroundings
        self._is_light = is_light

    async def read(
        self, transcript: SessionTranscript | None, items: Sequence[Item], model: str | None
    ) -> list[dict[str, Any]]:
        """The items as they are sent now; without a session, to the standard agent. Raises: NotFound."""
        if not items:
            return []
        summary = summarise(transcript.entries) if transcript is not None else None
        around, settings = self._around, self._around.settings()
        parts = around.agent(summary.agent_id if summary else settings.agent(None).id)
        model_id = model or (summary.model if summary else None) or settings.config.model_of(parts.config)
        return await self._context.resolve(items, parts.paths, light=self._is_light(model_id))
