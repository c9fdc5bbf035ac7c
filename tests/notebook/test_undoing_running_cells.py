"""A turn taken back while cells of the notebook run: what runs keeps its place, and so all that it puts out."""

import pytest

from onyx_jupyter.protocols import After, EditCell, InsertCell, MoveCell
from tests.notebook.desk import RUN, SESSION, A, Desk, undone
from tests.notebook.shelf import code


async def test_a_cell_that_runs_is_neither_moved_back_nor_taken_away_until_it_has_ended(desk: Desk) -> None:
    await desk.change(MoveCell("one", "end"), InsertCell(code("new", "n"), "start"), EditCell("two", "y = 20"))
    desk.shelf.running = {"one", "new", "two"}
    assert await undone(desk) == {"one": "running", "new": "running"}
    assert desk.shelf.order(A) == ["new", "two", "three", "one"]
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"  # its text alone disturbs no run
    assert set(await desk.kinds()) == {"one", "new"}
    desk.shelf.running = set()
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_a_cell_that_is_run_between_the_reading_and_the_writing_is_left_alone(desk: Desk) -> None:
    await desk.change(MoveCell("one", After("two")), EditCell("three", "z = 30"))

    def run_once() -> None:
        desk.shelf.before_apply = lambda: None
        desk.shelf.running = {"one"}

    desk.shelf.before_apply = run_once
    assert await undone(desk) == {"one": "running"}
    assert desk.shelf.order(A) == ["two", "one", "three"]
    assert desk.shelf.cell(A, "three")["source"] == "z = 3"


async def test_a_mark_of_a_cell_that_runs_stays_when_it_is_rejected(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "start"))
    desk.shelf.running = {"new"}
    outcome = await desk.review.reject(A, ["new"], "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("new", "running")]
    assert await desk.kinds() == {"new": ("added",)}


@pytest.mark.parametrize("is_running", [True, False])
async def test_a_made_notebook_stays_while_a_cell_of_it_runs(desk: Desk, is_running: bool) -> None:
    await desk.hand().create("new.ipynb", [code("first", "a"), code("second", "b")])
    desk.shelf.running = {"first"} if is_running else set()
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == ([] if is_running else ["new.ipynb"])
    if is_running:
        assert [(left.cell_id, left.reason) for left in outcome.left] == [("first", "running")]
        assert desk.shelf.order("new.ipynb") == ["first"]
