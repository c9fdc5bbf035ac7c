"""What waits for a person, whatever it is about: the first answer counts, silence is a no, nothing is left hanging."""

import asyncio
from pathlib import Path
from typing import Protocol

import pytest

from onyx_jupyter.approvals.broker import ApprovalBroker
from onyx_jupyter.approvals.grants import GrantStore
from onyx_jupyter.approvals.questions import Questions
from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import AlreadyResolved, NotFound, StorageError
from onyx_jupyter.events import ApprovalRequested, QuestionAsked
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import Exactly, ToolPreview, UserQuestion
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.runtime.house import House
from tests.skills.notebooks import cell, write_notebook
from tests.waiting import LIMIT_S, until

PATIENCE_S = 600.0


class Case(Protocol):
    """One kind of question. `is_full`: the disk takes no answers of people."""

    is_full: bool

    async def ask(self) -> str:
        """The id of a new question that waits."""
        ...

    async def yes(self, question_id: str) -> None: ...

    async def no(self, question_id: str) -> None: ...

    async def outcome(self) -> str:
        """What who asked was told: yes, no, or silence."""
        ...

    async def stop(self) -> None:
        """Who asked does not wait any more."""
        ...

    async def let_time_pass(self) -> None:
        """All of its time."""
        ...

    def waiting(self) -> list[str]: ...

    async def close(self) -> None: ...


class Journal:
    """Takes everything down, but for people's answers where the disk is full."""

    def __init__(self) -> None:
        self.is_full = False

    async def requested(self, session_key: str, request: ApprovalRequested, *, restored: bool) -> None: ...

    async def asked(self, session_key: str, asked: QuestionAsked, *, restored: bool) -> None: ...

    async def decided(self, session_key: str, run_id: str, call: ToolCall, verdict: object) -> None: ...

    async def resolved(self, session_key: str, request: ApprovalRequested, answer: object) -> None:
        self._write(answer.event.decision in ("approved", "denied"))  # type: ignore[attr-defined]

    async def answered(self, session_key: str, resolved: object) -> None:
        self._write(resolved.outcome in ("answered", "declined"))  # type: ignore[attr-defined]

    def _write(self, of_a_person: bool) -> None:
        if self.is_full and of_a_person:
            raise StorageError("The disk is full.")


class _OfARun:
    """What approvals and questions have in common: a task of the run waits, by the wall's clock."""

    def __init__(self) -> None:
        self.journal = Journal()
        self.patience_s = PATIENCE_S
        self.asking: asyncio.Task[object] | None = None

    @property
    def is_full(self) -> bool:
        return self.journal.is_full

    @is_full.setter
    def is_full(self, value: bool) -> None:
        self.journal.is_full = value

    async def stop(self) -> None:
        assert self.asking is not None
        self.asking.cancel()
        await asyncio.wait([self.asking])

    async def let_time_pass(self) -> None:
        assert self.asking is not None
        await asyncio.wait([self.asking])

    async def close(self) -> None: ...

    async def _result(self) -> object:
        assert self.asking is not None
        async with asyncio.timeout(LIMIT_S):
            return await self.asking


class Approvals(_OfARun):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        clock = FakeClock()
        ids = IdSource(clock)
        grants = GrantStore(folder / "grants.json", clock, ids, redact=str, on_change=lambda: None)
        self.broker = ApprovalBroker(self.journal, grants, clock, ids, lambda: self.patience_s)

    async def ask(self) -> str:
        call = ToolCall("c1", "exec", {"command": "ls"})
        preview = ToolPreview("Run `ls`", {"command": "ls"}, "exec ls", "this", Exactly({"command": "ls"}))
        self.asking = asyncio.create_task(self.broker.ask("s1", "r1", call, preview, agent_id="main"))
        await until(self.broker.pending)
        return self.waiting()[0]

    async def yes(self, question_id: str) -> None:
        await self.broker.approve(question_id, "ada", "once")

    async def no(self, question_id: str) -> None:
        await self.broker.deny(question_id, "ada", None)

    async def outcome(self) -> str:
        answer = await self._result()
        return "yes" if answer.approved else "silence" if "Nobody" in answer.reason else "no"  # type: ignore[attr-defined]

    def waiting(self) -> list[str]:
        return [item.request.approval_id for item in self.broker.pending()]


