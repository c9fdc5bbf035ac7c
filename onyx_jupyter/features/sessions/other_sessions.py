"""A run's access to the other sessions of its agent. It never exposes the sessions of another agent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from onyx_jupyter.errors import NotFound, ToolError
from onyx_jupyter.features.sessions.search import SessionSearch
from onyx_jupyter.protocols import OtherSession, SessionMessage, SessionPassage
from onyx_jupyter.runs.runs import Sent, WhenBusy
from onyx_jupyter.sessions.conversation import Summary, summarise
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.store import SessionStore
from onyx_jupyter.sessions.transcript import SessionTranscript

# Extra hits to request: this session holds the question too, so its own turns rank highest and are dropped.
_OWN_TURNS = 5


class Send(Protocol):
    """Sends a message, as `Conversations.send` does."""

    async def __call__(self, session_key: str, message: str, *, when_busy: WhenBusy, origin: RunOrigin) -> Sent: ...


class OtherSessions:
    """Implements `protocols.Sessions` for one run, the one that answers `message` in the session `session_key`."""

    def __init__(
        self, store: SessionStore, search: SessionSearch, send: Send, agent_id: str, session_key: str, message: Entry
    ) -> None:
        self._store = store
        self._search = search
        self._send = send
        self._agent_id = agent_id
        self._session_key = session_key
        self._message = message

    async def list(self) -> Sequence[OtherSession]:
        return [
            _other(item.session_key, item.summary)
            for item in await self._store.list()
            if item.summary.agent_id == self._agent_id and item.session_key != self._session_key
        ]

    async def search(self, query: str, limit: int) -> tuple[Sequence[SessionPassage], str | None]:
        answer = await self._search.search(query, self._agent_id, limit=limit + _OWN_TURNS)
        others = [
            SessionPassage(_other(hit.session_key, hit.summary), hit.place.role, hit.place.at, hit.snippet, hit.score)
            for hit in answer.hits
            if hit.session_key != self._session_key
        ]
        return others[:limit], answer.note

    async def get(self, session_key: str) -> OtherSession:
        return _other(session_key, summarise((await self._open(session_key)).entries))

    async def history(self, session_key: str) -> Sequence[SessionMessage]:
        return [
            SessionMessage(_who(entry), entry.content, tuple(call.name for call in entry.tool_calls), entry.ts)
            for entry in (await self._open(session_key)).entries
            if entry.role in ("user", "assistant") and (entry.content.strip() or entry.tool_calls)
        ]

    async def receiver(self, session_key: str) -> OtherSession:
        if session_key == self._session_key:
            raise ToolError("That is this session: say it here.")
        if self._message.origin.session is not None:
            raise ToolError(
                "You are answering a message from another session, so you cannot send one from here. Say it in your "
                "answer, which can be read there."
            )
        return await self.get(session_key)

    async def send(self, session_key: str, message: str) -> str:
        await self.receiver(session_key)
        sender = {"sessionKey": self._session_key, "agentId": self._agent_id, "runId": self._message.run_id or ""}
        sent = await self._send(
            session_key,
            message,
            when_busy="followup",  # never joins a run that the user has in progress there
            origin=RunOrigin.of_session(sender, interactive=self._message.origin.interactive),
        )
        return sent.run_id

    async def _open(self, session_key: str) -> SessionTranscript:
        """Reports another agent's session as if it did not exist."""
        transcript = await self._store.get(session_key)
        if summarise(transcript.entries).agent_id != self._agent_id:
            raise NotFound(f"There is no session {session_key!r}. sessions_list shows all.")
        return transcript


def _who(entry: Entry) -> str:
    if entry.origin.session is not None:
        return "another session"
    return "user" if entry.role == "user" else "you"


def _other(session_key: str, summary: Summary) -> OtherSession:
    return OtherSession(session_key, summary.title, summary.updated_at, summary.last_message_preview)
