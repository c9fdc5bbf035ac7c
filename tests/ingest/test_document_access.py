"""An agent is shown the documents of folders that it may read, pages and uploads; its person is shown all."""

from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed
from onyx_jupyter.ingest.web_pages import Fetched
from tests.ingest.desk import Desk

PAGE = "https://tides.example/today"


def own(desk: Desk, agent_id: str, name: str, text: str) -> Path:
    place = desk.workspace(agent_id) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


async def test_agents_do_not_find_documents_in_each_others_folders(desk: Desk) -> None:
    own(desk, "a", "notes/plan.md", "Anemones in the plan of a")
    desk.write({"shared.md": "Anemones for all"})
    desk.pages[PAGE] = Fetched(PAGE, 200, "text/plain", b"Anemones on a page", False)
    await desk.add("onyx:notes", "a")
    await desk.add("shared.md")
    await desk.add(PAGE, is_url=True)
    await desk.finished(await desk.knowledge.add_upload("up.md", b"Anemones uploaded"))
    private = str(desk.workspace("a") / "notes" / "plan.md")
    everybodys = {"shared.md", PAGE, "up.md"}
    assert set(await desk.found("Anemones", agent_id="b")) == everybodys
    assert set(await desk.found("Anemones", agent_id="a")) == {*everybodys, private}
    assert set(await desk.found("Anemones")) == {*everybodys, private}  # their person
    with pytest.raises(PathNotAllowed):
        await desk.found("Anemones", agent_id="b", paths=[str(desk.workspace("a"))])


async def test_hidden_passages_do_not_use_up_result_slots(desk: Desk) -> None:
    for number in range(8):
        own(desk, "a", f"notes/{number}.md", "Anemones")
    desk.write({"shared.md": "Anemones, and much else that stands in this longer text of the file"})
    await desk.add("onyx:notes", "a")
    await desk.add("shared.md")
    assert await desk.found("Anemones", agent_id="b", limit=2) == ["shared.md"]


async def test_memory_files_are_rejected_and_left_out_of_folders(desk: Desk) -> None:
    memory = own(desk, "a", "MEMORY.md", "Anemones")
    own(desk, "a", "notes.md", "Barnacles")
    desk.memory.add(memory)
    with pytest.raises(PathNotAllowed, match="memory"):
        await desk.add("onyx:MEMORY.md", "a")
    item = await desk.add("onyx:", "a")
    assert (item.total, await desk.found("Anemones", agent_id="a")) == (1, [])


async def test_file_that_became_memory_is_no_longer_shown(desk: Desk) -> None:
    note = own(desk, "a", "notes.md", "Anemones")
    await desk.add("onyx:", "a")
    assert await desk.found("Anemones", agent_id="a") == [str(note)]
    desk.memory.add(note)
    assert await desk.found("Anemones", agent_id="a") == []
