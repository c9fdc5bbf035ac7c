"""How long the undo of a large turn takes, and the marks of its notebook: on a real server, with a real file."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.socket_client import SocketClient
from onyx_jupyter.clock import IdSource, SystemClock
from onyx_jupyter.notebook.review.change_store import ChangeStore
from onyx_jupyter.notebook.review.recording import Author, ChangeRecorder, RetentionLimits
from onyx_jupyter.protocols import After, CellChange, DeleteCell, EditCell, InsertCell, MoveCell
from tests.notebook.shelf import Shelf, code

ROUNDS = 7
CELLS = 1_000
CHANGES = 200
LIMIT_S = 1.0
PATH = "large.ipynb"
SESSION, RUN = "01BENCHMARKSESSION", "01BENCHMARKRUN"
METHOD = (
    f"A notebook of {CELLS:,} cells with outputs, in which a turn made {CHANGES} changes of every kind, one call each "
    "(edits, insertions, moves, deletions). From sending `notebook.undo`, `notebook.put_back` and `notebook.changes` "
    "to their results; in between the contents API has written the file, whose cells are compared each time with those "
    "of before or after the turn."
)


def measure() -> Group:
    undone, back, marks = [], [], []
    with JupyterProcess() as server, SocketClient(server.port, server.token) as client:
        before, after = asyncio.run(_make_turn(server.home / "changes"))
        file = server.root / PATH
        _write(file, after)
        for _ in range(ROUNDS):
            undone.append(_timed(client, "notebook.undo", sessionKey=SESSION, runId=RUN))
            _same(file, before)
            back.append(_timed(client, "notebook.put_back", sessionKey=SESSION, runId=RUN))
            _same(file, after)
            marks.append(_timed(client, "notebook.changes", path=PATH))
    return Group(
        "Undo of a turn in a notebook",
        METHOD,
        [
            Figure(f"undo: {CHANGES} changes, {CELLS:,} cells", undone, "s", LIMIT_S, digits=3),
            Figure("put back", back, "s", LIMIT_S, digits=3),
            Figure("the notebook's marks", marks, "s", digits=3),
        ],
    )


async def _make_turn(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The cells before and after a turn whose record is in that folder."""
    shelf = Shelf(large=[code(f"c{n}", f"x{n} = {n}\nprint(x{n})") for n in range(CELLS)])
    for n in range(CELLS):
        shelf.run_by_hand(PATH, f"c{n}")
    before = json.loads(json.dumps(shelf.notebooks[PATH]))
    ids = IdSource(SystemClock())
    recorder = ChangeRecorder(
        shelf, ChangeStore(folder), str, SystemClock(), ids, RetentionLimits, lambda path, author: None
    )
    notebooks = recorder.notebooks_for(Author("main", SESSION, RUN))
    for n in range(CHANGES):
        await notebooks.apply(PATH, [_change(n)])
    return before, shelf.notebooks[PATH]


def _change(n: int) -> CellChange:
    cell_id = f"c{n * CELLS // CHANGES}"
    match n % 4:
        case 0:
            return EditCell(cell_id, f"changed = {n}\nprint(changed)")
        case 1:
            return InsertCell(code(f"n{n}", f"new = {n}"), After(cell_id))
        case 2:
            return MoveCell(cell_id, "start")
        case _:
            return DeleteCell(cell_id)


def _write(file: Path, cells: list[dict[str, Any]]) -> None:
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    file.write_text(json.dumps(content), encoding="utf-8")


def _same(file: Path, cells: list[dict[str, Any]]) -> None:
    found = json.loads(file.read_text("utf-8"))["cells"]
    texts = [(cell["id"], "".join(cell["source"]), cell["execution_count"]) for cell in found]
    if texts != [(cell["id"], cell["source"], cell["execution_count"]) for cell in cells]:
        raise RuntimeError("The notebook is not as it should be.")


def _timed(client: SocketClient, method: str, **params: Any) -> float:
    began = time.monotonic()
    result = client.call(method, **params)
    taken = time.monotonic() - began
    if result.get("leftAlone"):
        raise RuntimeError(f"{method} left something alone: {result['leftAlone'][:3]}")
    return taken
