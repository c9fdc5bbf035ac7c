"""What turns did to notebooks: written down, derived, taken back, put back, over restarts."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidRequest, NotebookError, NotFound, StorageError
from onyx_jupyter.notebook.cells import cell_hash, cell_views
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.recorded_notebooks import RecordedNotebooks
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder, KeepLimits
from onyx_jupyter.notebook.review.reverting import plan
from onyx_jupyter.notebook.review.reviewed_cells import run_changes
from onyx_jupyter.notebook.review.reviewing import Reviewing
from onyx_jupyter.protocols import After, CellChange, DeleteCell, EditCell, InsertCell, MoveCell, NotebookView, Place
from onyx_jupyter.testing.fake_clock import FakeClock, fake_ids
from tests.notebook.shelf import Shelf, code

A, B = "a.ipynb", "b.ipynb"
SESSION, RUN = "s1", "r1"


class Killed(BaseException):
    """As `kill -9`: nothing that follows is done."""


@dataclass
class Desk:
    """One home with notebooks on a shelf; `restart` forgets all but the files."""

    folder: Path
    shelf: Shelf
    limits: KeepLimits = field(default_factory=KeepLimits)
    busy: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)
    clock: FakeClock = field(default_factory=FakeClock)
    moves: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ids = fake_ids()
        self.restart()

    def stop_after(self, steps: int) -> None:
        """The server is killed once it has written so often, into its own files or to notebooks."""
        left = iter(range(steps))

        def dying(write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            async def write_or_die(*args: Any) -> Any:
                if next(left, None) is None:
                    raise Killed
                return await write(*args)

            return write_or_die

        self.store.append = dying(self.store.append)  # type: ignore[method-assign]
        for name in ("apply", "create"):
            setattr(self.shelf, name, dying(getattr(Shelf, name).__get__(self.shelf)))
        self.review = Reviewing(
            self.store, self.recorder, str, dying(self.shelf.remove), self.busy.__contains__, self.clock, self.ids
        )

    def restart(self) -> None:
        for name in ("apply", "create"):
            vars(self.shelf).pop(name, None)
        self.store = ChangeStore(self.folder / "changes")
        self.recorder = ChangeRecorder(
            self.shelf,
            self.store,
            str,
            self.clock,
            self.ids,
            lambda: self.limits,
            lambda path, by: self.told.append(path),
            self._path_now,
        )
        self.review = Reviewing(
            self.store, self.recorder, str, self.shelf.remove, self.busy.__contains__, self.clock, self.ids
        )

    def hand(self, run: str = RUN, session: str = SESSION) -> RecordedNotebooks:
        """The notebooks as a run's tools have them."""
        return self.recorder.notebooks_for(Author("main", session, run))

    async def change(self, *changes: CellChange, path: str = A, run: str = RUN, session: str = SESSION) -> None:
        await self.hand(run, session).apply(path, changes)

    async def run(self, cell_id: str, run: str = RUN) -> None:
        await self.hand(run).run_cell(A, cell_id, lambda line: None)

    async def kinds(self, path: str = A) -> dict[str, tuple[str, ...]]:
        """Cell → what its mark says."""
        return {mark.cell_id: mark.kinds for mark in await self.review.marks(path)}

    async def _path_now(self, path: str) -> str:
        return self.moves.get(path, path)

    @property
    def file(self) -> Path:
        return self.folder / "changes" / "main" / f"{SESSION}.jsonl"

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.file.read_text("utf-8").splitlines()]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, Shelf(a=[code("one", "x = 1"), code("two", "y = 2"), code("three", "z = 3")], b=[code("b1")]))


async def undone(desk: Desk, run: str = RUN) -> dict[str | None, str]:
    """Undoes the run; cell → why it was left alone."""
    return {left.cell_id: left.reason for left in (await desk.review.undo(SESSION, run, "ada")).left}


# ── what is written down ────────────────────────────────────────────────────────────────────────────


async def test_a_change_is_on_disk_with_what_was_there_before_the_notebook_is_touched(desk: Desk) -> None:
    seen: list[dict[str, Any]] = []
    desk.shelf.before_apply = lambda: seen.extend(desk.lines())
    await desk.change(EditCell("two", "y = 20"))
    assert [line["kind"] for line in seen] == ["begun"]
    assert seen[0]["effects"][0]["before"]["source"] == "y = 2"
    assert [line["kind"] for line in desk.lines()] == ["begun", "done"]
    assert desk.told == [A]
    assert desk.file.stat().st_mode & 0o777 == 0o600
    assert all(line["schema_version"] == 1 for line in desk.lines())


