"""What a person ran in cells and notebooks that a turn put there is theirs: an undo leaves it."""

import json
from typing import Any

import pytest

from onyx_jupyter.protocols import DeleteCell, EditCell, InsertCell, NotebookView
from tests.notebook.desk import RUN, SESSION, A, Desk, undone
from tests.notebook.shelf import code

NEW = "new.ipynb"


async def made(desk: Desk) -> None:
    await desk.hand().create(NEW, [code("m1", "train()"), code("m2", "plot()")])


async def test_created_notebook_keeps_cell_run_by_user(desk: Desk) -> None:
    await made(desk)
    desk.shelf.run_by_hand(NEW, "m1")
    ran = dict(desk.shelf.cell(NEW, "m1"))
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, [(left.cell_id, left.reason) for left in outcome.left]) == ([], [("m1", "ran")])
    assert desk.shelf.notebooks[NEW] == [ran]
    assert await desk.kinds(NEW) == {"m1": ("added",)}


async def test_created_notebook_run_by_turn_is_removed_unless_user_ran_it_again(desk: Desk) -> None:
    await made(desk)
    await desk.run("m1", path=NEW)
    as_left = json.dumps(desk.shelf.notebooks, sort_keys=True)
    assert (await desk.review.undo(SESSION, RUN, "ada")).removed == [NEW]
    await desk.review.put_back(SESSION, RUN, "ada")
    assert json.dumps(desk.shelf.notebooks, sort_keys=True) == as_left
    desk.shelf.run_by_hand(NEW, "m1")  # shows the same, with another count
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, [left.reason for left in outcome.left]) == ([], ["ran"])


async def test_created_notebook_with_busy_kernel_stays(desk: Desk) -> None:
    """Nothing is shown yet; what is being computed would go with the kernel."""
    await made(desk)
    read = desk.shelf.read

    async def busy(path: str, *more: Any) -> NotebookView:
        view = await read(path, *more)
        return NotebookView(view.path, view.cells, view.backend, view.kernel_name, "busy")

    desk.shelf.read = busy  # type: ignore[method-assign]
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == []
    assert NEW in desk.shelf.notebooks


async def test_added_cell_run_by_user_is_kept_by_undo_and_revert_all(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"), EditCell("one", "x = 10"))
    desk.shelf.run_by_hand(A, "new")
    assert [(left.cell_id, left.reason) for left in (await desk.review.reject(A, None, "ada")).left] == [("new", "ran")]
    assert await undone(desk) == {"new": "ran"}
    assert desk.shelf.order(A) == ["one", "two", "three", "new"]
    assert desk.shelf.cell(A, "new")["outputs"][0]["text"] == "N"


def put_out_more(desk: Desk, path: str, cell_id: str, how: str) -> None:
    """As a thread of the cell's own does after its end: on in the last stream, or as another output."""
    outputs = desk.shelf.cell(path, cell_id)["outputs"]
    if how == "stream":
        outputs[-1]["text"] += "\nlate"
    else:
        outputs.append({"output_type": "display_data", "data": {"text/plain": "late"}, "metadata": {}})


@pytest.mark.parametrize("how", ["stream", "output"])
async def test_late_output_of_added_cell_belongs_to_its_run(desk: Desk, how: str) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"))
    await made(desk)
    await desk.run("new")
    await desk.run("m1", path=NEW)
    put_out_more(desk, A, "new", how)
    put_out_more(desk, NEW, "m1", how)
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]
    assert NEW not in desk.shelf.notebooks


@pytest.mark.parametrize(
    ("outputs", "count"),
    [
        ([{"output_type": "stream", "name": "stdout", "text": "N\nmine"}], 2),
        ([{"output_type": "stream", "name": "stdout", "text": "mine\nN"}], 1),
        ([{"output_type": "execute_result", "data": {"text/plain": "N mine"}, "metadata": {}}], 1),
        ([], 1),
    ],
)
async def test_outputs_not_continuing_the_runs_own_are_the_users(
    desk: Desk, outputs: list[dict[str, Any]], count: int
) -> None:
    """Also with the same count, as after a restart of the kernel."""
    await desk.change(InsertCell(code("new", "n"), "end"))
    await desk.run("new")
    desk.shelf.cell(A, "new").update(outputs=outputs, execution_count=count)
    assert await undone(desk) == {"new": "ran"}
    assert desk.shelf.cell(A, "new")["outputs"] == outputs


