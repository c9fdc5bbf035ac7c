"""Questions of the agent that wait for a person's answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound, OnyxError
from onyx_jupyter.events import QuestionAsked, QuestionOutcome, QuestionResolved
from onyx_jupyter.human_requests.pending_requests import ANSWER_WRITE_S, Ending, PendingRequests, Refusal, Waiting
from onyx_jupyter.human_requests.restored_requests import Restored
from onyx_jupyter.protocols import UserAnswer, UserQuestion

DECLINED = "The user chose not to answer. Continue without it, or stop and say why."
SILENCE = "Nobody answered in time. Continue with the likeliest meaning and say what you assumed, or stop and say why."


class QuestionJournal(Protocol):
    """Records questions and answers before they are announced."""

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None:
        """Raises: StorageError, and then no one is asked."""
        ...

    async def answered(self, session_key: str, resolved: QuestionResolved) -> None:
        """Raises: StorageError, and then the answer does not count."""
        ...


@dataclass(frozen=True)
class PendingQuestion:
    """A question that waits for an answer."""

    session_key: str
    asked: QuestionAsked


class Questions:
    """All open questions of this server."""

    def __init__(
        self,
        journal: QuestionJournal,
        clock: Clock,
        ids: IdSource,
        timeout_s: Callable[[], float],
        *,
        answer_write_s: float = ANSWER_WRITE_S,
    ) -> None:
        self._journal = journal
        self._clock = clock
        self._ids = ids
        self._timeout_s = timeout_s
        self._room = PendingRequests[PendingQuestion, UserAnswer](clock, _refusal, answer_write_s=answer_write_s)
        self._restored = Restored[QuestionAsked]()

    async def ask(self, session_key: str, run_id: str, call_id: str, question: UserQuestion) -> UserAnswer:
        """Waits for an answer until the time is over; cancelling closes the question. Raises: StorageError.

        A cancellation with a message means that the user's next message closed it.
        """
        restored, known = self._restored.take(run_id, call_id)
        asked = restored or self._asked(run_id, call_id, question)
        pending = PendingQuestion(session_key, asked)

        async def opened() -> None:
            try:
                await self._journal.asked(session_key, asked, restored=restored is not None)
            finally:
                known.set()

        async def note(ending: Ending, reason: str | None) -> None:
            by = "timeout" if ending == "expired" else "message" if reason else "stop"
            await self._settle(pending, ending, by, None)

        expires_at, silence = datetime.fromisoformat(asked.expires_at), UserAnswer(None, SILENCE)
        return await self._room.ask(Waiting(asked.question_id, pending, expires_at, silence, note), opened)

    async def answer(self, question_id: str, by: str, answer: str | None) -> None:
        """None declines. Raises: NotFound, AlreadyResolved, InvalidRequest (no such choice), StorageError."""
        pending = self._room.open(question_id).request
        asked = pending.asked
        if answer is not None and not asked.free_text and answer not in asked.choices:
            raise InvalidRequest(f"`answer` must be one of: {', '.join(asked.choices)}.", field="answer")

        async def write() -> UserAnswer:
            await self._settle(pending, "declined" if answer is None else "answered", by, answer)
            return UserAnswer(answer, "" if answer is not None else DECLINED)

        await self._room.answer(question_id, write)

    def pending(self, session_key: str | None = None) -> list[PendingQuestion]:
        """Open questions, oldest first."""
        return [item for item in self._room.pending() if session_key in (None, item.session_key)]

    def restore(self, asked: QuestionAsked) -> asyncio.Event:
        """A question from before a restart keeps its id and deadline; the event is set once it can be answered."""
        return self._restored.keep(asked.run_id, asked.call_id, asked)

    def close(self) -> None:
        """The server shuts down: open questions stay open on disk, for the next start."""
        self._room.close()

    def _asked(self, run_id: str, call_id: str, question: UserQuestion) -> QuestionAsked:
        expires = self._clock.now() + timedelta(seconds=self._timeout_s())
        return QuestionAsked(
            question_id=self._ids.new(),
            run_id=run_id,
            call_id=call_id,
            question=question.question,
            choices=question.choices,
            free_text=question.free_text,
            expires_at=timestamp(expires),
        )

    async def _settle(self, pending: PendingQuestion, outcome: QuestionOutcome, by: str, answer: str | None) -> None:
        asked = pending.asked
        resolved = QuestionResolved(asked.question_id, asked.run_id, asked.call_id, outcome, by, answer)
        await self._journal.answered(pending.session_key, resolved)


def _refusal(question_id: str, why: Refusal) -> OnyxError:
    match why:
        case "unknown":
            return NotFound(f"There is no open question {question_id!r}.")
        case "answered":
            return AlreadyResolved("This question has already been answered.", hint="There is nothing left to do.")
        case "late":
            return AlreadyResolved("This question timed out.", hint="Send your answer as a message.")
        case "unsaved":
            message = "Your answer could not be saved before the question timed out."
            return AlreadyResolved(message, hint="Send your answer as a message.")
        case "closing":
            return OnyxError("Onyx is shutting down.", hint="Answer when the server is running again.")
