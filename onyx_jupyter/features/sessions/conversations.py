"""The single entry point for messages from any sender, and the session updates that are broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onyx_jupyter.agents.agents import Agents
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.context.message_context import MessageContext
from onyx_jupyter.context.message_meta import MessageMeta
from onyx_jupyter.events import to_camel
from onyx_jupyter.features.sessions.search import SessionSearch
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.operations.signal import Signal
from onyx_jupyter.runs.modes import mode_of
from onyx_jupyter.runs.runs import Runs, Sent, WhenBusy
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.conversation import Summary, summarise
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript

CONVERSATIONS: Key[Conversations] = Key("conversations")
IN_SIDEBAR = RunOrigin()
_OF_SUMMARY = (
    "agent_id",
    "title",
    "created_at",
    "updated_at",
    "message_count",
    "token_count",
    "last_message_preview",
    "model",
    "tool_mode",
    "origin",
)


@dataclass(frozen=True)
class Conversations:
    """The services that a message passes through; `follow` makes the index follow the conversations."""

    configured: Configured
    agents: Agents
    sessions: SessionStore
    search: SessionSearch
    streams: SessionStreams
    runs: Runs
    opened_session: Signal[str]
    context: MessageContext
    follow: Callable[[], None]
    meta: MessageMeta

    async def create_session(self, agent_id: str | None, title: str | None, model: str | None) -> str:
        """Returns the new session's key. Raises: NotFound, StorageError, InvalidRequest (model not allowed)."""
        self.configured.check_model(model)
        transcript = await self.sessions.create(self.agents.agent(agent_id).config.id, title, model)
        self.changed(transcript)
        self.opened(transcript.session_key)
        return transcript.session_key

    def opened(self, session_key: str) -> None:
        """Called when the user opens this session."""
        self.opened_session.notify(session_key)

    def session_info(self, session_key: str, summary: Summary) -> dict[str, Any]:
        """A session's metadata in wire format."""
        info = {to_camel(name): getattr(summary, name) for name in _OF_SUMMARY}
        return {"sessionKey": session_key, **info, "status": "active", "activity": self.runs.activity(session_key)}

    async def send(
        self,
        session_key: str,
        message: str,
        *,
        model: str | None = None,
        tool_mode: str | None = None,
        effort: str | None = None,
        mode: str | None = None,
        context: Sequence[Mapping[str, Any]] = (),
        when_busy: WhenBusy | None = None,
        origin: RunOrigin = IN_SIDEBAR,
    ) -> Sent:
        """Returns the run that will answer; the message is on disk when this returns.

        `tool_mode` says whether the model proposes cells (cell) or calls tools (tools), `effort` how much it thinks
        (one of EFFORTS); None leaves either to its provider.
        `context` lists the attached items in wire format; they are read now. `when_busy` says what happens if a run is
        already in progress (None: as configured).

        Raises: NotFound, SessionBusy, StorageError; InvalidRequest for a model or mode that is not allowed here.
        """
        self.configured.check_model(model)
        mode = self._allowed_mode(mode)
        transcript = await self.sessions.get(session_key)
        if origin.is_person:
            self.opened(session_key)
        self.follow()
        meta = await self.meta.of(
            transcript,
            message,
            model=model,
            tool_mode=tool_mode,
            effort=effort,
            mode=mode,
            context=context,
            origin=origin,
        )
        when_busy = when_busy or self.configured.settings.config.runtime.when_busy
        sent = await self.runs.send(transcript, message, meta, when_busy)
        return replace(sent, context=meta.get("context", ()))

    async def preview_context(
        self, session_key: str | None, items: Sequence[Mapping[str, Any]], model: str | None
    ) -> list[dict[str, Any]]:
        """What the model would get for these items if they were sent now. Raises: NotFound, StorageError."""
        transcript = await self.sessions.get(session_key) if session_key else None
        return await self.context.read(transcript, items, model)

    async def abort(self, run_id: str) -> bool:
        """Stops the run within a second; returns False if it has already ended."""
        return await self.runs.abort(run_id, self.sessions.get)

    def changed(self, transcript: SessionTranscript) -> None:
        """Called when the session was created, or a run of it has begun or ended."""
        info = self.session_info(transcript.session_key, summarise(transcript.entries))
        self.streams.broadcast("session.updated", info)
        self.search.changed()

    def _allowed_mode(self, wished: str | None) -> str | None:
        """The requested mode; if none was requested and Agent mode is not allowed, the next stricter one by name."""
        ceiling = self.configured.ceiling
        if wished is None:
            standard = ceiling.mode(mode_of({}))
            return None if standard == mode_of({}) else standard
        ceiling.check_mode(mode_of({"mode": wished}))
        return wished
