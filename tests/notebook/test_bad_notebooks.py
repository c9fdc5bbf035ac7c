"""Notebooks as they should not be, and servers that refuse: a clear result, and nothing is lost."""

import asyncio
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tornado.web import HTTPError

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.notebook.document_service import DocumentService
from onyx_jupyter.notebook.output_limits import TOTAL_CHARS, OutputLimits
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.protocols import DeleteCell, EditCell, InsertCell, MoveCell
from onyx_jupyter.testing.fake_clock import fake_ids
from tests.notebook.fake_tab import FakeTab, tab_cell
from tests.notebook.files import cell, read_cells, service_over, write_notebook
from tests.notebook.kernels import quiet
from tests.waiting import until


async def refused(awaitable: Any) -> NotebookError:
    with pytest.raises(NotebookError) as caught:
        await awaitable
    return caught.value


@pytest.mark.parametrize("content", ["", "{", '{"cells": 1}', "null", "[]", '{"nbformat": 4, "cells": [{}]}'])
async def test_malformed_notebook_is_reported_and_left_unchanged(
    service: DocumentService, jp_root_dir: Path, content: str
) -> None:
    path = jp_root_dir / "n.ipynb"
    path.write_text(content)
    for attempt in (service.read("n.ipynb"), service.apply("n.ipynb", [InsertCell(cell("a", "x"))])):
        error = await refused(attempt)
        assert error.code == "not_notebook"
        assert "n.ipynb" in str(error)
    assert path.read_text() == content


async def test_format_3_is_read_as_4_and_saved_as_4_when_changed(service: DocumentService, jp_root_dir: Path) -> None:
    path = jp_root_dir / "old.ipynb"
    code = {"cell_type": "code", "language": "python", "input": ["x = 1"], "outputs": [], "prompt_number": 3}
    heading = {"cell_type": "heading", "level": 2, "source": ["Title"], "metadata": {}}
    sheet = {"cells": [heading, code | {"metadata": {}, "collapsed": False}], "metadata": {}}
    content = {"metadata": {"name": "old"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [sheet]}
    path.write_text(json.dumps(content))
    view = await service.read("old.ipynb")
    assert [(c.cell_type, c.source) for c in view.cells] == [("markdown", "## Title"), ("code", "x = 1")]
    assert json.loads(path.read_text())["nbformat"] == 3
    await service.apply("old.ipynb", [EditCell(view.cells[1].id, "x = 2", cell_hash("x = 1"))])
    saved = json.loads(path.read_text())
    assert (saved["nbformat"], saved["nbformat_minor"]) == (4, 5)
    assert [c["source"] for c in read_cells(path)] == ["## Title", "x = 2"]
    assert [c["id"] for c in saved["cells"]] == [c.id for c in view.cells]


@pytest.mark.filterwarnings("ignore:Non-unique cell id")  # nbformat's own, which gives the second another id each time
async def test_intended_one_of_cells_with_duplicate_id_is_changed(service: DocumentService, jp_root_dir: Path) -> None:
    path = jp_root_dir / "n.ipynb"
    write_notebook(path, [cell("a", "first"), cell("a", "second"), cell("a", "second")])
    ids = [c.id for c in (await service.read("n.ipynb")).cells]
    assert len(set(ids)) == 3
    await service.apply("n.ipynb", [EditCell(ids[1], "changed"), DeleteCell(ids[2])])
    assert [(c["id"], c["source"]) for c in read_cells(path)] == [("a", "first"), (ids[1], "changed")]


async def test_read_only_file_is_reported(
    server: Any, service: DocumentService, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "print('ran')")])

    async def save(model: object, path: str = "") -> None:
        raise HTTPError(403, "Permission denied: %s", path)  # what Jupyter says of a read-only file

    monkeypatch.setattr(server.contents_manager, "save", save)
    error = await refused(service.apply("n.ipynb", [EditCell("a", "x")]))
    assert error.code == "not_saved"
    assert "Permission denied: n.ipynb" in str(error)
    run = await service.run_cell("n.ipynb", "a", quiet)
    assert run.outputs[0]["text"] == "ran\n"
    assert "Permission denied" in (run.note or "")


async def test_source_that_cannot_be_saved_is_rejected(service: DocumentService, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "x = 1")])
    for change in (EditCell("a", "half \ud83d pair"), InsertCell({"cell_type": "code", "source": "\udc00"})):
        assert (await refused(service.apply("n.ipynb", [change]))).code == "bad_cell"
    assert read_cells(jp_root_dir / "n.ipynb")[0]["source"] == "x = 1"


