"""One suite for all requests to a person: the first answer counts, a timeout is a no, nothing hangs."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import AlreadyResolved, NotFound, OnyxError, StorageError
from onyx_jupyter.events import ApprovalRequested, QuestionAsked
from onyx_jupyter.human_requests.broker import ApprovalBroker
from onyx_jupyter.human_requests.grants import GrantStore
from onyx_jupyter.human_requests.questions import Questions
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import ExactScope, ToolPreview, UserQuestion
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.runs.house import House
from tests.skills.notebooks import cell, write_notebook
from tests.waiting import LIMIT_S, until

PATIENCE_S = 600.0
WEEK_S = 7 * 24 * 3600.0


class Case(Protocol):
    """One kind of question. `is_full`: the disk takes no answers of people; `is_broken`: writing one is a bug.

    `told` lists how questions ended, as everybody hears it.
    """

    patience_s: float
    is_full: bool
    is_broken: bool
    told: Sequence[str]

    async def ask(self) -> str:
        """The id of a new question that waits, of a session and a cell of its own."""
        ...

    async def yes(self, question_id: str) -> None: ...

    async def no(self, question_id: str) -> None: ...

    async def outcome(self, question_id: str) -> str:
        """What who asked was told: yes, no, or silence."""
        ...

    async def stop(self, question_id: str) -> None:
        """Who asked does not wait any more."""
        ...

    async def advance_time(self) -> None:
        """All of its time, and that of an answer from before the deadline to get to the disk."""
        ...

    async def reach_deadline(self) -> None:
        """Not a moment more."""
        ...

    def sleep(self) -> None:
        """For a week, as a laptop does: no timer runs."""
        ...

    def hold(self) -> None:
        """The next answer is being written until `release`; those behind it are not held up."""
        ...

    def release(self) -> None: ...

    def is_writing(self) -> bool: ...

    def waiting(self) -> list[str]: ...

    async def shut(self) -> None:
        """The server goes down."""
        ...

    async def close(self) -> None: ...


class Writes:
    """What happens to an answer on its way to the disk."""

    def __init__(self) -> None:
        self.is_full = False
        self.is_broken = False
        self.begun = 0
        self.free = asyncio.Event()
        self.free.set()

    async def one(self) -> None:
        self.begun += 1
        if self.begun == 1:
            await self.free.wait()
        if self.is_broken:
            raise RuntimeError("A bug.")
        if self.is_full:
            raise StorageError("The disk is full.")


class Journal:
    """Takes everything down, but for people's answers as `writes` goes."""

    def __init__(self, writes: Writes) -> None:
        self.writes = writes
        self.told: list[str] = []

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None: ...

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None: ...

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: object) -> None: ...

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: object) -> None:
        await self._write(answer.event.decision)  # type: ignore[attr-defined]

    async def answered(self, session_key: str, resolved: object) -> None:
        await self._write(resolved.outcome)  # type: ignore[attr-defined]

    async def _write(self, outcome: str) -> None:
        if outcome in ("approved", "denied", "answered", "declined"):
            await self.writes.one()
        self.told.append(outcome)


class _RunRequest(ABC):
    """What approvals and questions have in common: a task of the run waits, by the wall's clock."""

    def __init__(self, answer_write_s: float) -> None:
        self.writes = Writes()
        self.journal = Journal(self.writes)
        self.clock = FakeClock()
        self.patience_s = PATIENCE_S
        self.answer_write_s = answer_write_s
        self.asking: dict[str, asyncio.Task[object]] = {}

    @property
    def told(self) -> Sequence[str]:
        return self.journal.told

    @property
    def is_full(self) -> bool:
        return self.writes.is_full

    @is_full.setter
    def is_full(self, value: bool) -> None:
        self.writes.is_full = value

    @property
    def is_broken(self) -> bool:
        return self.writes.is_broken

    @is_broken.setter
    def is_broken(self, value: bool) -> None:
        self.writes.is_broken = value

    @abstractmethod
    def waiting(self) -> list[str]: ...

    async def listed(self, asking: asyncio.Task[object]) -> str:
        before = set(self.asking)
        await until(lambda: set(self.waiting()) - before)
        (question_id,) = set(self.waiting()) - before
        self.asking[question_id] = asking
        return question_id

    async def stop(self, question_id: str) -> None:
        self.asking[question_id].cancel()
        await asyncio.wait([self.asking[question_id]])

    async def advance_time(self) -> None:
        await asyncio.wait(self.asking.values())

    async def reach_deadline(self) -> None:
        await asyncio.wait(self.asking.values(), timeout=self.patience_s + 0.1)

    def sleep(self) -> None:
        self.clock.advance(WEEK_S)

    def hold(self) -> None:
        self.writes.free.clear()

    def release(self) -> None:
        self.writes.free.set()

    def is_writing(self) -> bool:
        return self.writes.begun > 0

    async def close(self) -> None:
        for task in self.asking.values():
            task.cancel()
        await asyncio.wait(self.asking.values())

    async def _result(self, question_id: str) -> object:
        async with asyncio.timeout(LIMIT_S):
            return await self.asking[question_id]


