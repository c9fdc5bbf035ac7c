"""Onboarding when two tabs are at it."""

from onyx_jupyter.features.onboarding.service import ONBOARDING
from onyx_jupyter.onboarding.progress import Progress
from tests.runs.house import House

HEDGING = "Commit to one answer. Name the one thing that could change it."


def annoyed_by(*choices):
    return lambda progress: progress.with_answer("annoyances", choices, "")


async def test_an_answer_that_comes_while_files_are_written_is_in_them_the_next_time(tmp_path, monkeypatch):
    house = House(tmp_path)
    await house.onyx.ready()
    onboarding = house.onyx.get(ONBOARDING)
    agent = house.onyx.agent(None)
    await onboarding.change("main", annoyed_by("sycophancy"))
    (shown,) = await onboarding.drafts("main")
    drafted = onboarding._draft

    async def then_answered(agent, path, progress: Progress):
        draft = await drafted(agent, path, progress)
        await onboarding.change("main", annoyed_by("sycophancy", "hedging"))
        return draft

    with monkeypatch.context() as patch:
        patch.setattr(onboarding, "_draft", then_answered)
        await onboarding.write("main", [(shown.path, shown.based_on, shown.checksum)])
    assert (agent.workspace / "SOUL.md").read_text() == shown.after
    (again,) = await onboarding.drafts("main")
    assert HEDGING in again.after
    await house.close()
