"""Reads what is sent along with a message, for the agent and the model that will answer it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.config.schema import AgentConfig
from onyx_jupyter.context.attachments import Attachments, Item
from onyx_jupyter.context.recall import Recall
from onyx_jupyter.errors import NotFound
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.transcript import SessionTranscript


class MessageContext:
    """The session's agent decides which paths are allowed, and its model how much fits: less for a small one."""

    def __init__(
        self,
        context: Attachments,
        agent: Callable[[str | None], AgentParts],
        model_of: Callable[[AgentConfig], str],
        is_light: Callable[[str], bool],
        recall: Recall,
    ) -> None:
        """`agent` returns one as currently configured, the default one for None; `model_of` its own model."""
        self._context = context
        self._agent = agent
        self._model_of = model_of
        self._is_light = is_light
        self._recall = recall

    async def of_message(
        self, transcript: SessionTranscript, message: str, items: Sequence[Item], model: str | None
    ) -> list[dict[str, Any]]:
        """The items as they are sent now, followed by the passages that memory recalls. Raises: NotFound."""
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
        """The items as they are sent now; without a session, to the default agent. Raises: NotFound."""
        if not items:
            return []
        parts, model_id = self._answering(transcript, model)
        return await self._context.resolve(items, parts.paths, light=self._is_light(model_id))

    def _answering(self, transcript: SessionTranscript | None, model: str | None) -> tuple[AgentParts, str]:
        """The agent and the model that will answer."""
        summary = summarise(transcript.entries) if transcript is not None else None
        parts = self._agent(summary.agent_id if summary else None)
        return parts, model or (summary.model if summary else None) or self._model_of(parts.config)