async def test_output_of_200_mb_is_not_shown_nor_held_in_memory_nor_lost(
    service: DocumentService, jp_root_dir: Path
) -> None:
    path = jp_root_dir / "n.ipynb"
    size = 200_000_000
    output = {"output_type": "stream", "name": "stdout", "text": "x" * size}
    write_notebook(path, [cell("a", "print(big)") | {"outputs": [output]}, cell("b", "y = 1")])
    del output
    tracemalloc.start()
    try:
        view = await service.read("n.ipynb")
        (made, _) = await service.apply("n.ipynb", [EditCell("a", "print(small)"), MoveCell("b", "start")])
        left, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(view.cells[0].outputs[0]["text"]) < 30_000
    assert made.outputs_left_out
    assert made.before is not None
    assert "outputs" not in made.before
    assert left < 20_000_000
    assert path.stat().st_size > size


def test_total_outputs_of_a_read_are_limited() -> None:
    limits = OutputLimits()
    stream = {"output_type": "stream", "name": "stdout", "text": "x" * 50_000}
    picture = {"output_type": "display_data", "data": {"image/png": "p" * 9, "text/plain": "<Figure>"}}
    shown = [limits.limited([stream, picture], in_full=False) for _ in range(1_000)]
    assert sum(len(outputs[0]["text"]) for outputs in shown) < TOTAL_CHARS + 100_000
    assert shown[0][1]["data"] == {"text/plain": "<Figure>"}
    assert limits.limited([stream, picture], in_full=True) == (stream, picture)
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["one", "two"]}
    assert limits.limited([error], in_full=True)[0]["traceback"] == ["one\ntwo"]


async def test_large_notebook_is_read_in_parts_restarting_on_change() -> None:
    tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=0)
    tab = FakeTab(tabs)
    tab.cells_in_a_frame = 400
    tab.show("n.ipynb", [tab_cell(f"c{number}", str(number)) for number in range(1_200)])
    backend = BrowserBackend(tabs)
    assert [c.source for c in (await backend.read("n.ipynb")).cells] == [str(number) for number in range(1_200)]
    assert len(tab.asked) == 3

    def take_one_away() -> None:
        if len(tab.asked) == 5:  # in the middle of the second reading
            del tab.notebooks["n.ipynb"][0]

    tab.before_reading = take_one_away
    assert [c.source for c in (await backend.read("n.ipynb")).cells] == [str(number) for number in range(1, 1_200)]
    tab.before_reading = lambda: None
    some = await backend.read_cells("n.ipynb", ["c5", "c900"], last=1)
    assert [cell.id for cell in some.order] == [f"c{number}" for number in range(1, 1_200)]
    assert [cell.id for cell in some.cells] == ["c5", "c900", "c1199"]


async def test_notebook_on_another_drive_is_not_mistaken_for_a_file(server: Any, jp_root_dir: Path) -> None:
    write_notebook(jp_root_dir / "n.ipynb", [cell("a", "here")])
    service, tabs = service_over(server)
    tab = FakeTab(tabs)
    tab.show("S3:n.ipynb", [tab_cell("b", "there")])
    assert (await service.read("n.ipynb")).cells[0].source == "here"
    assert (await service.read("S3:n.ipynb")).cells[0].source == "there"
    tab.close()
    assert (await refused(service.read("S3:n.ipynb"))).code == "not_found"


async def test_after_suspend_tab_is_asked_for_result_not_to_run_again() -> None:
    tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=60)
    tab = FakeTab(tabs)
    cells = [tab_cell("a", "sleep"), tab_cell("b", "print('again')")]
    tab.show("n.ipynb", cells)
    running = asyncio.ensure_future(BrowserBackend(tabs).run_cell("n.ipynb", "a", quiet))
    await tab.started.wait()
    tab.close()
    awake = FakeTab(tabs)
    awake.runs = tab.runs  # the same page: only its connection is another
    awake.show("n.ipynb", cells)
    tab.end()
    assert (await running).status == "error"
    asked = [request.action for request in (*tab.asked, *awake.asked)]
    assert asked == ["notebook.wait", "notebook.run", "notebook.join"]


async def test_reloaded_page_does_not_run_again_and_it_is_reported() -> None:
    tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=60)
    tab = FakeTab(tabs)
    tab.show("n.ipynb", [tab_cell("a", "sleep")])
    running = asyncio.ensure_future(BrowserBackend(tabs).run_cell("n.ipynb", "a", quiet))
    await tab.started.wait()
    tab.close()
    anew = FakeTab(tabs)
    anew.show("n.ipynb", [tab_cell("a", "sleep")])
    assert (await refused(running)).code == "tab_gone"
    assert [request.action for request in anew.asked] == ["notebook.join"]


class Stopping:
    """A run of a cell that sleeps, or of one that waits for its turn; `by_server` are the kernels interrupted here."""

    def __init__(self) -> None:
        self.by_server: list[str] = []
        self.began: list[bool] = []
        self.tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=60)
        self.tab = self.open()

    def open(self) -> FakeTab:
        tab = FakeTab(self.tabs)
        tab.show("n.ipynb", [tab_cell("a", "sleep")])
        return tab

    def run(self) -> asyncio.Task[Any]:
        async def interrupt(path: str) -> None:
            self.by_server.append(path)

        backend = BrowserBackend(self.tabs, interrupt=interrupt)
        return asyncio.create_task(backend.run_cell("n.ipynb", "a", quiet, began=lambda: self.began.append(True)))

    async def stop(self, running: asyncio.Task[Any]) -> None:
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    @property
    def asked(self) -> list[str]:
        return [request.action for request in self.tab.asked]


