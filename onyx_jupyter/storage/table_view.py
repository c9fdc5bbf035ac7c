"""One version of a table as searches read it: by words, by vectors and by row ids.

Concurrent writes don't change it, so everything that a search reads belongs together.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onyx_jupyter.protocols.retrieval import SearchFilter
from onyx_jupyter.storage.index_filter import where
from onyx_jupyter.storage.index_schema import FOUND_COLUMNS
from onyx_jupyter.storage.lance import ROW_ID, LanceTable
from onyx_jupyter.storage.release_memory import trim_memory
from onyx_jupyter.storage.vector_matrix import (
    MATRIX_BYTES,
    MATRIX_COLUMNS,
    VectorMatrix,
    fits,
    matrix_of,
    stored_vectors,
)

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

# Above this percentage of new rows, all are read again: one scan is faster than many single rows.
_MAX_NEW_PERCENT = 50


class TableView:
    """All methods block and raise IndexUnavailable."""

    def __init__(self, table: LanceTable, version: int, dimension: int | None, matrix: VectorMatrix | None) -> None:
        self.name = table.name
        self.version = version
        self.dimension = dimension
        self.matrix = matrix
        self._table = table

    def matching(self, words: str, count: int, only: SearchFilter) -> Mapping[int, float]:
        """Row id → BM25 (above 0, more is better) of the best; `words` has no syntax, any of them may match."""
        rows = self._table.matching(words, count, [ROW_ID], where(only))
        return dict(zip(rows[ROW_ID].to_pylist(), rows["_score"].to_pylist(), strict=True))

    def nearest(self, vector: Vectors, count: int, only: SearchFilter) -> Sequence[int]:
        """Row ids, nearest by cosine first; exact and from memory if the table is small enough."""
        if self.matrix is not None:
            return self.matrix.nearest(vector, count, only)
        found: list[int] = self._table.nearest(vector, count, [ROW_ID], where(only))[ROW_ID].to_pylist()
        return found

    def rows(self, row_ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Row id → the columns that a search returns, with its `vector` if it has one."""
        if not row_ids:
            return {}
        on_disk = self.dimension is not None and self.matrix is None
        columns = [*FOUND_COLUMNS, "vector"] if on_disk else list(FOUND_COLUMNS)
        found = self._table.take(row_ids, columns)
        rows = {row[ROW_ID]: row for row in found.select([*FOUND_COLUMNS, ROW_ID]).to_pylist()}
        if self.matrix is not None:
            vectors = self.matrix.vectors_of(list(rows))
        elif self.dimension is not None:
            vectors = stored_vectors(found["vector"], self.dimension)
        else:
            vectors = [None] * len(rows)
        for row, vector in zip(rows.values(), vectors, strict=True):
            row["vector"] = vector
        return rows


class NewestView:
    """The newest version of the serving table; unchanged parts of the one before stay in memory.

    Up to `matrix_bytes` of vectors are kept, until `release`.
    """

    def __init__(self, matrix_bytes: int = MATRIX_BYTES) -> None:
        self._matrix_bytes = matrix_bytes
        self._making = threading.Lock()
        self._view: TableView | None = None

    def of(self, table: LanceTable) -> TableView:
        """The current view. Raises: IndexUnavailable."""
        version = table.version()
        with self._making:
            if self._view is not None and self._view.name != table.name:
                self._view = None
            if self._view is None or self._view.version < version:
                self._view = self._made(table.at(version), version)
            return self._view

    def holds(self, table: LanceTable) -> bool:
        """Whether its vectors are searched in memory. Raises: IndexUnavailable."""
        return fits(table.count(), table.dimension() or 0, self._matrix_bytes)

    def release(self) -> None:
        """Releases the memory; the next search reads the vectors again."""
        with self._making:
            self._view = None
        trim_memory()

    def _made(self, table: LanceTable, version: int) -> TableView:
        dimension = table.dimension()
        if dimension is None or not self.holds(table):
            return TableView(table, version, dimension, None)
        matrix = self._followed(table, dimension)
        if matrix is None:
            self._view = None  # so that only one matrix is in memory at a time
            matrix = matrix_of(table.rows([ROW_ID, *MATRIX_COLUMNS]), table.batches([ROW_ID, "vector"]), dimension)
        return TableView(table, version, dimension, matrix)

    def _followed(self, table: LanceTable, dimension: int) -> VectorMatrix | None:
        """Derives the matrix from the previous one if most of it still applies. A rewritten row has a new id."""
        import numpy as np

        if self._view is None or self._view.matrix is None or self._view.dimension != dimension:
            return None
        known = self._view.matrix
        now = table.rows([ROW_ID])[ROW_ID].to_numpy().astype(np.uint64, copy=False)
        new = np.setdiff1d(now, known.row_ids, assume_unique=True)
        if 100 * len(new) > _MAX_NEW_PERCENT * len(now):
            return None
        kept = known.only_rows(now)
        if not len(new):
            return kept
        rows = table.take(new.tolist(), [*MATRIX_COLUMNS, "vector"])
        return kept.with_rows(matrix_of(rows, rows.to_batches(), dimension))
