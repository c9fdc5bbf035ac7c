"""Runs that never began, or did not come to their end: a person's own outputs are never taken for theirs."""

import asyncio
import json
from typing import Any

import pytest

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.protocols import NotebookCells
from tests.notebook.desk import SESSION, A, Desk, undone

MINE = {"output_type": "stream", "name": "stdout", "text": "two hours of training"}


def run_by_hand(desk: Desk, cell_id: str) -> dict[str, Any]:
    """The cell as it is then."""
    desk.shelf.cell(A, cell_id).update(outputs=[MINE], execution_count=42)
    return dict(desk.shelf.cell(A, cell_id))


async def stopped(desk: Desk, at: str) -> None:
    """A run of “two”, cancelled there: `before_run`, or `in_run`."""
    is_there = asyncio.Event()

    async def wait() -> None:
        is_there.set()
        await asyncio.Event().wait()

    setattr(desk.shelf, at, wait)
    run = asyncio.ensure_future(desk.run("two"))
    await is_there.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.parametrize("code_of", ["open_twice", "tab_gone", "tab_silent", "room_not_ready", "old_front_end"])
async def test_run_that_never_started_needs_no_undo(desk: Desk, code_of: str) -> None:
    desk.shelf.run_by_hand(A, "two")

    async def refuse() -> None:
        raise NotebookError(code_of, "Not here.")

    desk.shelf.before_run = refuse
    with pytest.raises(NotebookError):
        await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun", "not_done"]
    assert await desk.review.turns(SESSION) == []


async def test_run_stopped_while_waiting_for_kernel_needs_no_undo(desk: Desk) -> None:
    await stopped(desk, "before_run")
    assert [line["kind"] for line in desk.lines()] == ["begun", "not_done"]
    assert await desk.review.turns(SESSION) == []


async def test_user_run_after_stopped_run_stays(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    await stopped(desk, "in_run")
    ran = run_by_hand(desk, "two")
    assert await undone(desk) == {"two": "ran"}
    assert desk.shelf.cell(A, "two") == ran


async def test_stopped_run_is_undone_if_user_did_not_run_cell_since(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await stopped(desk, "in_run")
    assert desk.told == [A]
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before


def obey(desk: Desk) -> None:
    """The kernel has heard of the stop, and the cell shows it."""
    stop = {"output_type": "error", "ename": "KeyboardInterrupt", "evalue": "", "traceback": []}
    cell = desk.shelf.cell(A, "two")
    cell.update(outputs=[*cell["outputs"], stop], execution_count=7)
    desk.shelf.running = set()


async def test_run_on_slow_to_stop_kernel_can_be_undone(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = json.loads(json.dumps(desk.shelf.notebooks))
    read, looks = desk.shelf.read_cells, 0

    async def look(*asked: Any) -> NotebookCells:
        nonlocal looks
        looks += 1
        seen = await read(*asked)
        if looks == 2:  # the first one is that of what stood there before
            obey(desk)
        return seen

    desk.shelf.read_cells = look  # type: ignore[method-assign,assignment]
    desk.shelf.running = {"two"}
    await stopped(desk, "in_run")
    assert looks == 3
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before


async def test_cell_still_running_after_stop_timeout_is_not_considered_ended(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    desk.shelf.running = {"two"}
    await stopped(desk, "in_run")
    assert [line["kind"] for line in desk.lines()] == ["begun"]
    obey(desk)
    ran = dict(desk.shelf.cell(A, "two"))
    assert await undone(desk) == {"two": "ran"}
    assert desk.shelf.cell(A, "two") == ran


@pytest.mark.parametrize("code_of", ["tab_gone", "tab_silent", "closed"])
async def test_disconnected_tab_gives_no_run_result(desk: Desk, code_of: str) -> None:
    """The file can be read all the same, and shows the cell as it was before."""

    async def go_away() -> None:
        raise NotebookError(code_of, "It has gone.")

    desk.shelf.in_run = go_away
    with pytest.raises(NotebookError):
        await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun"]


async def test_run_with_unknown_end_claims_no_outputs(desk: Desk) -> None:
    """The server was killed while it went on."""
    desk.shelf.run_by_hand(A, "two")
    await desk.run("two")
    desk.file.write_text(desk.file.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    desk.restart()
    ran = run_by_hand(desk, "two")
    assert await undone(desk) == {"two": "ran"}
    assert desk.shelf.cell(A, "two") == ran


async def test_cell_emptied_by_lost_run_gets_outputs_back(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = dict(desk.shelf.cell(A, "two"))
    await desk.run("two")
    desk.file.write_text(desk.file.read_text("utf-8").splitlines()[0] + "\n", "utf-8")
    desk.restart()
    desk.shelf.cell(A, "two").update(outputs=[], execution_count=None)
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two") == before


async def test_outputs_are_left_alone_if_notebook_is_unreadable_after_stop(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")

    async def go_away() -> None:
        desk.shelf.notebooks["gone.ipynb"] = desk.shelf.notebooks.pop(A)
        raise NotebookError("tab_gone", "The tab has gone.")

    desk.shelf.in_run = go_away
    with pytest.raises(NotebookError):
        await desk.run("two")
    desk.shelf.notebooks[A] = desk.shelf.notebooks.pop("gone.ipynb")
    assert await undone(desk) == {"two": "ran"}
    assert desk.shelf.cell(A, "two")["outputs"][0]["text"] == "Y = 2"
