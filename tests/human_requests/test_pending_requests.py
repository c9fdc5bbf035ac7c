"""The room itself: who may answer when, what is written in which order, and that nothing in it hangs or is lost."""

import asyncio
import logging
from datetime import timedelta

import pytest

from onyx_jupyter.errors import OnyxError, StorageError
from onyx_jupyter.human_requests import pending_requests
from onyx_jupyter.human_requests.pending_requests import Ending, PendingRequests, Refusal, Waiting
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import LIMIT_S, until


class Refused(OnyxError):
    pass


def refusal(waiting_id: str, why: Refusal) -> OnyxError:
    return Refused(f"{waiting_id}: {why}")


class Desk:
    """A room, and what was written in it. `note_fails` is what the note of an end raises, `note_held` holds it up."""

    def __init__(self, answer_write_s: float = LIMIT_S, patience_s: float = 600.0) -> None:
        self.clock = FakeClock()
        self.room = PendingRequests[str, str](self.clock, refusal, answer_write_s=answer_write_s)
        self.patience_s = patience_s
        self.lines: list[str] = []
        self.note_fails: Exception | None = None
        self.note_free = asyncio.Event()
        self.note_free.set()

    def waiting(self, waiting_id: str = "w1") -> Waiting[str, str]:
        async def note(ending: Ending, reason: str | None) -> None:
            await self.note_free.wait()
            if self.note_fails is not None:
                raise self.note_fails
            self.lines.append(f"{ending} {reason}")

        expires_at = self.clock.now() + timedelta(seconds=self.patience_s)
        return Waiting(waiting_id, waiting_id.upper(), expires_at, "silence", note)

    async def opened(self) -> None:
        self.lines.append("opened")

    def ask(self, waiting_id: str = "w1") -> asyncio.Task[str]:
        return asyncio.create_task(self.room.ask(self.waiting(waiting_id), self.opened))

    async def write(self) -> str:
        self.lines.append("yes")
        return "yes"


async def test_unstored_request_is_not_listed_but_can_be_answered():
    desk = Desk()
    told, free = asyncio.Event(), asyncio.Event()

    async def opened() -> None:
        desk.lines.append("opened")
        told.set()
        await free.wait()

    asking = asyncio.create_task(desk.room.ask(desk.waiting(), opened))
    await told.wait()
    assert desk.room.pending() == []
    await desk.room.answer("w1", desk.write)
    free.set()
    assert await asking == "yes"
    assert desk.lines == ["opened", "yes"]


async def test_request_that_cannot_be_stored_does_not_wait():
    desk = Desk()

    async def full() -> None:
        raise StorageError("The disk is full.")

    with pytest.raises(StorageError):
        await desk.room.ask(desk.waiting(), full)
    assert desk.room.pending() == []
    assert desk.lines == []
    with pytest.raises(Refused):
        await desk.room.answer("w1", desk.write)


async def test_answer_is_stored_before_caller_resumes_and_follow_up_comes_after():
    desk = Desk()
    asking = desk.ask()
    await until(desk.room.pending)

    async def write() -> str:
        assert not asking.done()
        return await desk.write()

    async def then(answer: str, ended_it: bool) -> None:
        desk.lines.append(f"then {answer} {ended_it}")

    await desk.room.answer("w1", write, then)
    assert await asking == "yes"
    assert desk.lines == ["opened", "yes", "then yes True"]


async def test_failing_follow_up_does_not_void_answer():
    desk = Desk()
    asking = desk.ask()
    await until(desk.room.pending)

    async def then(_: str, __: bool) -> None:
        raise StorageError("The disk is full.")

    with pytest.raises(StorageError):
        await desk.room.answer("w1", desk.write, then)
    assert await asking == "yes"
    with pytest.raises(Refused, match="answered"):
        await desk.room.answer("w1", desk.write)


