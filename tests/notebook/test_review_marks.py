"""What the changes of turns amount to, cell by cell."""

import json
from typing import Any

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import After, DeleteCell, EditCell, InsertCell, MoveCell
from tests.notebook.desk import SESSION, A, Desk, undone
from tests.notebook.shelf import code


async def test_marks_show_net_effect_of_turn(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 100"))
    await desk.change(InsertCell(code("new", "n"), After("one")))
    await desk.change(MoveCell("three", "start"))
    await desk.change(DeleteCell("two"))
    await desk.run("new")
    assert await desk.kinds() == {"one": ("edited",), "new": ("added",), "three": ("moved",), "two": ("deleted",)}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.cells, turn.ran, turn.pending, turn.paths) == (4, 0, 4, ((A, 4),))


async def test_change_and_its_reversal_leave_no_mark(desk: Desk) -> None:
    await desk.change(InsertCell(code("new"), "end"), DeleteCell("new"))
    await desk.change(MoveCell("three", "start"))
    await desk.change(MoveCell("three", After("two")))
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 1"))
    assert await desk.kinds() == {}


async def test_cell_that_only_ran_has_no_mark_and_outputs_are_restored(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "one")
    before = dict(desk.shelf.cell(A, "one"))
    await desk.run("one")
    assert await desk.kinds() == {}
    assert (await desk.review.turns(SESSION))[0].ran == 1
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "one") == before