class AgentsQuestions(_OfARun):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        clock = FakeClock()
        self.questions = Questions(self.journal, clock, IdSource(clock), lambda: self.patience_s)

    async def ask(self) -> str:
        question = UserQuestion("Which month?", ("March", "April"))
        self.asking = asyncio.create_task(self.questions.ask("s1", "r1", "c1", question))
        await until(self.questions.pending)
        return self.waiting()[0]

    async def yes(self, question_id: str) -> None:
        await self.questions.answer(question_id, "ada", "March")

    async def no(self, question_id: str) -> None:
        await self.questions.answer(question_id, "ada", None)

    async def outcome(self) -> str:
        answer = await self._result()
        return "yes" if answer.text else "silence" if "Nobody" in answer.reason else "no"  # type: ignore[attr-defined]

    def waiting(self) -> list[str]:
        return [item.asked.question_id for item in self.questions.pending()]


class CellsSkillQuestions:
    """A cell waits for a yes to a skill: it is told by an event, and asks again while it waits."""

    patience_s = PATIENCE_S

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.house = House(folder, clock=self.clock)
        write_notebook(self.house.home.skills / "fresh.ipynb", cell("print(1)"))
        self.digest = ""

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
        question = await self.house.onyx.skills.questions.ask("fresh", None, "a-cell")
        found = await self.house.onyx.skills.questions.look(question.id)
        assert found is not None
        self.digest = found[1].skill.digest if found[1].skill else ""
        return question.id

    async def yes(self, question_id: str) -> None:
        await self.house.onyx.skills.questions.answer(question_id, self.digest, "ada")

    async def no(self, question_id: str) -> None:
        await self.house.onyx.skills.questions.answer(question_id, None, "ada")

    async def outcome(self) -> str:
        (told,) = self.house.of("skills.question_closed")
        return {"trusted": "yes", "declined": "no", "expired": "silence"}[told["outcome"]]

    async def stop(self) -> None:
        self.house.onyx.skills.questions.leave("a-cell")

    async def let_time_pass(self) -> None:
        self.clock.advance(7 * 24 * 3600.0)
        for question_id in self.waiting():
            await self.house.onyx.skills.questions.look(question_id)

    def waiting(self) -> list[str]:
        return list(self.house.onyx.skills.questions._open)

    async def close(self) -> None:
        await self.house.close()


KINDS = {"approval": Approvals, "question": AgentsQuestions, "skill": CellsSkillQuestions}
OVER = (AlreadyResolved, NotFound)


@pytest.fixture(params=sorted(KINDS))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    return KINDS[request.param](tmp_path)  # type: ignore[no-any-return]


async def test_a_yes_is_a_yes(case: Case):
    await case.yes(await case.ask())
    assert await case.outcome() == "yes"
    assert case.waiting() == []
    await case.close()


async def test_a_no_is_a_no(case: Case):
    await case.no(await case.ask())
    assert await case.outcome() == "no"
    assert case.waiting() == []
    await case.close()


async def test_of_two_answers_the_first_counts_and_the_second_hears_so(case: Case):
    question_id = await case.ask()
    first, second = await asyncio.gather(case.no(question_id), case.yes(question_id), return_exceptions=True)
    assert first is None
    assert isinstance(second, OVER)
    assert await case.outcome() == "no"
    await case.close()


async def test_silence_is_one_and_a_late_yes_changes_nothing(case: Case):
    case.patience_s = 0.05  # type: ignore[attr-defined]
    question_id = await case.ask()
    await case.let_time_pass()
    assert await case.outcome() == "silence"
    assert case.waiting() == []
    with pytest.raises(OVER):
        await case.yes(question_id)
    assert await case.outcome() == "silence"
    await case.close()


async def test_a_yes_that_cannot_be_written_does_not_count_and_can_be_said_again(case: Case):
    question_id = await case.ask()
    case.is_full = True
    with pytest.raises(StorageError):
        await case.yes(question_id)
    assert case.waiting() == [question_id]
    case.is_full = False
    await case.yes(question_id)
    assert await case.outcome() == "yes"
    await case.close()


async def test_after_a_stop_nothing_waits_and_a_yes_is_refused(case: Case):
    question_id = await case.ask()
    await case.stop()
    assert case.waiting() == []
    with pytest.raises(OVER):
        await case.yes(question_id)
    await case.close()


async def test_an_answer_to_nothing_is_refused(case: Case):
    await case.ask()
    with pytest.raises(OVER):
        await case.yes("nobody-asked-this")
    assert len(case.waiting()) == 1
    await case.stop()
    await case.close()
