"""The columns and first rows of a table in a file, through pyarrow. It never reads a table as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pyarrow import RecordBatch

_BUFFER_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class TableSample:
    """`columns` are names with types in words, `row_count` None where it was not counted.

    `rows` may hold values of the first columns alone.
    """

    row_count: int | None
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


def parquet_sample(file: BinaryIO, row_count: int, column_count: int) -> TableSample:
    """Schema of a Parquet file, with that many rows of that many columns: the first ones.

    What is read are its footer and the beginnings of these columns; how much memory that takes says whoever wrote the
    file, so it is read where memory is bounded. Raises: ValueError where it is none; OSError of the disk.
    """
    import pyarrow.parquet

    try:
        # Else each column would be loaded as far as its first part goes, which may be gigabytes.
        with pyarrow.parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False) as table:
            columns = [(field.name, str(field.type)) for field in table.schema_arrow]
            shown = [name for name, _ in columns[:column_count]]
            batch = next(table.iter_batches(batch_size=row_count, columns=shown, use_threads=False), None)
            rows = _rows(batch, shown) if batch is not None else []
            return TableSample(table.metadata.num_rows, columns, rows)
    except OSError as error:
        if error.errno is None:  # Arrow's own word for what it cannot take apart
            raise ValueError(str(error)) from error
        raise


def _rows(batch: RecordBatch, names: Sequence[str]) -> list[list[str]]:
    """Columns that are called the same come together, whatever their places in the file."""
    called: dict[str, list[list[str]]] = {}
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        called.setdefault(name, []).append([_cell(value) for value in column.to_pylist()])
    return [list(row) for row in zip(*(called[name].pop(0) for name in names), strict=True)]


def _cell(value: object) -> str:
    return "" if value is None else str(value)