class Approvals(_RunRequest):
    def __init__(self, folder: Path, answer_write_s: float) -> None:
        super().__init__(answer_write_s)
        ids = IdSource(self.clock)
        grants = GrantStore(folder / "grants.json", self.clock, ids, redact=str, on_change=lambda: None)
        self.broker = ApprovalBroker(
            self.journal, grants, self.clock, ids, lambda: self.patience_s, answer_write_s=answer_write_s
        )

    async def ask(self) -> str:
        name = f"{len(self.asking)}"
        call = ToolCall(name, "exec", {"command": "ls"})
        preview = ToolPreview("Run `ls`", {"command": "ls"}, "exec ls", "this", ExactScope({"command": "ls"}))
        return await self.listed(asyncio.create_task(self.broker.ask(name, name, call, preview, agent_id="main")))

    async def yes(self, question_id: str) -> None:
        await self.broker.approve(question_id, "ada", "once")

    async def no(self, question_id: str) -> None:
        await self.broker.deny(question_id, "ada", None)

    async def outcome(self, question_id: str) -> str:
        answer = await self._result(question_id)
        return "yes" if answer.approved else "silence" if "Nobody" in answer.reason else "no"  # type: ignore[attr-defined]

    def waiting(self) -> list[str]:
        return [item.request.approval_id for item in self.broker.pending()]

    async def shut(self) -> None:
        self.broker.close()
        await self.close()


class AgentQuestions(_RunRequest):
    def __init__(self, folder: Path, answer_write_s: float) -> None:
        super().__init__(answer_write_s)
        self.questions = Questions(
            self.journal, self.clock, IdSource(self.clock), lambda: self.patience_s, answer_write_s=answer_write_s
        )

    async def ask(self) -> str:
        question, name = UserQuestion("Which month?", ("March", "April")), f"{len(self.asking)}"
        return await self.listed(asyncio.create_task(self.questions.ask(name, name, "c1", question)))

    async def yes(self, question_id: str) -> None:
        await self.questions.answer(question_id, "ada", "March")

    async def no(self, question_id: str) -> None:
        await self.questions.answer(question_id, "ada", None)

    async def outcome(self, question_id: str) -> str:
        answer = await self._result(question_id)
        return "yes" if answer.text else "silence" if "Nobody" in answer.reason else "no"  # type: ignore[attr-defined]

    def waiting(self) -> list[str]:
        return [item.asked.question_id for item in self.questions.pending()]

    async def shut(self) -> None:
        self.questions.close()
        await self.close()


