"""Runs that start by themselves: sends their message and waits for the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import NotFound, OnyxError, StorageError
from onyx_jupyter.events import ChatAborted, ChatError, ChatFinal
from onyx_jupyter.operations.sending import SendMessage
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.runs.streams import SessionStreams
from onyx_jupyter.sessions.origin import RunOrigin
from onyx_jupyter.sessions.store import SessionStore

End = ChatFinal | ChatError | ChatAborted
CHECK_S = 30.0
"""How often it is looked whether a run that has not ended is still there."""


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
        self,
        sessions: SessionStore,
        streams: SessionStreams,
        send: SendMessage,
        *,
        activity: Callable[[str], str],
        is_under_way: Callable[[str], bool],
    ) -> None:
        """`activity` says whether a session is idle, `is_under_way` whether a run works or waits."""
        self._activity = activity
        self._is_under_way = is_under_way
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
        """Removes the session of a run that has ended, once that has let go of it. Raises: NotFound, StorageError."""
        while self._activity(session_key) != "idle":  # noqa: ASYNC110 - for an instant, and only at a run's end
            await asyncio.sleep(0.01)
        await self._sessions.delete(session_key)
        self._streams.forget(session_key)

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

    async def run(
        self, session_key: str, message: str, origin: RunOrigin, *, is_new: bool = False, **how: Any
    ) -> EndedRun:
        """Waits until the run has ended. `how` as for `Conversations.send`.

        A session that `is_new` goes again if nothing can be sent to it. Raises: what sending raises, StorageError;
        OnyxError if the run is gone without an end.
        """
        ended: asyncio.Queue[End] = asyncio.Queue()

        def heard(streamed: StreamedEvent) -> None:
            if isinstance(streamed.event, ChatFinal | ChatError | ChatAborted):
                ended.put_nowait(streamed.event)

        self._streams.watch(session_key, heard)
        try:
            try:
                sent = await self._send(session_key, message, origin=origin, when_busy="followup", **how)
            except OnyxError:
                if is_new:
                    with suppress(NotFound, StorageError):  # what could not be sent matters more
                        await self.forget(session_key)
                raise
            end = await self._end_of(sent.run_id, ended)
        finally:
            self._streams.disconnect(heard)
        try:
            entries = (await self._sessions.get(session_key)).entries
        except NotFound:  # removed meanwhile; how the run ended is known all the same
            entries = ()
        results = [entry for entry in entries if entry.run_id == sent.run_id and entry.role == "tool"]
        calls = {call.id: call.name for entry in entries for call in entry.tool_calls}
        statuses = [str(entry.meta.get("status")) for entry in results]
        denied = [calls.get(entry.tool_call_id or "", "") for entry in results if entry.meta.get("status") == "denied"]
        return EndedRun(session_key, sent.run_id, end, denied, statuses)

    async def _end_of(self, run_id: str, ended: asyncio.Queue[End]) -> End:
        while True:
            try:
                async with asyncio.timeout(CHECK_S):
                    end = await ended.get()
            except TimeoutError:
                if ended.empty() and not self._is_under_way(run_id):
                    raise OnyxError("The run ended without a result. See the server log.") from None
                continue
            if end.run_id == run_id:  # else of a run before it
                return end