@pytest.mark.parametrize("result", [[], [{"output_type": "execute_result", "data": {"text/plain": "1"}}]])
async def test_run_without_output_or_with_result_gets_no_other_result_later(
    desk: Desk, result: list[dict[str, Any]]
) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"))

    async def show() -> None:
        desk.shelf.cell(A, "new")["outputs"] = result

    desk.shelf.in_run = show
    await desk.run("new")
    mine = [{"output_type": "execute_result", "data": {"text/plain": "10"}}]
    desk.shelf.cell(A, "new")["outputs"] = mine
    assert await undone(desk) == {"new": "ran"}
    assert desk.shelf.cell(A, "new")["outputs"] == mine


def clear(desk: Desk, path: str, cell_id: str) -> None:
    """As *Clear Outputs* does."""
    desk.shelf.cell(path, cell_id).update(outputs=[], execution_count=None)


async def test_added_cell_whose_outputs_user_cleared_is_removed(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"))
    await desk.run("new")
    clear(desk, A, "new")
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_created_notebook_whose_outputs_user_cleared_is_removed(desk: Desk) -> None:
    await made(desk)
    await desk.run("m1", path=NEW)
    clear(desk, NEW, "m1")
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, outcome.left) == ([NEW], [])
    assert NEW not in desk.shelf.notebooks


@pytest.mark.parametrize("is_edited", [True, False])
async def test_existing_cell_cleared_by_user_stays_clear(desk: Desk, is_edited: bool) -> None:
    """Nobody ran it, so nobody is said to have; outputs that were cleared do not come up again."""
    desk.shelf.run_by_hand(A, "two")
    if is_edited:
        await desk.change(EditCell("two", "y = 20"))
    await desk.run("two")
    clear(desk, A, "two")
    assert await undone(desk) == {}
    two = desk.shelf.cell(A, "two")
    assert (two["source"], two["outputs"], two["execution_count"]) == ("y = 2", [], None)


async def test_cell_being_run_by_user_is_reported_as_run(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    await desk.run("two")
    clear(desk, A, "two")  # as each run begins
    desk.shelf.running = {"two"}
    assert await undone(desk) == {"two": "ran"}


async def test_added_cell_run_by_user_is_removed_if_reverted_individually(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"))
    desk.shelf.run_by_hand(A, "new")
    assert (await desk.review.reject(A, ["new"], "ada")).left == []
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_added_cell_run_only_by_later_turn_is_reported_as_changed_by_it(desk: Desk) -> None:
    await desk.change(InsertCell(code("new", "n"), "end"))
    await desk.run("new", run="r2")
    assert await undone(desk) == {"new": "changed_later"}
    assert await undone(desk, "r2") == {}
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_restored_cell_with_outputs_can_be_removed_again_unless_it_ran(desk: Desk) -> None:
    """Outputs too large for the answer to carry, too."""
    desk.shelf.run_by_hand(A, "two")
    desk.shelf.carried_chars = 10
    await desk.change(DeleteCell("two"))
    await undone(desk)
    assert (await desk.review.put_back(SESSION, RUN, "ada")).left == []
    await undone(desk)
    desk.shelf.run_by_hand(A, "two")
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("two", "ran")]
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_records_without_digests_can_be_undone(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    await desk.change(DeleteCell("two"))
    await undone(desk)
    lines = desk.lines()
    for effect in (effect for line in lines for effect in line.get("effects", ())):
        for name in ("digest", "execution_count"):
            effect.get("after", {}).pop(name, None)
    desk.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    desk.restart()
    assert (await desk.review.put_back(SESSION, RUN, "ada")).left == []
    assert desk.shelf.order(A) == ["one", "three"]
