"""Questions at their deadline: an answer counts once it is on disk, and none of them holds the run for ever."""

import asyncio

import pytest

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import AlreadyResolved, NotFound, StorageError
from onyx_jupyter.events import QuestionAsked, QuestionResolved
from onyx_jupyter.human_requests.questions import SILENCE, Questions
from onyx_jupyter.protocols import UserAnswer, UserQuestion
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import LIMIT_S, until

WHICH = UserQuestion("Which month?", ("March", "April"), free_text=True)


class Journal:
    """Remembers what was written; `held` keeps answers of people from being written, `is_full` refuses them then."""

    def __init__(self) -> None:
        self.outcomes: list[str] = []
        self.held = asyncio.Event()
        self.writing = asyncio.Event()
        self.is_full = False

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None:
        """Always written."""

    async def answered(self, session_key: str, resolved: QuestionResolved) -> None:
        if resolved.outcome in ("answered", "declined"):
            self.writing.set()
            await self.held.wait()
            if self.is_full:
                raise StorageError("The disk is full.")
        self.outcomes.append(resolved.outcome)


class Desk:
    """One question whose time is over at once, and its journal."""

    def __init__(self, answer_write_s: float) -> None:
        clock = FakeClock()
        self.journal = Journal()
        self.questions = Questions(self.journal, clock, IdSource(clock), lambda: 0.05, answer_write_s=answer_write_s)
        self.asking: asyncio.Task[UserAnswer] | None = None

    async def asked(self) -> str:
        self.asking = asyncio.create_task(self.questions.ask("s1", "r1", "c1", WHICH))
        await until(lambda: self.questions.pending())
        return self.questions.pending()[0].asked.question_id

    async def answer(self) -> UserAnswer:
        assert self.asking is not None
        async with asyncio.timeout(LIMIT_S):
            return await self.asking


async def test_answer_being_stored_at_deadline_counts():
    desk = Desk(answer_write_s=LIMIT_S)
    answering = asyncio.create_task(desk.questions.answer(await desk.asked(), "ada", "March"))
    await desk.journal.writing.wait()
    await asyncio.wait([desk.asking], timeout=0.2)
    assert not desk.asking.done()
    desk.journal.held.set()
    await answering
    assert await desk.answer() == UserAnswer("March", "")
    assert desk.journal.outcomes == ["answered"]


async def test_answer_at_deadline_that_cannot_be_stored_times_out_and_run_continues():
    desk = Desk(answer_write_s=1.0)
    question_id = await desk.asked()
    desk.journal.is_full = True
    answering = asyncio.create_task(desk.questions.answer(question_id, "ada", "March"))
    await desk.journal.writing.wait()
    await asyncio.wait([desk.asking], timeout=0.1)
    desk.journal.held.set()
    with pytest.raises(StorageError):
        await answering
    assert await desk.answer() == UserAnswer(None, SILENCE)
    assert desk.journal.outcomes == ["expired"]
    assert desk.questions.pending() == []
    with pytest.raises(AlreadyResolved):
        await desk.questions.answer(question_id, "ada", "April")


async def test_answer_rejected_at_deadline_can_be_repeated_while_waiting():
    desk = Desk(answer_write_s=LIMIT_S)
    question_id = await desk.asked()
    desk.journal.is_full = True
    answering = asyncio.create_task(desk.questions.answer(question_id, "ada", "March"))
    await desk.journal.writing.wait()
    await asyncio.wait([desk.asking], timeout=0.1)
    desk.journal.held.set()
    with pytest.raises(StorageError):
        await answering
    desk.journal.is_full = False
    await desk.questions.answer(question_id, "ada", "April")
    assert await desk.answer() == UserAnswer("April", "")
    assert desk.journal.outcomes == ["answered"]


async def test_answer_that_is_never_stored_times_out_and_closes_question():
    desk = Desk(answer_write_s=0.05)
    question_id = await desk.asked()
    answering = asyncio.create_task(desk.questions.answer(question_id, "ada", "March"))
    await desk.journal.writing.wait()
    assert await desk.answer() == UserAnswer(None, SILENCE)
    desk.journal.is_full = True
    desk.journal.held.set()
    with pytest.raises(StorageError):
        await answering
    assert desk.questions.pending() == []
    with pytest.raises((AlreadyResolved, NotFound)):
        await desk.questions.answer(question_id, "ada", "April")