async def test_changing_some_cells_reads_only_those(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    shown = desk.shelf.cell(A, "two")["outputs"]
    await desk.change(EditCell("one", "x = 10"), MoveCell("three", "start"), DeleteCell("two"))
    await desk.run("one")
    await desk.run("one")
    assert desk.shelf.whole_reads == 0
    changed = desk.lines()[1]["effects"]
    assert [effect["cellId"] for effect in changed] == ["one", "three", "two"]
    assert [effect.get("above") for effect in changed] == [None, ["two", "one"], ["one", "three"]]
    assert changed[2]["before"]["outputs"] == shown


async def test_edit_of_seen_text_reads_nothing_and_logs_it_exactly(desk: Desk) -> None:
    hand, seen = desk.hand(), list[dict[str, Any]]()
    await hand.read_cells(A, ["one"])
    desk.shelf.before_apply = lambda: seen.extend(desk.lines())
    await hand.apply(A, [EditCell("one", "x = 10", cell_hash("x = 1"))])
    assert desk.shelf.reads == 1
    assert seen[0]["effects"][0]["before"] == {"cell_type": "code", "source": "x = 1", "metadata": {}}
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"


async def test_edit_of_unseen_text_reads_cell_first(desk: Desk) -> None:
    for base_hash in (None, cell_hash("mine")):
        hand = desk.hand()
        desk.shelf.cell(A, "one")["source"] = "x = 1"
        await hand.read_cells(A, ["one"])
        desk.shelf.cell(A, "one")["source"] = "mine"
        await hand.apply(A, [EditCell("one", "x = 10", base_hash)])
        assert desk.lines()[-2]["effects"][0]["before"]["source"] == "mine"
    await hand.apply(A, [EditCell("one", "x = 20", cell_hash("x = 10"))])  # what it saw before its own edit
    assert desk.lines()[-2]["effects"][0]["before"]["source"] == "x = 10"


async def test_outputs_are_read_before_each_run(desk: Desk) -> None:
    hand = desk.hand()
    await hand.read_cells(A, ["one"])
    for _ in range(2):
        await hand.run_cell(A, "one", lambda line: None)
    first, again = [line for line in desk.lines() if line["kind"] == "begun"]
    assert first["effects"][0]["before"]["outputs"] == []
    assert again["effects"][0]["before"]["outputs"] == desk.shelf.cell(A, "one")["outputs"]


async def test_cells_run_in_one_call_are_read_together_and_all_restored(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "one")
    before = json.loads(json.dumps(desk.shelf.notebooks[A]))
    hand = desk.hand()
    await hand.read(A)
    for name in ("two", "three"):
        await hand.run_cell(A, name, lambda line: None)
    assert desk.shelf.reads == 1
    await hand.run_cell(A, "one", lambda line: None)
    assert desk.lines()[-2]["effects"][0]["before"]["outputs"] == before[0]["outputs"]  # on disk before it ran
    assert await undone(desk) == {}
    assert desk.shelf.notebooks[A] == before


async def test_consecutive_turns_form_one_mark(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 100"), run="r2", session="s2")
    (mark,) = await desk.review.marks(A)
    assert (mark.before or {})["source"] == "x = 1"
    assert mark.runs == (("s1", "r1"), ("s2", "r2"))
    await desk.review.reject(A, ["one"], "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}
    assert [turn.pending for turn in await desk.review.turns("s2")] == [0]


async def test_user_edit_between_turns_separates_marks(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    desk.shelf.cell(A, "one")["source"] = "x = 10  # mine"
    await desk.change(EditCell("one", "x = 100  # mine"), run="r2")
    (mark,) = await desk.review.marks(A)
    assert (mark.before or {})["source"] == "x = 10  # mine"
    assert await undone(desk, "r1") == {"one": "changed_later"}
    await desk.review.reject(A, None, "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 10  # mine"


async def test_change_after_keep_has_its_own_mark(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("new", "n"), "end"))
    assert await desk.review.accept(A, None, "ada") == 2
    await desk.change(EditCell("one", "x = 100"))
    await desk.change(EditCell("new", "m"))
    assert await desk.kinds() == {"one": ("edited",), "new": ("edited",)}
    assert [(mark.before or {})["source"] for mark in await desk.review.marks(A)] == ["x = 10", "n"]
    assert [turn.pending for turn in await desk.review.turns(SESSION)] == [2]
    await desk.review.reject(A, ["new"], "ada")
    assert desk.shelf.cell(A, "new")["source"] == "n"
    assert await desk.review.accept(A, None, "ada") == 1
    assert await desk.kinds() == {}
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"


async def test_keeping_a_cell_reveals_no_older_mark(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"))
    desk.shelf.cell(A, "one")["source"] = "x = 10  # mine"
    await desk.change(EditCell("one", "x = 100  # mine"), run="r2", session="s2")
    assert await desk.review.accept(A, ["one"], "ada") == 1
    assert await desk.kinds() == {"two": ("edited",)}
    desk.restart()
    assert await desk.kinds() == {"two": ("edited",)}


async def test_changes_user_has_not_seen_are_neither_kept_nor_reverted(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"), DeleteCell("three"))
    shown = {"one": cell_hash("x = 10"), "two": cell_hash("y = 20"), "three": ""}
    await desk.change(EditCell("two", "y = 200"), InsertCell(code("new", "n"), "end"))
    assert await desk.review.accept(A, ["two"], "ada", shown) == 0
    assert await desk.review.accept(A, None, "ada", shown) == 2
    assert await desk.kinds() == {"two": ("edited",), "new": ("added",)}
    assert (await desk.review.reject(A, None, "ada", shown)).cells == 0
    assert desk.shelf.cell(A, "two")["source"] == "y = 200"
    assert await desk.review.accept(A, None, "ada", {"two": cell_hash("y = 200")}) == 1
    assert await desk.kinds() == {"new": ("added",)}
    assert await desk.review.accept(A, None, "ada") == 1  # a page that says nothing of what it showed


async def test_change_during_decision_needs_another_decision(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    of_notebook = desk.store.of_notebook

    async def be_changed(path: str) -> Any:
        found = await of_notebook(path)
        desk.store.of_notebook = of_notebook  # type: ignore[method-assign]
        await desk.change(EditCell("one", "x = 100"))
        return found

    desk.store.of_notebook = be_changed  # type: ignore[method-assign]
    assert await desk.review.accept(A, None, "ada") == 1
    (mark,) = await desk.review.marks(A)
    assert ((mark.before or {})["source"], (mark.after or {})["source"]) == ("x = 10", "x = 100")
