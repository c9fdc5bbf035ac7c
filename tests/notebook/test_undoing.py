"""Turns taken back and put back in the notebooks they changed, beside a person's own hand."""

import json

import pytest

from onyx_jupyter.errors import InvalidRequest, NotebookError
from onyx_jupyter.protocols import After, DeleteCell, EditCell, InsertCell, MoveCell, Place
from tests.notebook.desk import RUN, SESSION, A, B, Desk, undone
from tests.notebook.shelf import code


async def test_undo_restores_notebook_in_one_step(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("n1", "n"), After("one")))
    await desk.change(MoveCell("n1", "end"), MoveCell("three", "start"))
    await desk.run("three")
    await desk.change(DeleteCell("two"))
    await desk.change(InsertCell(code("n2", "m"), After("n1")), path=A)
    await desk.change(EditCell("b1", "b"), path=B)
    count = len(desk.shelf.applied)
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before
    assert len(desk.shelf.applied) == count + 2  # one for each notebook
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.pending, turn.standing, turn.revert_id is not None) == (0, 0, True)


async def test_later_user_edit_is_never_overwritten(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("new", "n"), "end"), MoveCell("three", "start"))
    await desk.run("two")
    desk.shelf.cell(A, "one")["source"] = "x = 11"
    desk.shelf.cell(A, "new")["source"] = "mine"
    desk.shelf.run_by_hand(A, "two")
    ran = dict(desk.shelf.cell(A, "two"))
    assert await undone(desk) == {"one": "changed", "new": "changed", "two": "ran"}
    assert desk.shelf.order(A) == ["one", "two", "three", "new"]
    assert [desk.shelf.cell(A, name)["source"] for name in ("one", "new")] == ["x = 11", "mine"]
    assert desk.shelf.cell(A, "two") == ran
    assert set(await desk.kinds()) == {"one", "new"}


async def test_newer_outputs_with_same_count_are_never_overwritten(desk: Desk) -> None:
    """After “Restart and run all” cells have the counts that they had before."""
    desk.shelf.run_by_hand(A, "one")
    await desk.run("one")
    await desk.run("two")
    mine = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
    desk.shelf.cell(A, "one")["outputs"] = mine
    desk.shelf.cell(A, "two")["outputs"] = [{**desk.shelf.cell(A, "two")["outputs"][0], "text": ["Y ", "= 2"]}]
    assert await undone(desk) == {"one": "ran"}
    assert desk.shelf.cell(A, "one")["outputs"] == mine
    assert desk.shelf.cell(A, "two")["outputs"] == []  # the same text, as a file may have it


async def test_concurrent_user_edit_is_detected(desk: Desk) -> None:
    """The person types between the reading and the writing."""
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"))

    def type_once() -> None:
        desk.shelf.before_apply = lambda: None
        desk.shelf.cell(A, "one")["source"] = "x = 10, mine"

    desk.shelf.before_apply = type_once
    assert await undone(desk) == {"one": "changed"}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 10, mine", "y = 2", "z = 3"]


async def test_cell_moved_back_or_deleted_by_user_stays_so(desk: Desk) -> None:
    await desk.change(MoveCell("one", After("three")), EditCell("two", "y = 20"))
    cells = {cell["id"]: cell for cell in desk.shelf.notebooks[A]}
    desk.shelf.notebooks[A] = [cells["one"], cells["three"]]
    assert await undone(desk) == {"two": "deleted"}
    assert desk.shelf.order(A) == ["one", "three"]


@pytest.mark.parametrize("place", ["start", After("one")])
async def test_cell_moved_further_by_user_stays_there(desk: Desk, place: Place) -> None:
    """Towards the end too, where the cell over it at first is still over it."""
    desk.shelf.notebooks[A] = [code(name) for name in ("one", "two", "three", "four", "five")]
    await desk.change(MoveCell("four", place))
    by_hand = ["one", "two", "four", "three", "five"]
    desk.shelf.notebooks[A] = [code(name) for name in by_hand]
    assert await undone(desk) == {"four": "moved"}
    assert desk.shelf.order(A) == by_hand


async def test_moved_cell_with_one_remaining_neighbour_goes_back(desk: Desk) -> None:
    await desk.change(MoveCell("three", After("one")))
    cells = {cell["id"]: cell for cell in desk.shelf.notebooks[A]}
    desk.shelf.notebooks[A] = [cells["one"], code("mine"), cells["three"], cells["two"]]
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "mine", "two", "three"]


