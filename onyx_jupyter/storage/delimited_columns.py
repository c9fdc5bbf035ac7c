"""Reads the columns of a delimited text file (CSV, TSV) with pyarrow, described as pandas would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_EXAMPLES = 3
_EXAMPLE_CHARS = 24
_SEPARATORS = ",;\t|"


@dataclass(frozen=True, slots=True)
class DelimitedColumn:
    """`dtype` as in pandas; `examples` are its first distinct values."""

    name: str
    dtype: str
    examples: tuple[str, ...]
    missing: int


@dataclass(frozen=True, slots=True)
class DelimitedColumns:
    """The contents of a delimited file; `separator` and `encoding` are needed to read it."""

    columns: tuple[DelimitedColumn, ...]
    rows: int
    separator: str
    encoding: str


def delimited_columns(raw: bytes) -> DelimitedColumns:
    """The columns of such a file. Raises: ValueError if it is not a table."""
    from pyarrow import ArrowException, BufferReader, csv

    if not raw.strip():
        raise ValueError("It is empty.")
    separator = _separator(raw)
    encoding = "utf-8" if _is_utf8(raw) else "latin-1"
    try:
        table = csv.read_csv(
            BufferReader(raw),
            read_options=csv.ReadOptions(encoding=encoding, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(strings_can_be_null=True, timestamp_parsers=[]),
        )
    except (ArrowException, ValueError, KeyError) as error:
        raise ValueError(f"It cannot be read as a table: {error}") from error
    columns = tuple(_column(name, table.column(at)) for at, name in enumerate(table.column_names))
    return DelimitedColumns(columns, table.num_rows, separator, encoding)


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _separator(raw: bytes) -> str:
    first = raw.lstrip(b"\xef\xbb\xbf\r\n").split(b"\n", 1)[0].decode("latin1")
    return max(_SEPARATORS, key=first.count) if any(first.count(one) for one in _SEPARATORS) else ","


def _column(name: str, values: pa.ChunkedArray) -> DelimitedColumn:
    examples: list[str] = []
    for value in values.slice(0, 50).to_pylist():
        text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        if text and text not in examples:
            examples.append(text if len(text) <= _EXAMPLE_CHARS else f"{text[:_EXAMPLE_CHARS]}…")
        if len(examples) == _EXAMPLES:
            break
    return DelimitedColumn(name, _dtype(values), tuple(examples), values.null_count)


def _dtype(values: pa.ChunkedArray) -> str:
    from pyarrow import types

    kind = values.type
    if types.is_null(kind) or types.is_floating(kind):
        return "float64"
    if types.is_integer(kind):
        return "float64" if values.null_count else "int64"
    if types.is_boolean(kind):
        return "object" if values.null_count else "bool"
    return "object"