async def test_what_cannot_be_written_down_is_not_done(desk: Desk) -> None:
    (desk.folder / "changes").write_text("a file where the folder should be")
    with pytest.raises(StorageError):
        await desk.change(EditCell("two", "y = 20"))
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"


async def test_a_refused_change_leaves_no_mark(desk: Desk) -> None:
    with pytest.raises(NotebookError):
        await desk.change(EditCell("two", "y = 20", base_hash="of something else"))
    assert await desk.kinds() == {}
    assert await desk.review.turns(SESSION) == []


async def test_a_change_whose_answer_was_lost_can_be_undone_after_a_restart(desk: Desk) -> None:
    desk.shelf.lose_answer = True
    with pytest.raises(NotebookError):
        await desk.change(EditCell("two", "y = 20"), InsertCell(code("", "new"), After("two")), DeleteCell("one"))
    desk.restart()
    before = [dict(cell) for cell in desk.shelf.notebooks[A]]
    assert [cell["source"] for cell in before] == ["y = 20", "new", "z = 3"]
    assert await undone(desk) == {}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 1", "y = 2", "z = 3"]


async def test_a_run_that_asked_for_input_is_undone_as_any_other(desk: Desk) -> None:
    desk.shelf.note = "The code asked for input."
    await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun", "done"]
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two")["outputs"] == []


async def test_a_run_whose_outputs_reached_no_notebook_leaves_no_mark(desk: Desk) -> None:
    desk.shelf.shows_runs = False
    await desk.run("two")
    assert [line["kind"] for line in desk.lines()] == ["begun", "not_done"]
    assert await desk.review.turns(SESSION) == []


async def test_a_change_that_was_begun_and_never_made_is_nothing_to_undo(desk: Desk) -> None:
    await desk.change(EditCell("two", "y = 20"), DeleteCell("three"))
    begun = desk.file.read_text("utf-8").splitlines()[0]
    desk.file.write_text(begun + "\n")
    desk.shelf.notebooks[A] = [code("one", "x = 1"), code("two", "y = 2"), code("three", "z = 3")]
    desk.restart()
    before = json.dumps(desk.shelf.notebooks)
    assert await undone(desk) == {}
    assert json.dumps(desk.shelf.notebooks) == before


async def test_outputs_too_large_to_keep_are_named_and_the_text_comes_back(desk: Desk) -> None:
    desk.limits = KeepLimits(output_chars=50)
    desk.shelf.cell(A, "two")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "long " * 100}]
    await desk.change(EditCell("two", "y = 20"))
    await desk.run("two")
    assert await undone(desk) == {"two": "outputs_not_kept"}
    assert desk.shelf.cell(A, "two")["source"] == "y = 2"
    assert "long long" not in desk.lines()[-1].get("effects", "")


async def test_a_run_that_is_stopped_loses_no_picture_of_before(desk: Desk) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "A" * 300_000}, "metadata": {}}
    desk.shelf.cell(A, "two").update(outputs=[picture], execution_count=7)
    before = dict(desk.shelf.cell(A, "two"))
    desk.shelf.stop_runs = True
    with pytest.raises(asyncio.CancelledError):
        await desk.run("two")
    assert desk.shelf.cell(A, "two")["outputs"] == []
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two") == before


async def test_a_run_whose_answer_has_no_room_for_what_was_there_loses_nothing(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "two")
    before = dict(desk.shelf.cell(A, "two"))
    desk.shelf.carried_chars = 10
    await desk.run("two")
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "two") == before


async def test_what_could_only_be_read_in_part_is_never_put_back_as_if_it_were_whole(desk: Desk) -> None:
    text = {"output_type": "stream", "name": "stdout", "text": "long " * 100_000}
    desk.shelf.cell(A, "two").update(outputs=[text], execution_count=7)
    cut = cell_views([desk.shelf.cell(A, "two")], ["two"])[0]
    assert cut.outputs_shortened
    assert len(cut.outputs[0]["text"]) < len(text["text"])
    desk.shelf.shortened = {"two"}
    desk.shelf.stop_runs = True
    with pytest.raises(asyncio.CancelledError):
        await desk.run("two")
    assert await undone(desk) == {"two": "outputs_not_kept"}


