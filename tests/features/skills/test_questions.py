"""A cell's question for a skill: its time, and answers that meet one another or the cell's end."""

import asyncio

import pytest

from onyx_jupyter.errors import NotFound, StorageError
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.runs.house import House
from tests.skills.notebooks import cell, write_notebook

CLOSED = "skills.question_closed"


async def house_with_one(folder):
    """With one skill that nobody has trusted, and a clock that stands still."""
    write_notebook(folder / "home" / "skills" / "fresh.ipynb", cell("print(1)"))
    clock = FakeClock()
    house = House(folder, clock=clock)
    await house.onyx.ready()
    return house, clock


async def fresh(house):
    return await house.onyx.skills.library.get("fresh")


def outcomes(house):
    return [data["outcome"] for data in house.of(CLOSED)]


async def test_yes_after_deadline_is_too_late(tmp_path):
    house, clock = await house_with_one(tmp_path)
    questions = house.onyx.skills.questions
    asked = await questions.ask("fresh", None, "kernel")
    clock.advance(1799)
    assert await questions.refresh(asked.id) is not None
    clock.advance(1)
    with pytest.raises(NotFound, match="no longer open"):
        await questions.answer(asked.id, (await fresh(house)).skill.digest, "user:ada")
    assert outcomes(house) == ["expired"]
    assert (await fresh(house)).state == "untrusted"
    await house.close()


async def test_first_of_simultaneous_answers_counts(tmp_path):
    house, _ = await house_with_one(tmp_path)
    questions, digest = house.onyx.skills.questions, (await fresh(house)).skill.digest
    for first, second, outcome in ((None, digest, "declined"), (digest, None, "trusted")):
        asked = await questions.ask("fresh", None, "kernel")
        answers = (questions.answer(asked.id, given, "user:ada") for given in (first, second))
        done, late = await asyncio.gather(*answers, return_exceptions=True)
        assert done is None
        assert isinstance(late, NotFound)
        assert outcomes(house)[-1] == outcome
    assert len(outcomes(house)) == 2
    await house.close()


async def test_cell_ending_during_yes_is_reported_once(tmp_path, monkeypatch):
    house, _ = await house_with_one(tmp_path)
    library, questions = house.onyx.skills.library, house.onyx.skills.questions
    asked = await questions.ask("fresh", None, "kernel")
    trust = library.trust

    async def slow(*arguments, **more):
        questions.leave("kernel")
        return await trust(*arguments, **more)

    monkeypatch.setattr(library, "trust", slow)
    await questions.answer(asked.id, (await fresh(house)).skill.digest, "user:ada")
    assert outcomes(house) == ["gone"]
    assert (await fresh(house)).state == "ready"  # that was said, and is what somebody wanted
    await house.close()


async def test_yes_that_cannot_be_stored_leaves_question_open(tmp_path, monkeypatch):
    house, _ = await house_with_one(tmp_path)
    library, questions = house.onyx.skills.library, house.onyx.skills.questions
    asked, digest = await questions.ask("fresh", None, "kernel"), (await fresh(house)).skill.digest

    async def full(*arguments, **more):
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(library, "trust", full)
        with pytest.raises(StorageError):
            await questions.answer(asked.id, digest, "user:ada")
    assert outcomes(house) == []
    await questions.answer(asked.id, digest, "user:ada")
    assert outcomes(house) == ["trusted"]
    await house.close()
