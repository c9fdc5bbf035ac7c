"""Sends the numbered events of each session to its subscribers, and keeps them for those who return. It never waits.

Events are passed on as they are. Each adapter encodes an event for the wire, once for all its connections.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onyx_jupyter.events import (
    END_OF_RUN,
    ApprovalRequested,
    ApprovalResolved,
    ChatDelta,
    ChatStarted,
    ChatThought,
    RunEvent,
    ToolDraft,
    event_data,
)
from onyx_jupyter.runs.child_requests import Asked, ChildRequests
from onyx_jupyter.runs.streamed_event import StreamedEvent

log = logging.getLogger(__name__)
KEEP_AFTER_RUN_S = 600.0

Subscriber = Callable[[StreamedEvent], None]


@dataclass
class SessionStream:
    """One session's events: `kept` holds those of runs in progress and of runs that ended recently.

    `live` gives, for each run in progress, the number before its first event; `asked` the pending approvals, with the
    number of their request.
    """

    session_key: str
    seq: int = 0
    kept: list[StreamedEvent] = field(default_factory=list)
    subscribers: set[Subscriber] = field(default_factory=set)
    live: dict[str, int] = field(default_factory=dict)
    asked: dict[str, tuple[int, ApprovalRequested]] = field(default_factory=dict)


class SessionStreams:
    """Every session's stream."""

    def __init__(self, redact: Callable[[Any], Any] = lambda data: data) -> None:
        """`redact` removes secrets from an event's data; text, thoughts and drafted cells arrive without them.

        Only an approval request is sent as it is, since what the person approves is what runs; once it is answered,
        later subscribers get it without secrets.
        """
        self._redact = redact
        self._streams: dict[str, SessionStream] = {}
        self._broadcast: set[Subscriber] = set()
        self._relays = ChildRequests()

    def publish(self, session_key: str, event: RunEvent) -> None:
        """Numbers the event and sends it to all subscribers of the session."""
        stream = self._stream(session_key)
        if isinstance(event, ChatStarted):
            stream.live[event.run_id] = stream.seq
        stream.seq += 1
        streamed = self._to_streamed(session_key, stream.seq, event, whole=isinstance(event, ApprovalRequested))
        stream.kept.append(streamed)
        if isinstance(event, ApprovalRequested):
            stream.asked[event.approval_id] = (stream.seq, event)
        elif isinstance(event, ApprovalResolved):
            self._hide(stream, event.approval_id)
        _notify(stream.subscribers, streamed)
        streamed.release_encoded()
        if isinstance(event, END_OF_RUN):
            stream.live.pop(event.run_id, None)
            loop = asyncio.get_running_loop()
            loop.call_later(KEEP_AFTER_RUN_S, self._shorten, session_key, stream.seq)
        if (relayed := self._relays.relayed(event)) is not None:
            self.publish(*relayed)

    def relay(self, run_id: str, session_key: str, parent_run_id: str) -> None:
        """From now on, what this run asks a person also appears in its parent's session."""
        self._relays.begin(run_id, session_key, parent_run_id)

    def end_relay(self, run_id: str) -> None:
        self._relays.end(run_id)

    def open_requests(self, session_key: str) -> Sequence[Asked]:
        """What children of the session's runs ask there and wait for."""
        return self._relays.open_requests(session_key)

    def broadcast(self, event: str, data: dict[str, object]) -> None:
        """Sends an event to every connection, whatever it is subscribed to; not numbered."""
        streamed = StreamedEvent(event, None, None, self._redact(data))
        _notify(self._broadcast, streamed)

    def connect(self, subscriber: Subscriber) -> None:
        """From now on the subscriber gets broadcasts."""
        self._broadcast.add(subscriber)

    def disconnect(self, subscriber: Subscriber) -> None:
        """Ends broadcasts and all sessions' events for the subscriber."""
        self._broadcast.discard(subscriber)
        for stream in self._streams.values():
            stream.subscribers.discard(subscriber)

    def subscribe(
        self, session_key: str, subscriber: Subscriber, after_seq: int | None
    ) -> tuple[int, list[StreamedEvent]]:
        """The stream's newest number, and the events to send first: those after `after_seq`, or of runs in progress.

        No event is published between the two, so nothing is missed and nothing comes twice. A number that is not
        reached yet is from before a restart and counts as none.
        """
        stream = self._stream(session_key)
        stream.subscribers.add(subscriber)
        known = after_seq is not None and after_seq <= stream.seq
        first = after_seq if known else min(stream.live.values(), default=None)
        missed = [] if first is None else [streamed for streamed in stream.kept if (streamed.seq or 0) > first]
        return stream.seq, missed

    def watch(self, session_key: str, subscriber: Subscriber) -> None:
        """Subscribes without asking for earlier events."""
        self._stream(session_key).subscribers.add(subscriber)

    def forget(self, session_key: str) -> None:
        """The session is deleted: nothing more comes from it."""
        self._streams.pop(session_key, None)

    def _to_streamed(self, session_key: str, seq: int, event: RunEvent, *, whole: bool = False) -> StreamedEvent:
        if isinstance(event, ChatDelta | ChatThought | ToolDraft):
            return StreamedEvent(event.name, event, seq, None)
        data = event_data(event)
        data = {**(data if whole else self._redact(data)), "sessionKey": session_key, "seq": seq}
        return StreamedEvent(event.name, event, seq, data)

    def _hide(self, stream: SessionStream, approval_id: str) -> None:
        """The approval is no longer open, so its request is kept without secrets, like everything else."""
        seq, event = stream.asked.pop(approval_id, (None, None))
        if seq is not None and event is not None:
            hidden = self._to_streamed(stream.session_key, seq, event)
            stream.kept = [hidden if streamed.seq == seq else streamed for streamed in stream.kept]

    def _stream(self, session_key: str) -> SessionStream:
        return self._streams.setdefault(session_key, SessionStream(session_key))

    def _shorten(self, session_key: str, up_to_seq: int) -> None:
        stream = self._streams.get(session_key)
        if stream is None:
            return
        last = min([up_to_seq, *stream.live.values()])
        stream.kept = [streamed for streamed in stream.kept if (streamed.seq or 0) > last]


def _notify(subscribers: Iterable[Subscriber], streamed: StreamedEvent) -> None:
    """The event has happened and is on disk: a subscriber that fails does not block the rest."""
    for subscriber in tuple(subscribers):
        try:
            subscriber(streamed)
        except Exception:
            log.exception("A listener failed to handle %s", streamed.name)