async def test_deleted_cells_come_back_with_outputs_that_the_answer_had_no_room_for(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.shelf.run_by_hand(A, name)
    before = json.loads(json.dumps(desk.shelf.notebooks[A]))
    desk.shelf.carried_chars = 80  # room for one of them
    await desk.change(DeleteCell("one"), DeleteCell("two"))
    assert await undone(desk) == {}
    assert desk.shelf.notebooks[A] == before


async def test_a_deleted_cell_that_comes_back_without_its_outputs_is_named(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "one")
    desk.limits = KeepLimits(output_chars=10)
    await desk.change(DeleteCell("one"))
    assert await undone(desk) == {"one": "outputs_not_kept"}
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}


async def test_a_removed_notebook_names_the_cells_that_come_back_without_outputs(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("made", "made")])
    desk.shelf.run_by_hand("new.ipynb", "made")
    desk.shelf.shortened = {"made"}
    assert await undone(desk) == {}
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("made", "outputs_not_kept")]
    assert "outputs" not in desk.shelf.cell("new.ipynb", "made")
    assert await desk.kinds("new.ipynb") == {"made": ("added",)}


# ── what it amounts to ──────────────────────────────────────────────────────────────────────────────


async def test_marks_say_what_a_turn_amounts_to(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 100"))
    await desk.change(InsertCell(code("new", "n"), After("one")))
    await desk.change(MoveCell("three", "start"))
    await desk.change(DeleteCell("two"))
    await desk.run("new")
    assert await desk.kinds() == {"one": ("edited",), "new": ("added",), "three": ("moved",), "two": ("deleted",)}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.cells, turn.ran, turn.pending, turn.paths) == (4, 0, 4, ((A, 4),))


async def test_there_and_back_is_nothing(desk: Desk) -> None:
    await desk.change(InsertCell(code("new"), "end"), DeleteCell("new"))
    await desk.change(MoveCell("three", "start"))
    await desk.change(MoveCell("three", After("two")))
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 1"))
    assert await desk.kinds() == {}


async def test_what_only_ran_has_no_mark_and_its_outputs_come_back(desk: Desk) -> None:
    desk.shelf.run_by_hand(A, "one")
    before = dict(desk.shelf.cell(A, "one"))
    await desk.run("one")
    assert await desk.kinds() == {}
    assert (await desk.review.turns(SESSION))[0].ran == 1
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "one") == before


async def test_a_change_of_some_cells_reads_them_alone(desk: Desk) -> None:
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


async def test_an_edit_of_what_was_seen_reads_nothing_and_is_written_down_as_exactly(desk: Desk) -> None:
    hand, seen = desk.hand(), list[dict[str, Any]]()
    await hand.read_cells(A, ["one"])
    desk.shelf.before_apply = lambda: seen.extend(desk.lines())
    await hand.apply(A, [EditCell("one", "x = 10", cell_hash("x = 1"))])
    assert desk.shelf.reads == 1
    assert seen[0]["effects"][0]["before"] == {"cell_type": "code", "source": "x = 1", "metadata": {}}
    assert await undone(desk) == {}
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"


async def test_an_edit_of_something_else_than_what_was_seen_is_looked_at_before_it_is_made(desk: Desk) -> None:
    for base_hash in (None, cell_hash("mine")):
        hand = desk.hand()
        desk.shelf.cell(A, "one")["source"] = "x = 1"
        await hand.read_cells(A, ["one"])
        desk.shelf.cell(A, "one")["source"] = "mine"
        await hand.apply(A, [EditCell("one", "x = 10", base_hash)])
        assert desk.lines()[-2]["effects"][0]["before"]["source"] == "mine"
    await hand.apply(A, [EditCell("one", "x = 20", cell_hash("x = 10"))])  # what it saw before its own edit
    assert desk.lines()[-2]["effects"][0]["before"]["source"] == "x = 10"


async def test_what_a_cell_shows_is_looked_at_before_each_of_its_runs(desk: Desk) -> None:
    hand = desk.hand()
    await hand.read_cells(A, ["one"])
    for _ in range(2):
        await hand.run_cell(A, "one", lambda line: None)
    first, again = [line for line in desk.lines() if line["kind"] == "begun"]
    assert first["effects"][0]["before"]["outputs"] == []
    assert again["effects"][0]["before"]["outputs"] == desk.shelf.cell(A, "one")["outputs"]