class SkillQuestions:
    """A cell waits for a yes to a skill: it is told by an event, and asks again while it waits."""

    patience_s = PATIENCE_S

    def __init__(self, folder: Path, answer_write_s: float) -> None:
        self.clock = FakeClock()
        self.house = House(folder, clock=self.clock)
        self.writes = Writes()
        self.asked: dict[str, str] = {}
        self.is_broken = False
        write_notebook(self.house.home.skills / "fresh.ipynb", cell("print(1)"))
        library = self.house.onyx.skills.library
        trust = library.trust

        async def slow_write(*arguments: Any, **more: Any) -> object:
            self.writes.is_broken = self.is_broken
            await self.writes.one()
            return await trust(*arguments, **more)

        library.trust = slow_write  # type: ignore[method-assign, assignment]
        self.digest = ""

    @property
    def told(self) -> Sequence[str]:
        return [told["outcome"] for told in self.house.of("skills.question_closed")]

    @property
    def is_full(self) -> bool:
        return self.house.home.trusted_skills_file.is_dir()

    @is_full.setter
    def is_full(self, value: bool) -> None:
        """A folder in its place takes no file."""
        if value:
            self.house.home.trusted_skills_file.mkdir()
        else:
            self.house.home.trusted_skills_file.rmdir()

    async def ask(self) -> str:
        await self.house.onyx.ready()
        asker = f"cell {len(self.asked)}"
        question = await self.house.onyx.skills.questions.ask("fresh", None, asker)
        self.asked[question.id] = asker
        found = await self.house.onyx.skills.questions.refresh(question.id)
        assert found is not None
        self.digest = found[1].skill.digest if found[1].skill else ""
        return question.id

    async def yes(self, question_id: str) -> None:
        await self.house.onyx.skills.questions.answer(question_id, self.digest, "ada")

    async def no(self, question_id: str) -> None:
        await self.house.onyx.skills.questions.answer(question_id, None, "ada")

    async def outcome(self, question_id: str) -> str:
        (told,) = [told for told in self.house.of("skills.question_closed") if told["questionId"] == question_id]
        return {"trusted": "yes", "declined": "no", "expired": "silence"}[told["outcome"]]

    async def stop(self, question_id: str) -> None:
        self.house.onyx.skills.questions.leave(self.asked[question_id])

    async def advance_time(self) -> None:
        self.clock.advance(WEEK_S)
        await self._look()

    async def reach_deadline(self) -> None:
        self.clock.advance(self.house.onyx.settings.config.security.approval_timeout_ms / 1000)
        await self._look()

    def sleep(self) -> None:
        self.clock.advance(WEEK_S)

    def hold(self) -> None:
        self.writes.free.clear()

    def release(self) -> None:
        self.writes.free.set()

    def is_writing(self) -> bool:
        return self.writes.begun > 0

    def waiting(self) -> list[str]:
        return [question.id for question in self.house.onyx.skills.questions.pending()]

    async def shut(self) -> None:
        for asker in self.asked.values():
            self.house.onyx.skills.questions.leave(asker)
        await self.house.close()

    async def close(self) -> None:
        await self.house.close()

    async def _look(self) -> None:
        """As the cells do."""
        for question_id in self.asked:
            await self.house.onyx.skills.questions.refresh(question_id)


KINDS = {"approval": Approvals, "question": AgentQuestions, "skill": SkillQuestions}
OVER = (AlreadyResolved, NotFound)


@pytest.fixture(params=sorted(KINDS))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return KINDS[request.param](tmp_path, LIMIT_S)  # type: ignore[no-any-return]


