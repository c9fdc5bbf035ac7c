import asyncio
import json
from pathlib import Path

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.protocols import DeleteCell, EditCell, MoveCell
from onyx_jupyter.testing.fake_clock import fake_ids
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.waiting import until


@pytest.fixture
def tabs(tmp_path: Path) -> TabRequests:
    return TabRequests(fake_ids(), NotebookPaths(tmp_path), reconnect_s=30)


async def until_asked(tab: FakeTab) -> str:
    await tab.was_asked.wait()
    return tab.asked[-1].request_id


async def test_tab_showing_the_notebook_is_asked(tabs: TabRequests) -> None:
    front, back, newest = FakeTab(tabs), FakeTab(tabs), FakeTab(tabs)
    front.show("n.ipynb", [], active=True)
    back.show("n.ipynb", [], active=False)
    newest.show("n.ipynb", [], active=False)
    place = tabs.tab_with("n.ipynb")
    assert place is not None
    assert place.tab == front.tab
    front.close()
    place = tabs.tab_with("n.ipynb")
    assert place is not None
    assert place.tab == newest.tab


async def test_notebook_is_found_under_every_spelling_of_its_path(tabs: TabRequests, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    tab = FakeTab(tabs)
    tab.show("RTC:link/n.ipynb", [tab_cell("a", "x")])
    for path in ("real/n.ipynb", "link/n.ipynb", "/real/../real/n.ipynb"):
        view = await BrowserBackend(tabs).read(path)
        assert [cell.id for cell in view.cells] == ["a"]
    assert {request.params["path"] for request in tab.asked} == {"RTC:link/n.ipynb"}
    assert tabs.tab_with("other/n.ipynb") is None


async def test_pending_request_fails_when_tab_closes(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.silent = True
    asked = asyncio.ensure_future(tabs.request(tab.tab, "notebook.read", {"path": "n.ipynb"}, None))
    request_id = await until_asked(tab)
    tab.close()
    with pytest.raises(NotebookError) as caught:
        await asked
    assert caught.value.code == "tab_gone"
    assert tab.respond(json.dumps({"requestId": request_id, "result": {}})) is False


async def test_only_first_answer_of_asked_tab_counts(tabs: TabRequests) -> None:
    tab, stranger = FakeTab(tabs), FakeTab(tabs)
    tab.silent = True
    asked = asyncio.ensure_future(tabs.request(tab.tab, "notebook.read", {"path": "n.ipynb"}, None))
    request_id = await until_asked(tab)
    assert stranger.respond(json.dumps({"requestId": request_id, "result": {"from": "stranger"}})) is False
    assert tab.respond(json.dumps({"requestId": request_id, "result": {"from": "tab"}})) is True
    assert tab.respond(json.dumps({"requestId": request_id, "result": {"from": "echo"}})) is False
    assert await asked == {"from": "tab"}


async def test_unresponsive_tab_is_reported(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.silent = True
    with pytest.raises(NotebookError) as caught:
        await tabs.request(tab.tab, "notebook.read", {"path": "n.ipynb"}, 0.01)
    assert caught.value.code == "tab_silent"


async def test_unsendable_request_means_tab_is_gone(tabs: TabRequests) -> None:
    async def broken(request_id: str, action: str, params: object) -> None:
        raise ConnectionError("closed")

    tab = tabs.opened(broken)
    with pytest.raises(NotebookError) as caught:
        await tabs.request(tab, "notebook.read", {}, None)
    assert caught.value.code == "tab_gone"


async def test_reloading_tab_is_waited_for(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [])
    tab.close()
    waiting = asyncio.ensure_future(tabs.settled("n.ipynb"))
    await asyncio.sleep(0)
    assert not waiting.done()
    again = FakeTab(tabs)
    again.show("other.ipynb", [])
    await asyncio.sleep(0)
    assert not waiting.done()
    again.show("n.ipynb", [])
    await waiting
    assert tabs.tab_with("n.ipynb") is not None


async def test_notebook_open_nowhere_is_not_waited_for(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [])
    tab.close()
    await tabs.settled("other.ipynb")


async def test_malformed_answer_is_an_error_naming_the_field(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [{"id": "a", "cellType": "poem", "source": ""}])
    with pytest.raises(NotebookError, match="cellType") as caught:
        await BrowserBackend(tabs).read("n.ipynb")
    assert caught.value.code == "bad_response"


async def test_change_is_one_request_with_hash_and_without_notebook(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [tab_cell("a", "x = 1"), tab_cell("b", "y")])
    await BrowserBackend(tabs).apply(
        "n.ipynb", [EditCell("a", "x = 2", cell_hash("x = 1")), MoveCell("b", "start", cell_hash("y"))]
    )
    (asked,) = tab.asked
    assert asked.action == "notebook.apply"
    assert asked.params["changes"] == [
        {"kind": "edit", "cellId": "a", "source": "x = 2", "baseHash": cell_hash("x = 1"), "evenLocked": False},
        {"kind": "move", "cellId": "b", "place": "start", "baseHash": cell_hash("y")},
    ]


async def test_cell_in_tab_reports_waiting_then_running_periodically(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.free.clear()
    tab.show("n.ipynb", [tab_cell("a", "sleep")])
    said: list[str] = []
    run = asyncio.ensure_future(BrowserBackend(tabs, progress_every_s=0.01).run_cell("n.ipynb", "a", said.append))
    await until(lambda: len(said) >= 2)
    assert {line.rpartition(" for ")[0] for line in said} == {"Waiting for the kernel"}
    tab.free.set()
    await until(lambda: len([line for line in said if line.startswith("Running for")]) >= 3)
    tab.end()
    await run
    assert not said[-1].startswith("Waiting")


async def test_after_write_same_tab_is_used_while_it_has_notebook_open(tabs: TabRequests) -> None:
    first, other = FakeTab(tabs), FakeTab(tabs)
    first.show("n.ipynb", [tab_cell("a", "x = 1")])
    backend = BrowserBackend(tabs)
    await backend.apply("n.ipynb", [EditCell("a", "x = 2")])
    other.show("n.ipynb", [tab_cell("a", "x = 1")])  # speaks last, and has it in front, too
    assert (await backend.read("n.ipynb")).cells[0].source == "x = 2"
    assert other.asked == []
    first.close()
    assert (await backend.read("n.ipynb")).cells[0].source == "x = 1"


async def test_notebook_diverged_in_two_tabs_is_read_only(tabs: TabRequests) -> None:
    first, other = FakeTab(tabs), FakeTab(tabs)
    for tab in (first, other):
        tab.show("n.ipynb", [tab_cell("a", "x = 1")])
    backend = BrowserBackend(tabs)
    assert (await backend.read("n.ipynb")).cells[0].source == "x = 1"
    for write in (backend.apply("n.ipynb", [EditCell("a", "x = 2")]), backend.run_cell("n.ipynb", "a", print)):
        with pytest.raises(NotebookError, match="two or more browser windows") as caught:
            await write
        assert caught.value.code == "open_twice"
    assert {request.action for request in (*first.asked, *other.asked)} == {"notebook.read"}
    other.close()
    await backend.apply("n.ipynb", [EditCell("a", "x = 2")])
    assert first.notebooks["n.ipynb"][0]["source"] == "x = 2"


async def test_two_tabs_sharing_a_room_are_written_through_either(tabs: TabRequests) -> None:
    front, other = FakeTab(tabs), FakeTab(tabs)
    other.show("RTC:n.ipynb", [tab_cell("a", "x = 1")], active=False)
    front.show("RTC:n.ipynb", [tab_cell("a", "x = 1")])
    backend = BrowserBackend(tabs, is_shared=lambda path: True)
    await backend.apply("n.ipynb", [EditCell("a", "x = 2")])
    assert front.notebooks["RTC:n.ipynb"][0]["source"] == "x = 2"


async def test_reconnecting_page_replaces_its_former_connection(tabs: TabRequests) -> None:
    asleep, awake = FakeTab(tabs, page="p1"), FakeTab(tabs, page="p1")
    asleep.silent = True
    asleep.show("n.ipynb", [tab_cell("a", "x = 1")])
    reading = asyncio.ensure_future(tabs.request(asleep.tab, "notebook.read", {"path": "n.ipynb"}, None))
    await until_asked(asleep)
    awake.show("n.ipynb", [tab_cell("a", "x = 1")])
    with pytest.raises(NotebookError) as caught:
        await reading
    assert caught.value.code == "tab_gone"
    await BrowserBackend(tabs).apply("n.ipynb", [EditCell("a", "x = 2")])
    assert awake.notebooks["n.ipynb"][0]["source"] == "x = 2"


async def test_cell_running_in_tab_is_known_and_not_moved_or_deleted(tabs: TabRequests) -> None:
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [tab_cell("a", "x"), tab_cell("b", "y"), tab_cell("c", "z")])
    tab.running = {"b"}
    backend = BrowserBackend(tabs)
    assert [cell.is_running for cell in (await backend.read("n.ipynb")).cells] == [False, True, False]
    assert [cell.is_running for cell in (await backend.read_cells("n.ipynb", ["b"])).cells] == [True]
    for change in (MoveCell("b", "start"), DeleteCell("b")):
        with pytest.raises(NotebookError) as caught:
            await backend.apply("n.ipynb", [EditCell("a", "changed"), change])
        assert caught.value.code == "running"
    await backend.apply("n.ipynb", [EditCell("b", "changed"), MoveCell("a", "end")])
    assert [cell.source for cell in (await backend.read("n.ipynb")).cells] == ["changed", "z", "x"]
