"""One suite over both ways to a notebook: open in a browser tab, and as a file with a real kernel."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.document_service import DocumentService
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, read_cells, service_over, write_notebook

SOURCES = {
    "intro": "# Load data",
    "load": "x = 1\nprint('loaded', x)",
    "fail": "1 / 0",
    "wait": "import time; time.sleep(600)",
}
TYPES = {"intro": "markdown"}


@dataclass
class Place:
    """A notebook `work.ipynb` behind one backend."""

    name: str
    service: DocumentService
    tab: FakeTab | None
    file: Path

    async def ids(self) -> list[str]:
        return [cell.id for cell in (await self.service.read("work.ipynb")).cells]

    async def until_running(self, told: asyncio.Event) -> None:
        await (self.tab.started if self.tab else told).wait()


@pytest.fixture(params=["browser", "contents"])
def place(request: pytest.FixtureRequest, jp_serverapp: Any, jp_root_dir: Path, jp_asyncio_loop: Any) -> Any:
    file = jp_root_dir / "work.ipynb"
    write_notebook(file, [cell(name, source, TYPES.get(name, "code")) for name, source in SOURCES.items()])
    service, tabs = service_over(jp_serverapp)
    tab = None
    if request.param == "browser":
        tab = FakeTab(tabs)
        tab.show("work.ipynb", [tab_cell(name, source, TYPES.get(name, "code")) for name, source in SOURCES.items()])
    yield Place(request.param, service, tab, file)
    jp_asyncio_loop.run_until_complete(jp_serverapp.kernel_manager.shutdown_all(now=True))


async def code_of(awaitable: Any) -> str:
    with pytest.raises(NotebookError) as caught:
        await awaitable
    return caught.value.code


def quiet(line: str) -> None:
    """Nobody watches."""


async def test_reading_gives_every_cell_with_its_id_source_and_hash(place: Place) -> None:
    view = await place.service.read("work.ipynb")
    assert view.backend == place.name
    assert {c.id: c.source for c in view.cells} == SOURCES
    assert [c.cell_type for c in view.cells] == ["markdown", "code", "code", "code"]
    assert all(c.hash == cell_hash(c.source) for c in view.cells)


async def test_a_cell_is_inserted_after_another_and_has_an_id_of_its_own(place: Place) -> None:
    inserted = await place.service.insert_cell("work.ipynb", "code", "y = 2", "intro")
    ids = await place.ids()
    assert ids == ["intro", inserted.id, "load", "fail", "wait"]
    view = await place.service.read("work.ipynb")
    assert view.cells[1].source == "y = 2"


async def test_a_cell_without_a_neighbour_goes_to_the_end(place: Place) -> None:
    inserted = await place.service.insert_cell("work.ipynb", "markdown", "The end", None)
    assert (await place.ids())[-1] == inserted.id


async def test_inserting_after_a_cell_that_is_not_there_changes_nothing(place: Place) -> None:
    assert await code_of(place.service.insert_cell("work.ipynb", "code", "y = 2", "nowhere")) == "no_cell"
    assert await place.ids() == list(SOURCES)


async def test_an_edit_on_the_right_hash_replaces_the_source(place: Place) -> None:
    edited = await place.service.edit_cell("work.ipynb", "load", "x = 2", cell_hash(SOURCES["load"]))
    assert edited.hash == cell_hash("x = 2")
    assert (await place.service.read("work.ipynb")).cells[1].source == "x = 2"


async def test_an_edit_on_an_old_hash_is_refused_with_the_source_of_now(place: Place) -> None:
    with pytest.raises(NotebookError) as caught:
        await place.service.edit_cell("work.ipynb", "load", "x = 2", cell_hash("something older"))
    assert caught.value.code == "stale"
    assert caught.value.data["source"] == SOURCES["load"]
    assert (await place.service.read("work.ipynb")).cells[1].source == SOURCES["load"]


async def test_an_edit_without_a_hash_is_taken(place: Place) -> None:
    await place.service.edit_cell("work.ipynb", "load", "x = 3", None)
    assert (await place.service.read("work.ipynb")).cells[1].source == "x = 3"


async def test_running_gives_the_outputs_and_leaves_them_in_the_notebook(place: Place) -> None:
    run = await place.service.run_cell("work.ipynb", "load", quiet)
    assert (run.status, run.note) == ("ok", None)
    assert run.outputs == ({"output_type": "stream", "name": "stdout", "text": "loaded 1\n"},)
    after = (await place.service.read("work.ipynb")).cells[1]
    assert after.execution_count == run.execution_count == 1
    assert [output["output_type"] for output in after.outputs] == ["stream"]


async def test_an_exception_is_a_result_and_no_error(place: Place) -> None:
    run = await place.service.run_cell("work.ipynb", "fail", quiet)
    assert run.status == "error"
    assert run.outputs[-1]["ename"] == "ZeroDivisionError"


@pytest.mark.parametrize(("cell_id", "code"), [("intro", "not_code"), ("nowhere", "no_cell")])
async def test_only_code_cells_that_exist_can_run(place: Place, cell_id: str, code: str) -> None:
    assert await code_of(place.service.run_cell("work.ipynb", cell_id, quiet)) == code


async def test_cancelling_a_run_interrupts_it(place: Place) -> None:
    running = asyncio.Event()
    await place.service.edit_cell("work.ipynb", "wait", "print('on', flush=True); import time; time.sleep(600)", None)
    task = asyncio.ensure_future(
        place.service.run_cell("work.ipynb", "wait", lambda line: line == "on" and running.set())
    )
    await place.until_running(running)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    if place.tab is not None:
        assert place.tab.asked[-1].action == "notebook.interrupt"
    else:
        assert read_cells(place.file)[3]["outputs"][0]["text"] == ["on\n"]
        assert (await place.service.run_cell("work.ipynb", "load", quiet)).status == "ok"  # else it would wait for ever


async def test_a_notebook_open_in_a_tab_is_never_written_on_disk(place: Place) -> None:
    before = place.file.read_bytes()
    await place.service.insert_cell("work.ipynb", "code", "y = 2", None)
    await place.service.run_cell("work.ipynb", "load", quiet)
    assert (place.file.read_bytes() == before) == (place.tab is not None)