async def test_moved_cell_whose_neighbours_were_deleted_by_turn_goes_back(desk: Desk) -> None:
    await desk.change(InsertCell(code("n1", "n"), "start"))
    await desk.change(MoveCell("three", After("n1")))
    await desk.change(InsertCell(code("n2", "n"), After("three")))
    for name in ("n2", "n1", "three"):
        assert (await desk.review.reject(A, [name], "ada")).left == []
    assert desk.shelf.order(A) == ["one", "two", "three"]


@pytest.mark.parametrize("rejected", [["one", "two"], ["two", "one"]])
async def test_cells_swapped_by_turn_are_restored_once_both_are_rejected(desk: Desk, rejected: list[str]) -> None:
    await desk.change(MoveCell("one", "end"))
    await desk.change(MoveCell("two", "end"))
    assert desk.shelf.order(A) == ["three", "one", "two"]
    for name in rejected:
        assert (await desk.review.reject(A, [name], "ada")).left == []
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_neighbour_moved_along_is_no_anchor(desk: Desk) -> None:
    desk.shelf.notebooks[A] = [code("one"), code("two"), code("three"), code("four")]
    await desk.change(MoveCell("two", After("one")))
    await desk.change(DeleteCell("three"))
    await desk.change(MoveCell("one", "end"))
    await desk.change(MoveCell("two", "end"))
    assert desk.shelf.order(A) == ["four", "one", "two"]
    assert await desk.kinds() == {"three": ("deleted",), "one": ("moved",)}
    for name in ("three", "one"):
        await desk.review.reject(A, [name], "ada")
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three", "four"]


async def test_moves_logged_without_neighbours_can_be_undone(desk: Desk) -> None:
    await desk.change(MoveCell("one", "end"))
    lines = desk.lines()
    for line in lines:
        for effect in line["effects"]:
            del effect["nowAbove"], effect["nowBelow"]
    desk.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_deleted_cell_finds_its_place_without_neighbour(desk: Desk) -> None:
    await desk.change(DeleteCell("three"))
    desk.shelf.notebooks[A] = [cell for cell in desk.shelf.notebooks[A] if cell["id"] != "two"]
    desk.shelf.notebooks[A].append(code("mine"))
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "three", "mine"]


async def test_rejecting_one_leaves_others(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"), InsertCell(code("new", "n"), "start"))
    outcome = await desk.review.reject(A, ["new"], "ada")
    assert (outcome.cells, outcome.left) == (1, [])
    assert desk.shelf.order(A) == ["one", "two", "three"]
    assert desk.shelf.cell(A, "one")["source"] == "x = 10"
    assert set(await desk.kinds()) == {"one", "two"}


async def test_undo_works_after_keep_and_restart(desk: Desk) -> None:
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"))
    assert await desk.review.accept(A, None, "ada") == 2
    assert await desk.kinds() == {}
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before


async def test_reverting_undo_restores_marks(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"), InsertCell(code("new", "n"), "end"))
    await desk.run("new")
    as_left = json.loads(json.dumps(desk.shelf.notebooks))
    marks = await desk.kinds()
    await undone(desk)
    assert await desk.kinds() == {}
    desk.restart()
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert (outcome.cells, outcome.left) == (3, [])
    assert desk.shelf.notebooks == as_left
    assert await desk.kinds() == marks
    with pytest.raises(InvalidRequest):
        await desk.review.put_back(SESSION, RUN, "ada")
    assert await undone(desk) == {}


async def test_all_cells_of_a_notebook_can_be_undone(desk: Desk) -> None:
    desk.shelf.notebooks[A] = [code("blank")]
    await desk.change(InsertCell(code("new", "n"), "end"), DeleteCell("blank"))
    await desk.review.reject(A, ["new"], "ada")
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == [""]  # a notebook has a cell to type in


async def test_cells_locked_since_are_undone(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("new", "n"), "end"))
    for name in ("one", "new"):
        desk.shelf.cell(A, name)["metadata"] = {"editable": False, "deletable": False}
    with pytest.raises(NotebookError) as caught:
        await desk.change(EditCell("one", "x = 11"))
    assert caught.value.code == "locked"
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
