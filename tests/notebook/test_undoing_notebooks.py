"""Notebooks that a run made, runs that go on, names that change."""

import asyncio
import json
from collections.abc import Collection

import pytest

from onyx_jupyter.errors import InvalidRequest, NotebookError, NotFound
from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import DeleteCell, EditCell, InsertCell, NotebookView
from tests.notebook.desk import RUN, SESSION, A, B, Desk, undone
from tests.notebook.shelf import code


async def test_notebook_created_by_run_is_removed_and_restored(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("", "made")], "python3")
    await desk.change(InsertCell(code("more", "m"), "end"), path="new.ipynb")
    await desk.run("more", path="new.ipynb")
    made = json.loads(json.dumps(desk.shelf.notebooks["new.ipynb"]))
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, outcome.left) == (["new.ipynb"], [])
    assert "new.ipynb" not in desk.shelf.notebooks
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert (outcome.made, outcome.left) == (["new.ipynb"], [])
    assert desk.shelf.notebooks["new.ipynb"] == made


async def test_created_notebook_with_user_work_stays(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("first", "made")])
    desk.shelf.notebooks["new.ipynb"].append(code("mine", "precious"))
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == []
    assert [cell["source"] for cell in desk.shelf.notebooks["new.ipynb"]] == ["precious"]


async def test_typing_during_check_saves_created_notebook(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("first", "made"), code("second", "made")])
    cell, read = desk.shelf.cell("new.ipynb", "first"), desk.shelf.read

    async def type_after_reading(path: str, in_full: Collection[str] = ()) -> NotebookView:
        view = await read(path, in_full)
        cell["source"] = "mine"
        return view

    desk.shelf.read = type_after_reading  # type: ignore[method-assign]
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, [left.cell_id for left in outcome.left]) == ([], ["first"])
    assert [cell["source"] for cell in desk.shelf.notebooks["new.ipynb"]] == ["mine"]


async def test_removal_lists_its_cells_so_a_tab_with_others_stays_open(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("first", "made")])
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == ["new.ipynb"]
    assert outcome.removed_cells == {"new.ipynb": {"first": cell_hash("made")}}


async def test_notebook_that_could_not_be_created_is_never_removed(desk: Desk) -> None:
    with pytest.raises(NotebookError):
        await desk.hand().create(A, [code("", "made")])
    with pytest.raises(NotFound):
        await desk.review.undo(SESSION, RUN, "ada")
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_nothing_is_undone_while_run_is_active(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    desk.busy.add(RUN)
    with pytest.raises(InvalidRequest):
        await desk.review.undo(SESSION, RUN, "ada")
    with pytest.raises(InvalidRequest):
        await desk.review.reject(A, None, "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 10"
    assert await desk.review.accept(A, None, "ada") == 1


async def test_missing_notebook_does_not_block_others(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("b1", "b"), path=B)
    del desk.shelf.notebooks[A]
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert [(left.path, left.cell_id, left.reason) for left in outcome.left] == [(A, None, "not_found")]
    assert desk.shelf.cell(B, "b1")["source"] == ""


async def test_changes_follow_renamed_notebook_and_folder(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    desk.shelf.notebooks["f/c.ipynb"] = desk.shelf.notebooks.pop(A)
    await desk.store.renamed(A, "f/c.ipynb", "id1")
    desk.shelf.notebooks["g/c.ipynb"] = desk.shelf.notebooks.pop("f/c.ipynb")
    await desk.store.renamed("f", "g", "id2")
    desk.restart()
    assert await desk.kinds("g/c.ipynb") == {"one": ("edited",)}
    assert await desk.kinds(A) == {}
    assert await undone(desk) == {}
    assert desk.shelf.cell("g/c.ipynb", "one")["source"] == "x = 1"


async def test_notebook_renamed_during_change_has_one_record(desk: Desk) -> None:
    """The name was looked up before the rename, and what was begun is on disk only after it."""

    def rename() -> None:
        desk.shelf.notebooks["c.ipynb"] = desk.shelf.notebooks[A]
        desk.moves[A] = "c.ipynb"
        lines = desk.file.read_text("utf-8")
        renamed = {"schema_version": 1, "kind": "renamed", "path": "c.ipynb", "id": "id1", "fromPath": A}
        desk.file.write_text(f"{json.dumps(renamed)}\n{lines}")

    desk.shelf.before_apply = rename
    await desk.change(EditCell("one", "x = 10"))
    assert await desk.kinds(A) == {}
    assert await desk.kinds("c.ipynb") == {"one": ("edited",)}


async def test_one_of_two_concurrent_undos_wins_and_can_be_reverted(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"))
    as_left = json.loads(json.dumps(desk.shelf.notebooks))
    outcomes = await asyncio.gather(*(desk.review.undo(SESSION, RUN, by) for by in ("ada", "bob")))
    assert [outcome.cells for outcome in outcomes] == [2, 0]
    assert [line.by for line in await desk.review.reverts(SESSION)] == ["ada"]
    await asyncio.gather(
        desk.review.put_back(SESSION, RUN, "ada"), desk.review.put_back(SESSION, RUN, "bob"), return_exceptions=True
    )
    assert desk.shelf.notebooks == as_left
    assert [line.what for line in await desk.review.reverts(SESSION)] == ["undo", "put_back"]


async def test_notebook_that_could_not_be_removed_is_not_reported_as_undone(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("made", "made")])

    async def refuse(path: str) -> None:
        raise NotebookError("open_elsewhere", f"{path} is open elsewhere.")

    desk.shelf.remove = refuse  # type: ignore[method-assign]
    desk.restart()
    assert await undone(desk) == {None: "open_elsewhere"}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.standing, turn.revert_id) == (1, None)


async def test_rejection_waits_for_undo_of_same_session(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"))
    undoing, rejecting = await asyncio.gather(desk.review.undo(SESSION, RUN, "ada"), desk.review.reject(A, None, "bob"))
    assert (undoing.cells, rejecting.cells) == (2, 0)
    assert [line.what for line in await desk.review.reverts(SESSION)] == ["undo"]


async def test_two_runs_in_one_notebook_are_undone_separately(desk: Desk) -> None:
    await asyncio.gather(
        desk.change(EditCell("one", "x = 10"), run="r1"),
        desk.change(EditCell("two", "y = 20"), run="r2", session="s2"),
    )
    await desk.change(EditCell("three", "z = 30"), run="r1")
    await desk.change(EditCell("three", "z = 300"), run="r2", session="s2")
    assert await undone(desk) == {"three": "changed_later"}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 1", "y = 20", "z = 300"]