async def test_stop_has_reason_and_counts_even_if_its_note_fails(caplog):
    desk = Desk()
    for fails in (None, StorageError("The disk is full."), RuntimeError("A bug.")):
        desk.note_fails = fails
        asking = desk.ask()
        await until(desk.room.pending)
        asking.cancel("another message")
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert desk.room.pending() == []
    assert desk.lines == ["opened", "aborted another message", "opened", "opened"]
    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert ["The disk is full." in one.getMessage() for one in errors] == [True, False]
    assert [bool(one.exc_info) for one in errors] == [False, True]


async def test_stop_does_not_wait_for_hanging_disk(monkeypatch):
    monkeypatch.setattr(pending_requests, "STOP_S", 0.05)
    desk = Desk()
    desk.note_free.clear()
    asking = desk.ask()
    await until(desk.room.pending)
    asking.cancel()
    async with asyncio.timeout(LIMIT_S / 2):
        with pytest.raises(asyncio.CancelledError):
            await asking
    desk.note_free.set()
    await until(lambda: "aborted None" in desk.lines)


async def test_stop_waits_briefly_for_answer_being_stored():
    desk = Desk()
    asking = desk.ask()
    await until(desk.room.pending)
    begun = asyncio.Event()

    async def write() -> str:
        begun.set()
        await asyncio.sleep(0.01)
        return await desk.write()

    answering = asyncio.create_task(desk.room.answer("w1", write))
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.lines == ["opened", "yes"]
    await answering


async def test_stop_after_deadline_is_noted_if_simultaneous_answer_cannot_be_stored():
    desk = Desk(patience_s=0.05)
    asking = desk.ask()
    await until(desk.room.pending)
    free = asyncio.Event()

    async def full() -> str:
        await free.wait()
        raise StorageError("The disk is full.")

    answering = asyncio.create_task(desk.room.answer("w1", full))
    await asyncio.wait([asking], timeout=0.2)
    asking.cancel()
    free.set()
    with pytest.raises(StorageError):
        await answering
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.lines == ["opened", "aborted None"]


async def test_timeout_ends_waiting_even_if_it_cannot_be_stored():
    desk = Desk(answer_write_s=0.05, patience_s=0.05)
    desk.note_free.clear()
    async with asyncio.timeout(LIMIT_S):
        assert await desk.ask() == "silence"
    desk.note_free.set()
    await until(lambda: "expired None" in desk.lines)


async def test_late_answer_ends_waiting_even_if_its_rejection_cannot_be_stored():
    desk = Desk()
    asking = desk.ask()
    await until(desk.room.pending)
    desk.clock.advance(3600)
    desk.note_fails = StorageError("The disk is full.")
    with pytest.raises(StorageError):
        await desk.room.answer("w1", desk.write)
    assert await asking == "silence"
    assert desk.lines == ["opened"]


async def test_answer_stored_too_late_is_rejected_without_follow_up():
    desk = Desk(answer_write_s=0.05, patience_s=0.05)
    asking = desk.ask()
    await until(desk.room.pending)
    free = asyncio.Event()

    async def write() -> str:
        await free.wait()
        return await desk.write()

    async def then(answer: str, ended_it: bool) -> None:
        desk.lines.append("then")

    answering = asyncio.create_task(desk.room.answer("w1", write, then))
    assert await asking == "silence"
    free.set()
    with pytest.raises(Refused, match="unsaved"):
        await answering
    assert desk.lines == ["opened", "yes"]


async def test_closed_registry_stores_nothing_and_accepts_no_answer():
    desk = Desk()
    asking = desk.ask()
    await until(desk.room.pending)
    desk.room.close()
    with pytest.raises(Refused, match="closing"):
        await desk.room.answer("w1", desk.write)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert desk.lines == ["opened"]


async def test_finished_requests_are_remembered_to_reject_late_answers(monkeypatch):
    monkeypatch.setattr(pending_requests, "MAX_REMEMBERED", 2)
    desk = Desk()
    for waiting_id in ("w1", "w2", "w3"):
        asking = desk.ask(waiting_id)
        await until(desk.room.pending)
        await desk.room.answer(waiting_id, desk.write)
        await asking
    for waiting_id, why in (("w1", "unknown"), ("w2", "answered"), ("w3", "answered")):
        with pytest.raises(Refused, match=why):
            await desk.room.answer(waiting_id, desk.write)
