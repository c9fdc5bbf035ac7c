"""Questions of the agent that wait for a person's words: the first answer counts, silence is none. It runs no tool."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from onyx_jupyter.approvals.broker import ANSWER_WRITE_S
from onyx_jupyter.clock import Clock, IdSource, timestamp
from onyx_jupyter.errors import AlreadyResolved, InvalidRequest, NotFound, OnyxError
from onyx_jupyter.events import QuestionAsked, QuestionOutcome, QuestionResolved
from onyx_jupyter.protocols import UserAnswer, UserQuestion

log = logging.getLogger(__name__)
DECLINED = "The user chose not to answer. Go on without it, or stop and say why."
SILENCE = "Nobody answered in time. Go on with what is most likely meant and say what you assumed, or stop and say why."


class QuestionJournal(Protocol):
    """Where questions and answers are written before anybody hears of them."""

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None:
        """Raises: StorageError, and then nobody is asked."""
        ...

    async def answered(self, session_key: str, resolved: QuestionResolved) -> None:
        """Raises: StorageError, and then the answer does not count."""
        ...


@dataclass(frozen=True)
class PendingQuestion:
    """A question that waits."""

    session_key: str
    asked: QuestionAsked
    answer: asyncio.Future[UserAnswer]


class Questions:
    """Every open question of this server."""

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
        self._answer_write_s = answer_write_s
        self._pending: dict[str, PendingQuestion] = {}
        self._resolved: set[str] = set()
        self._restored: dict[tuple[str, str], tuple[QuestionAsked, asyncio.Event]] = {}
        self._closing = False

    async def ask(self, session_key: str, run_id: str, call_id: str, question: UserQuestion) -> UserAnswer:
        """Waits until somebody answers or the time is over; cancelling closes the question. Raises: StorageError.

        Cancelled with a message, it was the user's next words that closed it.
        """
        restored, known = self._restored.pop((run_id, call_id), (None, None))
        asked = restored or self._asked(run_id, call_id, question)
        pending = PendingQuestion(session_key, asked, asyncio.get_running_loop().create_future())
        await self._journal.asked(session_key, asked, restored=restored is not None)
        self._pending[asked.question_id] = pending
        if known is not None:
            known.set()
        try:
            async with asyncio.timeout(self._remaining_s(asked)):
                return await asyncio.shield(pending.answer)
        except TimeoutError:
            return await self._expire(pending)
        except asyncio.CancelledError as cancelled:
            if not self._closing and self._take_if_open(pending):
                by = "message" if cancelled.args else "stop"
                await asyncio.shield(asyncio.ensure_future(self._abort(pending, by)))
            raise
        finally:
            self._pending.pop(asked.question_id, None)
            pending.answer.cancel()  # nobody waits for it any more

    async def answer(self, question_id: str, by: str, answer: str | None) -> None:
        """None declines. Raises: NotFound, AlreadyResolved, InvalidRequest (no such choice), StorageError."""
        pending = self._pending.get(question_id)
        if pending is None:
            if question_id in self._resolved:
                raise AlreadyResolved("This question was already answered.", hint="Nothing more is needed.")
            raise NotFound(f"There is no open question {question_id!r}.")
        asked = pending.asked
        if answer is not None and not asked.free_text and answer not in asked.choices:
            raise InvalidRequest(f"`answer` must be one of: {', '.join(asked.choices)}.", field="answer")
        self._take_if_open(pending)
        outcome: QuestionOutcome = "declined" if answer is None else "answered"
        try:
            await self._settle(pending, outcome, by, answer)
        except BaseException:
            if not pending.answer.done():
                self._pending[question_id] = pending  # nothing was decided: it can be answered again
                self._resolved.discard(question_id)
            raise
        if not pending.answer.done():
            pending.answer.set_result(UserAnswer(answer, "" if answer is not None else DECLINED))

    def pending(self, session_key: str | None = None) -> list[PendingQuestion]:
        """Open questions, the oldest first."""
        return [item for item in self._pending.values() if session_key in (None, item.session_key)]

    def restore(self, asked: QuestionAsked) -> asyncio.Event:
        """A question from before a restart keeps its id and deadline; the event is set once it can be answered."""
        known = asyncio.Event()
        self._restored[(asked.run_id, asked.call_id)] = (asked, known)
        return known

    def close(self) -> None:
        """The server goes down: open questions stay open on disk, for the next start."""
        self._closing = True

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

    def _remaining_s(self, asked: QuestionAsked) -> float:
        return max(0.0, (datetime.fromisoformat(asked.expires_at) - self._clock.now()).total_seconds())

    def _take_if_open(self, pending: PendingQuestion) -> bool:
        """Out of the list at once, so that of two answers at the same moment the second finds it answered."""
        taken = self._pending.pop(pending.asked.question_id, None) is not None
        if taken:
            self._resolved.add(pending.asked.question_id)
        return taken

    async def _expire(self, pending: PendingQuestion) -> UserAnswer:
        if not self._take_if_open(pending):
            # Somebody answered at the same moment: theirs counts, unless it could not be written down.
            done, _ = await asyncio.wait([pending.answer], timeout=self._answer_write_s)
            if done:
                return pending.answer.result()
            if not self._take_if_open(pending):  # it is still being written
                return UserAnswer(None, SILENCE)
        await self._settle(pending, "expired", "timeout", None)
        return UserAnswer(None, SILENCE)

    async def _abort(self, pending: PendingQuestion, by: str) -> None:
        """A Stop stays a Stop, also where the disk refuses the note of it."""
        try:
            await self._settle(pending, "aborted", by, None)
        except OnyxError as error:
            log.error("The end of question %s could not be written: %s", pending.asked.question_id, error)

    async def _settle(self, pending: PendingQuestion, outcome: QuestionOutcome, by: str, answer: str | None) -> None:
        asked = pending.asked
        resolved = QuestionResolved(asked.question_id, asked.run_id, asked.call_id, outcome, by, answer)
        await self._journal.answered(pending.session_key, resolved)
