"""What was planned from a text of which no version tells: done once, and never taken for what was done before."""

from pathlib import Path

import pytest

from onyx_jupyter.memory.change_plan import Outcome, Plan, execute_plan, make_plan, memory_text, newest_version
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.operations import Operation
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.storage.full_disk import file_size_limit

TEA = Operation("add", "said", section="Facts", content="Likes tea")
NUTS = Operation("add", "said", section="Facts", content="Allergic to nuts")
BEGIN = "# Memory\n\n## Facts\n\n- Works at Acme\n"


class Place:
    """MEMORY.md, into which a conversation has brought something before."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "workspace" / "MEMORY.md"
        self.file.parent.mkdir()
        self.file.write_text(BEGIN)
        clock = FakeClock()
        self.memory = MemoryFiles(self.file.parent, clock, versions=VersionStore(folder / "versions", clock))

    async def planned(self, wish: Operation) -> Plan:
        now = await memory_text(self.memory)
        return make_plan(now, [wish], [], "", version=await newest_version(self.memory, now))

    async def planned_unnoted(self, wish: Operation) -> Plan:
        """From a text of which the disk took no version, where the person saved again by the time of the next look."""
        with file_size_limit(0):
            now = await memory_text(self.memory)
        self.file.write_text(now.text + "- Saved meanwhile\n")
        return make_plan(now, [wish], [], "", version=await newest_version(self.memory, now))

    async def done(self, plan: Plan) -> Outcome:
        return await execute_plan(plan, self.memory, "consolidation", "01S")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_earlier_change_of_same_conversation_is_not_mistaken_for_this_one(place: Place) -> None:
    await place.done(await place.planned(TEA))
    place.file.write_text(place.file.read_text() + "- By hand\n")
    plan = await place.planned_unnoted(NUTS)
    assert plan.version is None, "nobody knows which it was made from"
    outcome = await place.done(plan)
    assert (outcome.done, outcome.refused) == ((NUTS,), ())
    assert "- Allergic to nuts\n" in place.file.read_text()
    assert "- Saved meanwhile\n" in place.file.read_text()


async def test_change_made_before_kill_is_not_repeated_despite_later_additions(place: Place) -> None:
    await place.done(await place.planned(TEA))
    place.file.write_text(place.file.read_text() + "- By hand\n")
    plan = await place.planned_unnoted(NUTS)
    assert (await place.done(plan)).done == (NUTS,)
    place.file.write_text(place.file.read_text() + "- Mine\n")
    assert (await place.done(plan)).done == (NUTS,), "it was done"
    assert place.file.read_text().count("- Allergic to nuts\n") == 1
