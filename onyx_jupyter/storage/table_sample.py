"""The columns and first rows of a table in a file, through pyarrow. It never reads a table as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO


@dataclass(frozen=True, slots=True)
class TableSample:
    """`columns` are names with types in words, `row_count` None where it was not counted."""

    row_count: int | None
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]


def parquet_sample(file: BinaryIO, row_count: int) -> TableSample:
    """Schema and first rows of a Parquet file; its footer is read and one batch. Raises: ValueError, OSError."""
    import pyarrow.parquet

    with pyarrow.parquet.ParquetFile(file) as table:
        columns = [(field.name, str(field.type)) for field in table.schema_arrow]
        batch = next(table.iter_batches(batch_size=row_count), None)
        found = batch.to_pydict() if batch is not None else {}
        values = [["" if value is None else str(value) for value in column] for column in found.values()]
        rows = [list(row) for row in zip(*values, strict=True)] if values else []
        return TableSample(table.metadata.num_rows, columns, rows)
