"""Reading a table for a search while others write to it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from onyx_jupyter.protocols.retrieval import EmbedderIdentity, SearchFilter
from onyx_jupyter.storage import vector_matrix
from onyx_jupyter.storage.index_collection import chunk_collection
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_rows import as_table, rows_of
from onyx_jupyter.storage.lance import ROW_ID, LanceTable
from onyx_jupyter.storage.table_view import NewestView, TableView
from onyx_jupyter.storage.vector_matrix import MATRIX_BYTES, fits, matrix_of
from tests.retrieval.sources import source

if TYPE_CHECKING:
    import pyarrow as pa

    from onyx_jupyter.storage.lance import Rows

EVERYTHING = SearchFilter()
EAST, NORTH = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


@pytest.fixture
def table(tmp_path: Path) -> LanceTable:
    """An empty one, for vectors of two numbers."""
    collection = chunk_collection(tmp_path, "memory", on_emptied=lambda why: None)
    collection.identity = EmbedderIdentity("fake", "two", 2)
    return collection.table(collection.state().serving)


def put(table: LanceTable, path: str, texts: Sequence[str], vectors: Sequence[object]) -> None:
    rows = [row.columns for row in rows_of(source(path, *texts), "c")]
    table.replace(as_table(rows, vectors, 2), among("source", [rows[0]["source"]]))  # type: ignore[arg-type]


def texts(view: TableView, row_ids: Sequence[int]) -> list[str]:
    rows = view.rows(row_ids)
    return [rows[row_id]["text"] for row_id in row_ids]


@pytest.mark.parametrize("matrix_bytes", [MATRIX_BYTES, 0], ids=["in memory", "on disk"])
def test_view_is_immutable_and_latest_is_current(table: LanceTable, matrix_bytes: int) -> None:
    put(table, "a.md", ["east", "north"], [EAST, NORTH])
    views = NewestView(matrix_bytes)
    before = views.of(table)
    put(table, "a.md", ["north by east"], [NORTH])
    put(table, "b.md", ["east again", "nowhere"], [EAST, None])
    now = views.of(table)
    assert texts(before, before.nearest(EAST, 5, EVERYTHING)) == ["east", "north"]
    assert texts(now, now.nearest(EAST, 5, EVERYTHING)) == ["east again", "north by east"]
    assert texts(before, list(before.matching("east", 5, EVERYTHING))) == ["east"]
    assert sorted(texts(now, list(now.matching("east", 5, EVERYTHING)))) == ["east again", "north by east"]
    assert (now.matrix is None) == (matrix_bytes == 0)


def test_vector_added_later_is_found(table: LanceTable) -> None:
    put(table, "a.md", ["east"], [None])
    views = NewestView()
    assert views.of(table).nearest(EAST, 5, EVERYTHING) == []
    rows = [row.columns for row in rows_of(source("a.md", "east"), "c")]
    table.exchange(as_table(rows, [EAST], 2), where="target.vector IS NULL")
    view = views.of(table)
    (found,) = view.nearest(EAST, 5, EVERYTHING)
    assert view.rows([found])[found]["vector"].tolist() == [1, 0]


def test_only_new_rows_are_read_and_everything_after_compaction(table: LanceTable) -> None:
    for number in range(10):
        put(table, f"{number}.md", [f"note {number}"], [EAST])
    views = NewestView()
    views.of(table)
    reading = Reading(table)
    put(table, "3.md", ["another note"], [NORTH])
    view = views.of(reading)
    assert reading.taken == [1]
    assert texts(view, view.nearest(NORTH, 1, EVERYTHING)) == ["another note"]
    assert len(view.nearest(NORTH, 20, EVERYTHING)) == 10
    assert views.of(reading) is view
    table.optimise()
    view = views.of(reading)
    assert (reading.taken, reading.scanned) == ([1], [1, 1, 5, 2])
    assert texts(view, view.nearest(NORTH, 1, EVERYTHING)) == ["another note"]


def test_new_version_shares_memory_with_previous(table: LanceTable) -> None:
    put(table, "a.md", ["east", "north"], [EAST, NORTH])
    put(table, "b.md", ["far east", "nowhere"], [EAST, None])
    views = NewestView()
    before = views.of(table)
    put(table, "a.md", ["south"], [-NORTH])
    put(table, "c.md", ["north again"], [NORTH])
    now = views.of(table)
    assert before.matrix is not None
    assert now.matrix is not None
    assert now.matrix.room is before.matrix.room
    assert texts(before, before.nearest(NORTH, 1, EVERYTHING)) == ["north"]
    assert texts(now, now.nearest(NORTH, 9, EVERYTHING)) == ["north again", "far east", "south"]


def test_without_spare_capacity_both_copies_are_never_in_memory_together(
    table: LanceTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_matrix, "_MIN_SPARE_BYTES", 8)
    for number in range(4):
        put(table, f"{number}.md", [f"note {number}"], [EAST])
    views = NewestView()
    first = views.of(table)
    assert first.matrix is not None
    vectors = weakref.ref(first.matrix.room.vectors)
    del first
    reading = Reading(table, on_batches=lambda: still_there.append(vectors() is not None))
    still_there: list[bool] = []
    put(table, "4.md", ["north"], [NORTH])
    views.of(reading)
    assert still_there == []
    put(table, "0.md", ["north again"], [NORTH])
    view = views.of(reading)
    assert still_there == [False]
    assert sorted(texts(view, view.nearest(NORTH, 2, EVERYTHING))) == ["north", "north again"]


def test_released_view_is_read_again(table: LanceTable) -> None:
    put(table, "a.md", ["east"], [EAST])
    views = NewestView()
    vectors = weakref.ref(views.of(table).matrix.room.vectors)  # type: ignore[union-attr]
    assert vectors() is not None
    views.release()
    assert vectors() is None
    view = views.of(table)
    assert texts(view, view.nearest(EAST, 1, EVERYTHING)) == ["east"]


def test_rows_may_come_in_any_order() -> None:
    rows = as_table(
        [row.columns for row in rows_of(source("a.md", "one", "two", "three"), "c")], [EAST, NORTH, None], 2
    )
    rows = rows.append_column(ROW_ID, [[9, 4, 7]])
    matrix = matrix_of(rows, [rows.slice(1).to_batches()[0], rows.slice(0, 1).to_batches()[0]], 2)
    assert matrix.nearest(NORTH, 5, EVERYTHING) == [4, 9]
    assert [None if one is None else one.tolist() for one in matrix.vectors_of([9, 7, 4])] == [[1, 0], None, [0, 1]]


def test_tables_above_limit_are_searched_on_disk(table: LanceTable) -> None:
    put(table, "a.md", ["east"], [EAST])
    assert NewestView(8).of(table).matrix is not None
    put(table, "b.md", ["north"], [NORTH])
    assert NewestView(8).of(table).matrix is None
    assert fits(20_000, 384)
    assert not fits(21_000, 384)


@pytest.mark.parametrize("dimension", [384, 768, 1536, 3072, 4096])
def test_matrix_has_bounded_spare_capacity(dimension: int) -> None:
    for count in (1, MATRIX_BYTES // (4 * dimension)):
        ids = np.arange(count, dtype=np.uint64)
        one = as_table([row.columns for row in rows_of(source("a.md", "one"), "c")], [None], dimension)
        rows = one.take([0] * count).append_column(ROW_ID, [ids])
        room = matrix_of(rows, [], dimension).room.vectors
        assert len(room) > count
        assert room.nbytes <= 36_000_000


class Reading(LanceTable):
    """Tells how many rows were taken by their ids, and of how many columns whole scans were."""

    def __init__(
        self,
        table: LanceTable,
        taken: list[int] | None = None,
        scanned: list[int] | None = None,
        *,
        on_batches: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(table.name, table._table, table._reopen)
        self.on_batches = on_batches
        self.taken: list[int] = [] if taken is None else taken
        self.scanned: list[int] = [] if scanned is None else scanned

    def at(self, version: int) -> LanceTable:
        return Reading(super().at(version), self.taken, self.scanned, on_batches=self.on_batches)

    def take(self, row_ids: Sequence[int], columns: Sequence[str]) -> Rows:
        if "vector" in columns:
            self.taken.append(len(row_ids))
        return super().take(row_ids, columns)

    def rows(self, columns: Sequence[str], where: str | None = None, limit: int | None = None) -> Rows:
        self.scanned.append(len(columns))
        return super().rows(columns, where, limit)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        self.scanned.append(len(columns))
        self.on_batches()
        return super().batches(columns)
