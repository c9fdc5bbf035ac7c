"""What goes along with a message, read for the agent and the model that will answer it. It sends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from onyx_jupyter.errors import NotFound
from onyx_jupyter.runtime.agents import AgentParts
from onyx_jupyter.runtime.recall import Recall
from onyx_jupyter.runtime.sent_context import Item, SentContext
from onyx_jupyter.runtime.surroundings import Surroundings
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.transcript import SessionTranscript


class MessageContext:
    """Whose paths count and how much fits depends on the session: its agent, and whether its model is a small one."""

    def __init__(
        self, context: SentContext, surroundings: Surroundings, is_light: Callable[[str], bool], recall: Recall
    ) -> None:
        self._context = context
        self._around = surroundings
        self._is_light = is_light
        self._recall = recall

    async def of_message(
        self, transcript: SessionTranscript, message: str, items: Sequence[Item], model: str | None
    ) -> list[dict[str, Any]]:
        """The items as they are sent now, and behind them what memory has to say to the message. Raises: NotFound."""
        try:
            parts, model_id = self._answering(transcript, model)
        except NotFound:
            if items:
                raise
            return []  # the run will say that there is no such agent
        light = self._is_light(model_id)
        key, entries = transcript.session_key, transcript.entries
        recalling = asyncio.create_task(self._recall.items(parts.config.id, key, message, entries, light=light))
        try:
            sent = await self._context.resolve(items, parts.paths, light=light) if items else []
            return [*sent, *await recalling]
        finally:
            recalling.cancel()

    async def read(
        self, transcript: SessionTranscript | None, items: Sequence[Item], model: str | None
    ) -> list[dict[str, Any]]:
        """The items as they are sent now; without a session, to the standard agent. Raises: NotFound."""
        if not items:
            return []
        parts, model_id = self._answering(transcript, model)
        return await self._context.resolve(items, parts.paths, light=self._is_light(model_id))

    def _answering(self, transcript: SessionTranscript | None, model: str | None) -> tuple[AgentParts, str]:
        """The agent and the model that will answer."""
        summary = summarise(transcript.entries) if transcript is not None else None
        around = self._around
        parts = around.agent(summary.agent_id if summary else around.settings().agent(None).id)
        return parts, model or (summary.model if summary else None) or around.model_of(parts.config)
