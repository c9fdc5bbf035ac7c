"""Undoing a turn restores the notebook exactly and never touches a person's own text."""

import asyncio
import json
import tempfile
from collections.abc import Collection
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder, RetentionLimits
from onyx_jupyter.notebook.review.review_actions import Reviewing
from onyx_jupyter.protocols import After, CellChange, DeleteCell, EditCell, InsertCell, MoveCell
from onyx_jupyter.testing.fake_clock import FakeClock, fake_ids
from tests.notebook.shelf import Shelf, code

A = "a.ipynb"
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "edit", "edit", "move", "move", "delete", "run"]),
        st.integers(0, 9),
        st.integers(-1, 9),
    ),
    min_size=1,
    max_size=12,
)
TURNS = st.lists(STEPS, min_size=1, max_size=3)
HANDS = st.lists(st.tuples(st.sampled_from(["type", "add", "remove"]), st.integers(0, 9)), max_size=4)


class Scene:
    """A notebook with a history: its first cells have run, and a recorder that writes into a folder of its own."""

    def __init__(self, folder: str, cells: int) -> None:
        self.shelf = Shelf(a=[code(f"c{n}", f"source {n}") for n in range(cells)])
        for n in range(0, cells, 2):
            self.shelf.run_by_hand(A, f"c{n}")
        self.store = ChangeStore(Path(folder) / "changes")
        clock, ids = FakeClock(), fake_ids()
        self.recorder = ChangeRecorder(self.shelf, self.store, str, clock, ids, RetentionLimits, lambda path, by: None)
        self.review = Reviewing(self.store, self.recorder, str, self.shelf.remove, lambda run: False, clock, ids)
        self.count = 0

    @property
    def cells(self) -> list[dict[str, Any]]:
        return self.shelf.notebooks[A]

    async def turn(self, steps: list[tuple[str, int, int]], run: str = "r", spare: Collection[str] = ()) -> set[str]:
        """One run's changes, to none of the cells to `spare`; it leaves one cell at least. Which ones it changed."""
        notebooks = self.recorder.notebooks_for(Author("main", "s", run))
        touched: set[str] = set()
        for kind, which, where in steps:
            order = self.shelf.order(A)
            targets = [name for name in order if name not in spare]
            if not targets:
                break
            target = targets[which % len(targets)]
            others = [name for name in order if name != target]
            place = After(others[where % len(others)]) if where >= 0 and others else ("start" if where else "end")
            if kind == "run":
                await notebooks.run_cell(A, target, lambda line: None)
            elif kind != "delete" or others:
                await notebooks.apply(A, self._changes(kind, target, place))
            touched |= {target, *set(self.shelf.order(A)).difference(order)}
        return touched

    def _changes(self, kind: str, target: str, place: Any) -> list[CellChange]:
        self.count += 1
        match kind:
            case "insert":
                return [InsertCell(code(f"n{self.count}", "new"), place)]
            case "edit":
                return [EditCell(target, f"edit {self.count}")]
            case "move":
                return [MoveCell(target, place)]
            case _:
                return [DeleteCell(target)]

    def hand(self, kind: str, which: int) -> str | None:
        """What a person does; the text that they wrote, if any."""
        self.count += 1
        text = f"mine {self.count}"
        at = which % len(self.cells)
        match kind:
            case "type":
                self.cells[at]["source"] = text
            case "add":
                self.cells.insert(at, code(f"p{self.count}", text))
            case _ if len(self.cells) > 1:
                del self.cells[at]
        return None if kind == "remove" else text


def texts(scene: Scene) -> list[tuple[str, str]]:
    """Between two reverts a notebook may have stood empty but for a cell to type in."""
    return [(cell["id"], cell["source"]) for cell in scene.cells if cell["source"]]


@given(cells=st.integers(1, 6), steps=STEPS)
def test_undo_and_its_revert_are_exact(cells: int, steps: list[tuple[str, int, int]]) -> None:
    """Review and undo: whatever one turn did, and back again."""

    async def play(scene: Scene) -> None:
        before = json.dumps(scene.cells)
        await scene.turn(steps)
        if not await scene.review.turns("s"):
            return  # its only step would have left no cell
        after = json.dumps(scene.cells)
        assert (await scene.review.undo("s", "r", "ada")).left == []
        assert json.dumps(scene.cells, sort_keys=True) == json.dumps(json.loads(before), sort_keys=True)
        if (await scene.review.turns("s"))[0].revert_id is not None:
            assert (await scene.review.put_back("s", "r", "ada")).left == []
            assert json.dumps(scene.cells, sort_keys=True) == json.dumps(json.loads(after), sort_keys=True)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Scene(folder, cells)))


@given(cells=st.integers(1, 6), turns=TURNS, order=st.randoms(use_true_random=False), one_by_one=st.booleans())
def test_rejecting_marks_restores_previous_state(
    cells: int, turns: list[list[tuple[str, int, int]]], order: Random, one_by_one: bool
) -> None:
    """Review and undo: all at once, or in whatever order a person rejects them, texts and places come back."""

    async def play(scene: Scene) -> None:
        before = texts(scene)
        for number, steps in enumerate(turns):
            await scene.turn(steps, f"r{number}")
        while ids := [mark.cell_id for mark in await scene.review.marks(A)]:
            chosen = [order.choice(ids)] if one_by_one else None
            assert (await scene.review.reject(A, chosen, "ada")).left == []
        assert texts(scene) == before

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Scene(folder, cells)))


@given(cells=st.integers(2, 6), turns=TURNS, order=st.randoms(use_true_random=False))
def test_turns_on_different_cells_can_be_undone_in_any_order(
    cells: int, turns: list[list[tuple[str, int, int]]], order: Random
) -> None:
    """Review and undo: an older turn before a newer one, too."""

    async def play(scene: Scene) -> None:
        before = texts(scene)
        touched: set[str] = set()
        for number, steps in enumerate(turns):
            touched |= await scene.turn(steps, f"r{number}", touched)
        runs = [turn.run_id for turn in await scene.review.turns("s")]
        order.shuffle(runs)
        for run in runs:
            assert (await scene.review.undo("s", run, "ada")).left == []
        assert texts(scene) == before

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Scene(folder, cells)))


@given(cells=st.integers(1, 6), steps=STEPS, hands=HANDS, one_by_one=st.booleans())
def test_later_user_edits_are_never_lost(
    cells: int, steps: list[tuple[str, int, int]], hands: list[tuple[str, int]], one_by_one: bool
) -> None:
    """Review and undo: by the turn, or mark by mark."""

    async def play(scene: Scene) -> None:
        await scene.turn(steps)
        wrote = {text for kind, which in hands if (text := scene.hand(kind, which))}
        there = {cell["source"] for cell in scene.cells} & wrote
        if one_by_one:
            for mark in await scene.review.marks(A):
                await scene.review.reject(A, [mark.cell_id], "ada")
        elif await scene.review.turns("s"):
            await scene.review.undo("s", "r", "ada")
        assert there <= {cell["source"] for cell in scene.cells}
        assert len(scene.shelf.order(A)) == len(set(scene.shelf.order(A))) > 0

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Scene(folder, cells)))
