"""ChildRequests what a child run asks a person to the session of the run that started it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from onyx_jupyter.events import (
    ApprovalRequested,
    ApprovalResolved,
    QuestionAsked,
    QuestionResolved,
    RunEvent,
    ToolFinished,
)

Asked = ApprovalRequested | QuestionAsked
_Event = TypeVar("_Event", bound=ApprovalRequested | QuestionAsked | QuestionResolved | ToolFinished)


@dataclass(frozen=True, slots=True)
class _Target:
    session_key: str
    run_id: str


class ChildRequests:
    """There it appears as a call of the parent run: the person sees one conversation, and answers in it.

    The id of that call combines those of the child's run and call, since each run numbers its calls from the start.
    """

    def __init__(self) -> None:
        self._targets: dict[str, _Target] = {}
        self._calls: set[tuple[str, str]] = set()
        self._open: dict[str, list[tuple[str, Asked]]] = {}

    def begin(self, run_id: str, session_key: str, parent_run_id: str) -> None:
        self._targets[run_id] = _Target(session_key, parent_run_id)

    def end(self, run_id: str) -> None:
        self._targets.pop(run_id, None)
        self._calls = {call for call in self._calls if call[0] != run_id}
        for asked_id, places in list(self._open.items()):
            if places[0][1].call_id.startswith(f"{run_id}:"):
                del self._open[asked_id]

    def open_requests(self, session_key: str) -> Sequence[Asked]:
        """What is asked in that session and not answered yet, oldest first."""
        return [event for places in self._open.values() for place, event in places if place == session_key]

    def relayed(self, event: RunEvent) -> tuple[str, RunEvent] | None:
        """The other session to send the event to, and its form there."""
        match event:
            case ApprovalRequested() | QuestionAsked():
                return self._asked(event)
            case ApprovalResolved(approval_id=approval_id):
                session_key = self._closed(approval_id)
                return None if session_key is None else (session_key, event)
            case QuestionResolved() if self._closed(event.question_id) is not None:
                return self._renamed(event)
            case ToolFinished() if (event.run_id, event.call_id) in self._calls:
                return self._renamed(event)
        return None

    def _asked(self, event: Asked) -> tuple[str, RunEvent] | None:
        renamed = self._renamed(event)
        if renamed is not None:
            session_key, heard = renamed
            self._calls.add((event.run_id, event.call_id))
            self._open.setdefault(_id(event), []).append((session_key, heard))
        return renamed

    def _closed(self, asked_id: str) -> str | None:
        """The next session up to which the answer is sent."""
        places = self._open.get(asked_id)
        if not places:
            return None
        session_key, _ = places.pop(0)
        if not places:
            del self._open[asked_id]
        return session_key

    def _renamed(self, event: _Event) -> tuple[str, _Event] | None:
        target = self._targets.get(event.run_id)
        if target is None:
            return None
        return target.session_key, replace(event, run_id=target.run_id, call_id=f"{event.run_id}:{event.call_id}")


def _id(event: Asked) -> str:
    return event.approval_id if isinstance(event, ApprovalRequested) else event.question_id
