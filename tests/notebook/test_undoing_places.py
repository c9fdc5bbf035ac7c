"""Places of cells after several turns, of which some are taken back and others not yet."""

import pytest

from onyx_jupyter.protocols import After, CellChange, DeleteCell, EditCell, InsertCell, MoveCell
from tests.notebook.desk import SESSION, A, Desk, undone
from tests.notebook.shelf import code

NAMES = ["c0", "c1", "c2", "c3", "c4"]


@pytest.fixture
def five(desk: Desk) -> Desk:
    desk.shelf.notebooks[A] = [code(name, name) for name in NAMES]
    return desk


async def two_turns(desk: Desk) -> None:
    """The first takes a cell away, and the second the one above it elsewhere."""
    await desk.change(DeleteCell("c3"), run="r1")
    await desk.change(MoveCell("c2", "start"), run="r2")


async def test_restored_cell_is_not_anchored_to_cell_moved_by_later_turn(five: Desk) -> None:
    await two_turns(five)
    assert (await five.review.reject(A, ["c3"], "ada")).left == []
    assert five.shelf.order(A) == ["c2", "c0", "c1", "c3", "c4"]
    assert (await five.review.reject(A, ["c2"], "ada")).left == []
    assert five.shelf.order(A) == NAMES


async def test_undoing_older_turn_first_restores_original_order(five: Desk) -> None:
    await two_turns(five)
    assert await undone(five, "r1") == {}
    assert await undone(five, "r2") == {}
    assert five.shelf.order(A) == NAMES


async def test_undoing_last_turn_restores_state_of_previous_one(five: Desk) -> None:
    """Its marks still wait: cells that it moved are where they are to stay."""
    await five.change(MoveCell("c0", "end"), run="r1")
    as_left = five.shelf.order(A)
    await five.change(DeleteCell("c4"), DeleteCell("c1"), run="r2")
    assert await undone(five, "r2") == {}
    assert five.shelf.order(A) == as_left


@pytest.mark.parametrize("which", [None, ["c2"]])
async def test_cell_moved_twice_without_mark_returns_with_neighbour(five: Desk, which: list[str] | None) -> None:
    for name in ("c3", "c2", "c3"):
        await five.change(MoveCell(name, "end"))
    await five.change(EditCell("c0", "edited"))
    assert await five.kinds() == {"c2": ("moved",), "c0": ("edited",)}
    await five.review.reject(A, ["c0"], "ada")
    assert five.shelf.order(A) == ["c0", "c1", "c4", "c2", "c3"]
    outcome = await five.review.reject(A, which, "ada")
    assert (outcome.cells, outcome.left) == (1, [])
    assert five.shelf.order(A) == NAMES
    (turn,) = await five.review.turns(SESSION)
    assert turn.pending == 0


@pytest.mark.parametrize(
    ("change", "other"),
    [
        (InsertCell(code("new", "n"), "start"), "new"),
        (DeleteCell("c0"), "c0"),
        (MoveCell("c0", After("c1")), "c0"),
    ],
)
async def test_cell_without_mark_stays_with_neighbour_until_decided(five: Desk, change: CellChange, other: str) -> None:
    for name in ("c3", "c2", "c3"):
        await five.change(MoveCell(name, "end"))
    await five.change(change)
    await five.review.reject(A, [other], "ada")
    assert five.shelf.order(A) == ["c0", "c1", "c4", "c2", "c3"]
    assert await five.kinds() == {"c2": ("moved",)}
    await five.review.reject(A, ["c2"], "ada")
    assert five.shelf.order(A) == NAMES