async def test_cells_that_run_in_one_call_are_not_read_one_by_one_and_all_come_back(desk: Desk) -> None:
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


async def test_turns_that_build_on_one_another_are_one_mark(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("one", "x = 100"), run="r2", session="s2")
    (mark,) = await desk.review.marks(A)
    assert (mark.before or {})["source"] == "x = 1"
    assert mark.runs == (("s1", "r1"), ("s2", "r2"))
    await desk.review.reject(A, ["one"], "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}
    assert [turn.pending for turn in await desk.review.turns("s2")] == [0]


async def test_a_hand_between_two_turns_parts_their_marks(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    desk.shelf.cell(A, "one")["source"] = "x = 10  # mine"
    await desk.change(EditCell("one", "x = 100  # mine"), run="r2")
    (mark,) = await desk.review.marks(A)
    assert (mark.before or {})["source"] == "x = 10  # mine"
    assert await undone(desk, "r1") == {"one": "changed_later"}
    await desk.review.reject(A, None, "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 10  # mine"


async def test_what_a_turn_changes_after_a_keep_has_a_mark_of_its_own(desk: Desk) -> None:
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


async def test_keeping_a_cell_brings_up_no_older_mark(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"))
    desk.shelf.cell(A, "one")["source"] = "x = 10  # mine"
    await desk.change(EditCell("one", "x = 100  # mine"), run="r2", session="s2")
    assert await desk.review.accept(A, ["one"], "ada") == 1
    assert await desk.kinds() == {"two": ("edited",)}
    desk.restart()
    assert await desk.kinds() == {"two": ("edited",)}


# ── taking back ─────────────────────────────────────────────────────────────────────────────────────


async def test_undo_puts_a_notebook_back_in_one_step(desk: Desk) -> None:
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


async def test_a_hand_later_on_is_never_written_over(desk: Desk) -> None:
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


async def test_newer_outputs_with_the_same_count_are_never_written_over(desk: Desk) -> None:
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


async def test_a_hand_that_is_quicker_is_seen(desk: Desk) -> None:
    """The person types between the reading and the writing."""
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"))

    def type_once() -> None:
        desk.shelf.before_apply = lambda: None
        desk.shelf.cell(A, "one")["source"] = "x = 10, mine"

    desk.shelf.before_apply = type_once
    assert await undone(desk) == {"one": "changed"}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 10, mine", "y = 2", "z = 3"]


async def test_a_cell_that_the_person_moved_back_or_deleted_stays_so(desk: Desk) -> None:
    await desk.change(MoveCell("one", After("three")), EditCell("two", "y = 20"))
    cells = {cell["id"]: cell for cell in desk.shelf.notebooks[A]}
    desk.shelf.notebooks[A] = [cells["one"], cells["three"]]
    assert await undone(desk) == {"two": "deleted"}
    assert desk.shelf.order(A) == ["one", "three"]


@pytest.mark.parametrize("place", ["start", After("one")])
async def test_a_cell_that_was_moved_on_by_hand_stays_there(desk: Desk, place: Place) -> None:
    """Towards the end too, where the cell over it at first is still over it."""
    desk.shelf.notebooks[A] = [code(name) for name in ("one", "two", "three", "four", "five")]
    await desk.change(MoveCell("four", place))
    by_hand = ["one", "two", "four", "three", "five"]
    desk.shelf.notebooks[A] = [code(name) for name in by_hand]
    assert await undone(desk) == {"four": "moved"}
    assert desk.shelf.order(A) == by_hand


async def test_a_moved_cell_with_one_neighbour_left_goes_back(desk: Desk) -> None:
    await desk.change(MoveCell("three", After("one")))
    cells = {cell["id"]: cell for cell in desk.shelf.notebooks[A]}
    desk.shelf.notebooks[A] = [cells["one"], code("mine"), cells["three"], cells["two"]]
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "mine", "two", "three"]


async def test_a_moved_cell_whose_neighbours_the_turn_itself_took_away_goes_back(desk: Desk) -> None:
    await desk.change(InsertCell(code("n1", "n"), "start"))
    await desk.change(MoveCell("three", After("n1")))
    await desk.change(InsertCell(code("n2", "n"), After("three")))
    for name in ("n2", "n1", "three"):
        assert (await desk.review.reject(A, [name], "ada")).left == []
    assert desk.shelf.order(A) == ["one", "two", "three"]


@pytest.mark.parametrize("rejected", [["one", "two"], ["two", "one"]])
async def test_cells_moved_past_each_other_stand_as_before_once_both_are_rejected(
    desk: Desk, rejected: list[str]
) -> None:
    await desk.change(MoveCell("one", "end"))
    await desk.change(MoveCell("two", "end"))
    assert desk.shelf.order(A) == ["three", "one", "two"]
    for name in rejected:
        assert (await desk.review.reject(A, [name], "ada")).left == []
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_a_cell_that_was_moved_along_with_its_neighbour_is_no_place_to_go_back_to(desk: Desk) -> None:
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


async def test_moves_written_down_without_neighbours_are_still_undone(desk: Desk) -> None:
    await desk.change(MoveCell("one", "end"))
    lines = desk.lines()
    for line in lines:
        for effect in line["effects"]:
            del effect["nowAbove"], effect["nowBelow"]
    desk.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_a_deleted_cell_finds_its_place_when_its_neighbour_has_gone(desk: Desk) -> None:
    await desk.change(DeleteCell("three"))
    desk.shelf.notebooks[A] = [cell for cell in desk.shelf.notebooks[A] if cell["id"] != "two"]
    desk.shelf.notebooks[A].append(code("mine"))
    assert await undone(desk) == {}
    assert desk.shelf.order(A) == ["one", "three", "mine"]


async def test_rejecting_one_leaves_the_others(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), EditCell("two", "y = 20"), InsertCell(code("new", "n"), "start"))
    outcome = await desk.review.reject(A, ["new"], "ada")
    assert (outcome.cells, outcome.left) == (1, [])
    assert desk.shelf.order(A) == ["one", "two", "three"]
    assert desk.shelf.cell(A, "one")["source"] == "x = 10"
    assert set(await desk.kinds()) == {"one", "two"}


async def test_undo_works_after_keep_and_after_a_restart(desk: Desk) -> None:
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"))
    assert await desk.review.accept(A, None, "ada") == 2
    assert await desk.kinds() == {}
    desk.restart()
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before


async def test_put_back_takes_the_undo_back_and_the_marks_return(desk: Desk) -> None:
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


async def test_all_cells_of_a_notebook_can_be_taken_back(desk: Desk) -> None:
    desk.shelf.notebooks[A] = [code("blank")]
    await desk.change(InsertCell(code("new", "n"), "end"), DeleteCell("blank"))
    await desk.review.reject(A, ["new"], "ada")
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == [""]  # a notebook has a cell to type in


# ── notebooks that a run made, runs that go on, names that change ───────────────────────────────────


async def test_a_notebook_that_the_run_made_goes_and_comes_back(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("", "made")], "python3")
    await desk.change(InsertCell(code("more", "m"), "end"), path="new.ipynb")
    desk.shelf.run_by_hand("new.ipynb", "more")
    made = json.loads(json.dumps(desk.shelf.notebooks["new.ipynb"]))
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert (outcome.removed, outcome.left) == (["new.ipynb"], [])
    assert "new.ipynb" not in desk.shelf.notebooks
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert (outcome.made, outcome.left) == (["new.ipynb"], [])
    assert desk.shelf.notebooks["new.ipynb"] == made


async def test_a_made_notebook_with_a_persons_work_in_it_stays(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("first", "made")])
    desk.shelf.notebooks["new.ipynb"].append(code("mine", "precious"))
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == []
    assert [cell["source"] for cell in desk.shelf.notebooks["new.ipynb"]] == ["precious"]