@pytest.fixture(params=sorted(KINDS))
def short_deadline(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    """An answer from before the deadline has little time to get to the disk."""
    return KINDS[request.param](tmp_path, 0.2)  # type: ignore[no-any-return]


async def test_yes_is_returned(case: Case):
    question_id = await case.ask()
    await case.yes(question_id)
    assert await case.outcome(question_id) == "yes"
    assert case.waiting() == []
    await case.close()


async def test_no_is_returned(case: Case):
    question_id = await case.ask()
    await case.no(question_id)
    assert await case.outcome(question_id) == "no"
    assert case.waiting() == []
    await case.close()


async def test_first_of_two_answers_counts_and_second_is_rejected(case: Case):
    question_id = await case.ask()
    first, second = await asyncio.gather(case.no(question_id), case.yes(question_id), return_exceptions=True)
    assert first is None
    assert isinstance(second, OVER)
    assert await case.outcome(question_id) == "no"
    await case.close()


async def test_timeout_is_an_answer_and_late_yes_is_ignored(case: Case):
    case.patience_s = 0.05
    question_id = await case.ask()
    await case.advance_time()
    assert await case.outcome(question_id) == "silence"
    assert case.waiting() == []
    with pytest.raises(OVER):
        await case.yes(question_id)
    assert await case.outcome(question_id) == "silence"
    await case.close()


async def test_yes_that_cannot_be_stored_does_not_count_and_can_be_repeated(case: Case):
    question_id = await case.ask()
    case.is_full = True
    with pytest.raises(StorageError):
        await case.yes(question_id)
    assert case.waiting() == [question_id]
    case.is_full = False
    await case.yes(question_id)
    assert await case.outcome(question_id) == "yes"
    await case.close()


async def test_after_stop_nothing_is_pending_and_yes_is_rejected(case: Case):
    question_id = await case.ask()
    await case.stop(question_id)
    assert case.waiting() == []
    with pytest.raises(OVER):
        await case.yes(question_id)
    await case.close()


async def test_answer_without_request_is_rejected(case: Case):
    question_id = await case.ask()
    with pytest.raises(OVER):
        await case.yes("nobody-asked-this")
    assert len(case.waiting()) == 1
    await case.stop(question_id)
    await case.close()


async def start_writing_yes(case: Case, question_id: str) -> asyncio.Task[None]:
    """A yes that is being written until `release`."""
    case.hold()
    answering = asyncio.create_task(case.yes(question_id))
    await until(case.is_writing)
    return answering


async def test_yes_before_deadline_counts_even_if_stored_after_it(case: Case):
    case.patience_s = 0.3
    question_id = await case.ask()
    answering = await start_writing_yes(case, question_id)
    await case.reach_deadline()
    assert case.told == []
    case.release()
    await answering
    assert await case.outcome(question_id) == "yes"
    assert len(case.told) == 1
    await case.close()


async def test_yes_at_deadline_that_cannot_be_stored_times_out_for_everyone(short_deadline: Case):
    short_deadline.patience_s = 0.3
    question_id = await short_deadline.ask()
    answering = await start_writing_yes(short_deadline, question_id)
    await short_deadline.reach_deadline()
    short_deadline.is_full = True
    short_deadline.release()
    with pytest.raises(StorageError):
        await answering
    await short_deadline.advance_time()
    assert await short_deadline.outcome(question_id) == "silence"
    assert short_deadline.told == ["expired"]
    assert short_deadline.waiting() == []
    short_deadline.is_full = False
    with pytest.raises(OVER):
        await short_deadline.yes(question_id)
    assert short_deadline.told == ["expired"]
    await short_deadline.close()


async def test_hanging_write_does_not_block_forever(short_deadline: Case):
    short_deadline.patience_s = 0.3
    question_id = await short_deadline.ask()
    answering = await start_writing_yes(short_deadline, question_id)
    await short_deadline.advance_time()
    assert await short_deadline.outcome(question_id) == "silence"
    assert short_deadline.waiting() == []
    with pytest.raises(OVER):
        await short_deadline.no(question_id)
    short_deadline.release()
    await asyncio.wait([answering], timeout=LIMIT_S)
    assert answering.done()
    answering.exception()
    assert await short_deadline.outcome(question_id) == "silence"
    assert len(short_deadline.told) == 1
    await short_deadline.close()


@pytest.mark.parametrize("answer", ["yes", "no"])
async def test_answer_after_suspend_past_deadline_is_too_late(case: Case, answer: str):
    question_id = await case.ask()
    case.sleep()
    with pytest.raises(OVER):
        await (case.yes(question_id) if answer == "yes" else case.no(question_id))
    assert await case.outcome(question_id) == "silence"
    assert case.told == ["expired"]
    await case.close()


async def test_stop_does_not_wait_for_answer_being_stored(case: Case):
    question_id = await case.ask()
    answering = await start_writing_yes(case, question_id)
    async with asyncio.timeout(5):
        await case.stop(question_id)
    assert case.waiting() == []
    with pytest.raises(OVER):
        await case.no(question_id)
    case.release()
    await answering
    assert len(case.told) == 1
    await case.close()


async def test_after_stop_an_unstorable_answer_reports_one_end(case: Case):
    question_id = await case.ask()
    answering = await start_writing_yes(case, question_id)
    await case.stop(question_id)
    case.is_full = True
    case.release()
    with pytest.raises(StorageError):
        await answering
    assert case.told in (["aborted"], ["gone"])
    await case.close()


async def test_answer_counts_even_if_answering_client_disconnected(case: Case):
    question_id = await case.ask()
    answering = await start_writing_yes(case, question_id)
    answering.cancel()
    await asyncio.wait([answering])
    case.release()
    await until(lambda: case.told)
    assert await case.outcome(question_id) == "yes"
    assert len(case.told) == 1
    await case.close()


async def test_answer_being_stored_at_shutdown_is_stored_once(case: Case):
    question_id = await case.ask()
    answering = await start_writing_yes(case, question_id)
    async with asyncio.timeout(LIMIT_S):
        await case.shut()
    assert case.waiting() == []
    with pytest.raises(OnyxError):
        await case.no(question_id)
    case.release()
    await answering
    assert len(case.told) == 1
    with pytest.raises(OnyxError):
        await case.no(question_id)
    assert len(case.told) == 1


async def test_two_sessions_answer_independently(case: Case):
    first, second = await case.ask(), await case.ask()
    assert case.waiting() == [first, second]
    answering = await start_writing_yes(case, first)
    async with asyncio.timeout(5):
        await case.no(second)
    assert await case.outcome(second) == "no"
    assert not answering.done()
    assert case.waiting() == []
    case.release()
    await answering
    assert await case.outcome(first) == "yes"
    assert len(case.told) == 2
    await case.close()


async def test_bug_while_storing_answer_voids_it_and_it_can_be_repeated(case: Case):
    question_id = await case.ask()
    case.is_broken = True
    with pytest.raises(RuntimeError):
        await case.yes(question_id)
    assert case.waiting() == [question_id]
    assert case.told == []
    case.is_broken = False
    await case.yes(question_id)
    assert await case.outcome(question_id) == "yes"
    await case.close()
