"""Runs that start by themselves: sends their message and waits for the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import NotFound
from onyx_jupyter.events import ChatAborted, ChatError, ChatFinal
from onyx_jupyter.operations.sending import SendMessage
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.store import SessionStore

End = ChatFinal | ChatError | ChatAborted


@dataclass(frozen=True, slots=True)
class EndedRun:
    """`denied` are the calls that nobody was there to allow; `statuses` those of all calls, in order."""

    session_key: str
    run_id: str
    end: End
    denied: Sequence[str]
    statuses: Sequence[str]


class UnattendedRuns:
    """Sends messages with nobody there, into a new session or an agent's main one."""

    def __init__(
        self, sessions: SessionStore, streams: SessionStreams, send: SendMessage, activity: Callable[[str], str]
    ) -> None:
        """`activity` says whether a session is idle."""
        self._activity = activity
        self._sessions = sessions
        self._streams = streams
        self._send = send

    async def new_session(self, agent_id: str, title: str) -> str:
        """Raises: StorageError."""
        return (await self._sessions.create(agent_id, title, None)).session_key

    async def is_only_unattended(self, session_key: str) -> bool:
        """Whether no person has written in the session. Raises: NotFound, StorageError."""
        entries = (await self._sessions.get(session_key)).entries
        return all(entry.origin.is_unattended for entry in entries if entry.role == "user")

    async def forget(self, session_key: str) -> None:
        """Removes the session of a run that has ended, once that has let go of it. Raises: StorageError."""
        while self._activity(session_key) != "idle":  # noqa: ASYNC110 - for an instant, and only at a run's end
            await asyncio.sleep(0.01)
        await self._sessions.delete(session_key)

    async def main_session(self, agent_id: str, configured: str | None) -> str | None:
        """The configured session, else the agent's most recently used conversation; None if there is none.

        Raises: NotFound if the configured one is gone, StorageError.
        """
        listed = await self._sessions.list()
        if configured is not None and any(one.session_key == configured for one in listed):
            return configured
        if configured is not None:
            raise NotFound(f"`schedule.mainSession` names the session {configured!r}, which does not exist.")
        talks = (one for one in listed if one.summary.agent_id == agent_id)
        return next((one.session_key for one in talks if one.summary.origin not in ("job", "heartbeat")), None)

    async def run(self, session_key: str, message: str, origin: RunOrigin, **how: Any) -> EndedRun:
        """Waits until the run has ended. `how` as for `Conversations.send`. Raises: what that raises."""
        ended: asyncio.Queue[End] = asyncio.Queue()

        def heard(streamed: StreamedEvent) -> None:
            if isinstance(streamed.event, ChatFinal | ChatError | ChatAborted):
                ended.put_nowait(streamed.event)

        self._streams.watch(session_key, heard)
        try:
            sent = await self._send(session_key, message, origin=origin, when_busy="followup", **how)
            while (end := await ended.get()).run_id != sent.run_id:
                pass  # of a run before it
        finally:
            self._streams.disconnect(heard)
        entries = (await self._sessions.get(session_key)).entries
        results = [entry for entry in entries if entry.run_id == sent.run_id and entry.role == "tool"]
        calls = {call.id: call.name for entry in entries for call in entry.tool_calls}
        statuses = [str(entry.meta.get("status")) for entry in results]
        denied = [calls.get(entry.tool_call_id or "", "") for entry in results if entry.meta.get("status") == "denied"]
        return EndedRun(session_key, sent.run_id, end, denied, statuses)