async def test_what_is_typed_while_a_made_notebook_is_looked_at_saves_it(desk: Desk) -> None:
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


async def test_a_removal_says_with_which_cells_so_that_a_tab_with_others_stays_open(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("first", "made")])
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert outcome.removed == ["new.ipynb"]
    assert outcome.removed_cells == {"new.ipynb": {"first": cell_hash("made")}}


async def test_a_notebook_that_could_not_be_made_is_never_taken_away(desk: Desk) -> None:
    with pytest.raises(NotebookError):
        await desk.hand().create(A, [code("", "made")])
    with pytest.raises(NotFound):
        await desk.review.undo(SESSION, RUN, "ada")
    assert desk.shelf.order(A) == ["one", "two", "three"]


async def test_nothing_is_taken_back_while_the_run_goes_on(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    desk.busy.add(RUN)
    with pytest.raises(InvalidRequest):
        await desk.review.undo(SESSION, RUN, "ada")
    with pytest.raises(InvalidRequest):
        await desk.review.reject(A, None, "ada")
    assert desk.shelf.cell(A, "one")["source"] == "x = 10"
    assert await desk.review.accept(A, None, "ada") == 1


async def test_one_notebook_that_has_gone_does_not_keep_the_others(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    await desk.change(EditCell("b1", "b"), path=B)
    del desk.shelf.notebooks[A]
    outcome = await desk.review.undo(SESSION, RUN, "ada")
    assert [(left.path, left.cell_id, left.reason) for left in outcome.left] == [(A, None, "not_found")]
    assert desk.shelf.cell(B, "b1")["source"] == ""


async def test_changes_follow_a_renamed_notebook_and_folder(desk: Desk) -> None:
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


async def test_a_notebook_renamed_while_its_cell_is_changed_is_one_record(desk: Desk) -> None:
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


async def test_of_two_who_undo_at_once_only_one_does_and_it_can_be_put_back(desk: Desk) -> None:
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
async def test_an_undo_that_is_killed_anywhere_can_be_put_back_and_undone(desk: Desk, again: bool) -> None:
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


async def test_a_putting_back_that_is_killed_anywhere_can_be_finished(desk: Desk) -> None:
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


async def test_an_undo_cut_off_before_its_word_still_counts(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    assert await killed_at(desk, 4, Reviewing.undo)  # intent, begun, the notebook, done
    assert desk.shelf.cell(A, "one")["source"] == "x = 1"
    assert await desk.kinds() == {}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.standing, turn.revert_id is not None) == (0, True)
    assert [(line.what, line.by, line.cells) for line in await desk.review.reverts(SESSION)] == [
        ("undo", "ada", ("one",))
    ]


async def test_what_an_undo_left_alone_can_be_undone_later_and_all_of_it_is_put_back(desk: Desk) -> None:
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


async def test_a_cell_that_the_undo_found_as_before_is_named_when_it_is_put_back(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), InsertCell(code("new", "n"), "end"))
    desk.shelf.notebooks[A] = [cell for cell in desk.shelf.notebooks[A] if cell["id"] != "new"]
    assert await undone(desk) == {}
    outcome = await desk.review.put_back(SESSION, RUN, "ada")
    assert [(left.cell_id, left.reason) for left in outcome.left] == [("new", "not_found")]
    assert await desk.kinds() == {"one": ("edited",)}


async def test_a_notebook_that_could_not_be_removed_is_not_said_to_be_undone(desk: Desk) -> None:
    await desk.hand().create("new.ipynb", [code("made", "made")])

    async def refuse(path: str) -> None:
        raise NotebookError("open_elsewhere", f"{path} is open elsewhere.")

    desk.shelf.remove = refuse  # type: ignore[method-assign]
    desk.restart()
    assert await undone(desk) == {None: "open_elsewhere"}
    (turn,) = await desk.review.turns(SESSION)
    assert (turn.standing, turn.revert_id) == (1, None)


async def test_a_rejection_waits_for_the_undo_of_the_same_session(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"), DeleteCell("two"))
    undoing, rejecting = await asyncio.gather(desk.review.undo(SESSION, RUN, "ada"), desk.review.reject(A, None, "bob"))
    assert (undoing.cells, rejecting.cells) == (2, 0)
    assert [line.what for line in await desk.review.reverts(SESSION)] == ["undo"]


async def test_two_runs_in_one_notebook_are_undone_apart(desk: Desk) -> None:
    await asyncio.gather(
        desk.change(EditCell("one", "x = 10"), run="r1"),
        desk.change(EditCell("two", "y = 20"), run="r2", session="s2"),
    )
    await desk.change(EditCell("three", "z = 30"), run="r1")
    await desk.change(EditCell("three", "z = 300"), run="r2", session="s2")
    assert await undone(desk) == {"three": "changed_later"}
    assert [cell["source"] for cell in desk.shelf.notebooks[A]] == ["x = 1", "y = 20", "z = 300"]


async def test_what_cells_showed_is_not_held_in_memory_and_comes_back(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.shelf.cell(A, name).update(outputs=[picture(name)], execution_count=7)
    before = json.loads(json.dumps(desk.shelf.notebooks))
    await desk.run("one")
    await desk.change(DeleteCell("two"), EditCell("three", "z = 30"))
    await desk.hand().create("new.ipynb", [code("made", "made")])
    desk.shelf.notebooks["new.ipynb"][0].update(outputs=[picture("made")])
    as_left = json.loads(json.dumps(desk.shelf.notebooks))
    assert "PICTURE" in desk.file.read_text("utf-8")
    assert await undone(desk) == {}
    assert desk.shelf.notebooks == before
    assert "PICTURE" not in repr(await desk.store.of_session(SESSION))
    assert desk.store.kept_bytes < 10_000 < desk.file.stat().st_size
    assert (await desk.review.put_back(SESSION, RUN, "ada")).left == []
    assert desk.shelf.notebooks == as_left


def picture(name: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {"image/png": f"PICTURE {name} " * 500}, "metadata": {}}


async def test_outputs_that_are_on_disk_no_more_are_named(desk: Desk) -> None:
    desk.shelf.cell(A, "one").update(outputs=[picture("one")], execution_count=7)
    await desk.run("one")
    changes = await desk.store.of_session(SESSION)
    assert changes is not None
    (item,) = run_changes(changes, RUN)
    desk.file.write_bytes(b"x" * desk.file.stat().st_size)
    (filled,) = await desk.store.filled([item])
    assert (item.outputs_left_out, filled.outputs_left_out) == (False, True)
    view = await desk.shelf.read(A, ["one"])
    assert [left.reason for left in plan(view, [filled], lambda cell_id: False).left] == ["outputs_not_kept"]


async def test_of_a_file_that_has_grown_only_the_rest_is_looked_through(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    assert len(await desk.store.of_notebook(A)) == 1
    size = desk.file.stat().st_size
    desk.file.write_bytes(desk.file.read_bytes().replace(b'"path":"a.ipynb"', b'"path":"z.ipynb"'))
    with desk.file.open("ab") as file:
        file.write(b'{"schema_version":1,"kind":"decided","path":"b.ip')
    assert desk.file.stat().st_size > size
    assert [await desk.store.of_notebook(path) for path in ("z.ipynb", B)] == [[], []]
    with desk.file.open("ab") as file:  # another server's line is whole now
        file.write(b'ynb","id":"x"}\n')
    assert len(await desk.store.of_notebook(B)) == 1


async def test_of_many_files_only_the_last_ones_are_held_in_memory(desk: Desk) -> None:
    for session in ("s1", "s2", "s3"):
        await desk.change(EditCell("one", "x" * 100_000 + session), session=session)
    store = ChangeStore(desk.folder / "changes", max_kept_bytes=500_000)
    found = await store.of_notebook(A)
    assert [changes.session_key for changes in found] == ["s1", "s2", "s3"]
    assert 0 < store.kept_bytes <= 500_000 < desk.store.appended_bytes


async def test_old_files_are_let_go_first(desk: Desk) -> None:
    for session in ("s1", "s2", "s3"):
        await desk.change(EditCell("one", f"of {session}"), session=session)
    size = desk.file.stat().st_size
    assert await desk.store.thin(1000.0, 10 * size, desk.file.stat().st_mtime) == 0
    assert await desk.store.thin(1000.0, 2 * size, desk.file.stat().st_mtime) == 1
    assert await desk.review.turns("s1") == []
    assert len(await desk.review.turns("s3")) == 1
    assert await desk.store.thin(1000.0, 10 * size, desk.file.with_name("s3.jsonl").stat().st_mtime + 2000) == 2


async def test_a_damaged_line_costs_only_itself(desk: Desk) -> None:
    await desk.change(EditCell("one", "x = 10"))
    with desk.file.open("a") as file:
        file.write(
            '{"schema_version":1,"kind":"begun","pa\n{"schema_version":1,"kind":"of a later version","path":"x"}\n'
        )
    await desk.change(EditCell("two", "y = 20"))
    desk.restart()
    assert set(await desk.kinds()) == {"one", "two"}