async def test_stop_while_user_cell_runs_interrupts_nothing_and_cell_never_runs() -> None:
    case = Stopping()
    case.tab.free.clear()
    running = case.run()
    await case.tab.was_asked.wait()
    await case.stop(running)
    case.tab.free.set()
    await asyncio.gather(*case.tab.answers)
    assert (case.asked, case.by_server, case.began) == (["notebook.wait"], [], [])
    assert not case.tab.started.is_set()


@pytest.mark.parametrize("code", ["open_twice", "stale", "no_cell"])
async def test_run_rejected_by_tab_has_not_started(code: str) -> None:
    case = Stopping()

    async def refuse(cell: dict[str, Any]) -> dict[str, Any]:
        raise NotebookError(code, "not here")

    case.tab._run = refuse  # type: ignore[method-assign]
    assert (await refused(case.run())).code == code
    assert (case.asked, case.began) == (["notebook.wait", "notebook.run"], [])


@pytest.mark.parametrize("code", ["internal", "too_large", "bad_response", "kernel_died"])
async def test_errors_after_tab_accepted_run_count_as_started(code: str) -> None:
    case = Stopping()

    async def fail(cell: dict[str, Any]) -> dict[str, Any]:
        raise NotebookError(code, "failed")

    case.tab._run = fail  # type: ignore[method-assign]
    assert (await refused(case.run())).code == code
    assert case.began == [True]


def refused_unheard(case: Stopping, code: str) -> Callable[[], FakeTab]:
    """The tab refuses the run while its connection is gone; calling it connects the same page again."""
    is_asked_again = asyncio.Event()

    async def refuse(cell: dict[str, Any]) -> dict[str, Any]:
        case.tab.started.set()
        await is_asked_again.wait()
        raise NotebookError(code, "not here")

    case.tab._run = refuse  # type: ignore[method-assign]

    def wake() -> FakeTab:
        case.tab.close()
        awake = case.open()
        awake.runs = case.tab.runs
        is_asked_again.set()
        return awake

    return wake


@pytest.mark.parametrize("code", ["stale", "no_cell"])
async def test_rejection_heard_after_reconnect_means_not_started(code: str) -> None:
    case = Stopping()
    wake = refused_unheard(case, code)
    running = case.run()
    await case.tab.started.wait()
    awake = wake()
    assert (await refused(running)).code == code
    assert case.began == []
    assert [request.action for request in awake.asked] == ["notebook.join"]


async def test_kernel_taken_during_disconnect_is_waited_for_again() -> None:
    case = Stopping()
    wake = refused_unheard(case, "kernel_busy")
    running = case.run()
    await case.tab.started.wait()
    awake = wake()
    await awake.started.wait()
    awake.end()
    assert (await running).status == "error"
    assert [request.action for request in awake.asked] == ["notebook.join", "notebook.wait", "notebook.run"]


async def test_kernel_taken_between_wait_and_run_is_waited_for_again() -> None:
    case = Stopping()
    real = case.tab.free.wait

    async def taken_at_once() -> Any:
        case.tab.free.wait = real  # type: ignore[method-assign]
        case.tab.free.clear()
        return True

    case.tab.free.wait = taken_at_once  # type: ignore[method-assign,assignment]
    running = case.run()
    await until(lambda: case.asked == ["notebook.wait", "notebook.run", "notebook.wait"])
    case.tab.free.set()
    await case.tab.started.wait()
    case.tab.end()
    assert (await running).status == "error"
    assert case.asked[-1] == "notebook.run"


async def test_stop_of_running_cell_goes_only_to_tab() -> None:
    case = Stopping()
    running = case.run()
    await case.tab.started.wait()
    await case.stop(running)
    assert (case.asked[-1], case.by_server, case.began) == ("notebook.interrupt", [], [True])
    assert all(run.done() for run in case.tab.runs.values())  # who looks at the cell now sees how it ended
    assert case.tab.asked[-1].params["runKey"] == case.tab.asked[-2].params["runKey"]


@pytest.mark.parametrize("away", ["closed", "silent"])
async def test_stop_while_tab_is_away_interrupts_kernel_from_server(away: str) -> None:
    case = Stopping()
    running = case.run()
    await case.tab.started.wait()
    if away == "silent":
        case.tab.silent = True
    else:
        case.tab.close()
    await case.stop(running)
    assert case.by_server == ["n.ipynb"]


async def test_tab_closing_while_kernel_is_busy_hands_run_over() -> None:
    case = Stopping()
    case.tab.free.clear()
    running = case.run()
    await case.tab.was_asked.wait()
    case.tab.close()
    again = case.open()
    await again.started.wait()
    again.end()
    assert (await running).status == "error"
    assert [request.action for request in again.asked] == ["notebook.wait", "notebook.run"]
