"""A turn taken back while cells of the notebook run: what runs keeps its place, and so all that it puts out."""

import pytest

from onyx_jupyter.protocols import After, EditCell, InsertCell, MoveCell
from tests.notebook.desk import RUN, SESSION, A, Desk, undone
from tests.notebook.shelf import code


async def test_running_cell_is_not_moved_or_removed_until_it_ends(desk: Desk) -> None:
    await desk.change(MoveCell("one", "end"), InsertCell(code("new", "n"), "start"), EditCell("two", "y = 20"))
    desk.shelf.running = {"one", "new", "two"}
    assert await undone(desk) == {"one": "running", "new": "running"}
    assert desk.shelf.order(A) == ["new", "two", "three", "one"]
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"  # its text alone disturbs no run
    assert set(await desk.kinds()) == {"one", "new"}
    desk.shelf.running = set()
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_cell_started_between_read_and_write_is_left_alone(desk: Desk) -> None:
    await desk.change(MoveCell("one", After("two")), EditCell("three", "z = 30"))

    def run_once() -> None:
        desk.shelf.before_apply = lambda: None
        desk.shelf.running = {"one"}

    desk.shelf.before_apply = run_once
    assert await undone(desk) == {"one": "running"}
    assert desk.shelf.order(A) == ["two", "one", "three"]
    assert desk.shelf.cell(A, "three")["source"] == "z = 3"


async def test_mark_of_running_cell_stays_when_rejected(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "start"))
    desk.shelf.running = {"new"}
    outcome = await desk.review.reject(A, ["new"], "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("new", "running")]
    assert await desk.kinds() == {"new": ("added",)}


@pytest.mark.parametrize("is_running", [True, False])
async def test_created_notebook_stays_while_a_cell_runs(desk: Desk, is_running: bool) -> None:
    await desk.hand().create("new.ipynb", [code("first", "a"), code("second", "b")])
    desk.shelf.running = {"first"} if is_running else set()
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == ([] if is_running else ["new.ipynb"])
    if is_running:
        assert [(left.cell_id, left.reason) for left in outcome.left] == [("first", "running")]
        assert desk.shelf.order("new.ipynb") == ["first"]
