"""An undo that is cut off anywhere, and what it left alone."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from onyx_jupyter.notebook.review.review_actions import Reviewing
from onyx_jupyter.protocols import After, DeleteCell, EditCell, InsertCell, MoveCell
from tests.notebook.desk import RUN, SESSION, A, B, Desk, Killed, undone
from tests.notebook.shelf import code


async def whole_turn(desk: Desk) -> tuple[str, str]:
    """Changes of every kind in three notebooks; those as they were before and as they were left, as JSON."""
    desk.shelf.run_by_hand(A, "two")
    before = json.dumps(desk.shelf.notebooks, sort_keys=True)
    await desk.change(EditCell("one", "x = 10"), DeleteCell("three"), MoveCell("two", "start"))
    await desk.run("two")
    await desk.change(InsertCell(code("new", "n"), After("one")))
    await desk.change(EditCell("b1", "b"), path=B)
    await desk.hand().create("c.ipynb", [code("made", "made")])
    return before, json.dumps(desk.shelf.notebooks, sort_keys=True)


async def killed_at(desk: Desk, steps: int, what: Callable[..., Awaitable[Any]]) -> bool:
    """Whether it was not done by then."""
    desk.stop_after(steps)
    try:
        await getattr(desk.review, what.__name__)(SESSION, RUN, "ada")
    except Killed:
        return True
    finally:
        desk.restart()
    return False


@pytest.mark.parametrize("again", [False, True])
async def test_undo_killed_anywhere_can_be_reverted_and_repeated(desk: Desk, again: bool) -> None:
    before, as_left = await whole_turn(desk)
    lines, marks = desk.file.read_text("utf-8"), await desk.kinds()
    for steps in range(50):
        desk.file.write_text(lines, "utf-8")
        desk.shelf.notebooks = json.loads(as_left)
        desk.restart()
        is_killed = await killed_at(desk, steps, Reviewing.undo)
        if again:
            assert await undone(desk) == {}
            assert json.dumps(desk.shelf.notebooks, sort_keys=True) == before, steps
            (turn,) = await desk.review.turns(SESSION)
            assert (turn.standing, turn.revert_id is not None) == (0, True)
        if (await desk.review.turns(SESSION))[0].revert_id is not None:
            assert (await desk.review.put_back(SESSION, RUN, "ada")).left == [], steps
        assert json.dumps(desk.shelf.notebooks, sort_keys=True) == as_left, steps
        assert await desk.kinds() == marks
        assert (await desk.review.turns(SESSION))[0].revert_id is None
        assert await undone(desk) == {}
        assert json.dumps(desk.shelf.notebooks, sort_keys=True) == before, steps
        if not is_killed:
            break
    assert steps >= 10


async def test_revert_of_undo_killed_anywhere_can_be_completed(desk: Desk) -> None:
    before, as_left = await whole_turn(desk)
    marks = await desk.kinds()
    await undone(desk)
    lines = desk.file.read_text("utf-8")
    for steps in range(50):
        desk.file.write_text(lines, "utf-8")
        desk.shelf.notebooks = json.loads(before)
        desk.restart()
        if not await killed_at(desk, steps, Reviewing.put_back):
            break
        assert (await desk.review.put_back(SESSION, RUN, "ada")).left == [], steps
        assert json.dumps(desk.shelf.notebooks, sort_keys=True) == as_left, steps
        assert await desk.kinds() == marks
        assert await undone(desk) == {}
        assert json.dumps(desk.shelf.notebooks, sort_keys=True) == before, steps
    assert steps >= 9


async def test_undo_killed_before_its_record_still_counts(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    assert await killed_at(desk, 4, Reviewing.undo)  # intent, begun, the notebook, done
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.standing, turn.revert_id is not None) == (0, True)
    assert [(line.what, line.by, line.cells) for line in await desk.review.reverts(SESSION)] == [
        ("undo", "ada", ("one",))
    ]


async def test_cells_skipped_by_undo_can_be_undone_later_and_all_restored(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"))
    as_left = json.dumps(desk.shelf.notebooks)
    desk.shelf.cell(A, "two")["source"] = "mine"
    assert await undone(desk) == {"two": "changed"}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.standing, turn.revert_id is not None) == (1, True)
    desk.shelf.cell(A, "two")["source"] = "y = 20"
    assert await undone(desk) == {}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 1", "y = 2", "z = 3"]
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert (outcome.cells, outcome.left) == (2, [])
    assert json.dumps(desk.shelf.notebooks) == as_left
    assert set(await desk.kinds()) == {"one", "two"}


async def test_cell_already_in_former_state_is_named_on_revert(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("new", "n"), "end"))
    desk.shelf.notebooks[A] = [cell for cell in desk.shelf.notebooks[A] if cell["id"] != "new"]
    assert await undone(desk) == {}
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("new", "not_found")]
    assert await desk.kinds() == {"one": ("edited",)}
