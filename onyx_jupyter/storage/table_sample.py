"""Reads the columns and first rows of a table in a file with pyarrow, never the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_BUFFER_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class TableSample:
    """`columns` are names with types in words, `row_count` is None if not counted.

    `rows` may contain values of the first columns only.
    """

    row_count: int | None
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


def parquet_sample(file: BinaryIO, row_count: int, column_count: int) -> TableSample:
    """The schema of a Parquet file, with that many of its first rows and columns.

    Reads the footer and the beginnings of these columns; the file's author controls how much memory that takes, so call
    it where memory is limited. Raises: ValueError if it is not a Parquet file; OSError of the disk.
    """
    import pyarrow.parquet

    try:
        # Otherwise each column would be loaded up to the end of its first part, possibly gigabytes.
        with pyarrow.parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as table:
            columns = [(field.name, str(field.type)) for field in table.schema_arrow]
            shown = [name for name, _ in columns[:column_count]]
            batch = next(table.iter_batches(batch_size=row_count, columns=shown, use_threads=False), None)
            rows = _rows(batch, shown) if batch is not None else []
            return TableSample(table.metadata.num_rows, columns, rows)
    except OSError as error:
        if error.errno is None:  # Arrow's error for what it cannot parse
            raise ValueError(str(error)) from error
        raise


def _rows(batch: RecordBatch, names: Sequence[str]) -> list[list[str]]:
    """Handles columns with the same name, which come grouped, whatever their order in the file."""
    called: dict[str, list[list[str]]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        called.setdefault(name, []).append([_cell(value) for value in column.to_pylist()])
    return [list(row) for row in zip(*(called[name].pop(0) for name in names), strict=True)]


def _cell(value: object) -> str:
    return "" if value is None else str(value)
