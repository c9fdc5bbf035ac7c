"""Describes a table: its columns with their types, the number of rows, and the first rows. It never reads all of it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Section
from onyx_jupyter.ingest.readers.text import decoded
from onyx_jupyter.storage.table_sample import TableSample, parquet_sample

SAMPLED_BYTES = 1_000_000
SAMPLED_ROWS = 200
SHOWN_ROWS = 10
MAX_COLUMNS = 1_000
_MAX_VALUE_CHARS = 80
_COLUMNS_OF_ROWS = 30
_DELIMITERS = ",;\t|"


def read_delimited(name: str, file: BinaryIO) -> Document:
    """Describes a CSV or TSV file. Raises: DocumentUnreadable."""
    data = file.read(SAMPLED_BYTES + 1)
    is_cut = len(data) > SAMPLED_BYTES
    if is_cut:
        data = data[: data.rfind(b"\n", 0, SAMPLED_BYTES) + 1 or SAMPLED_BYTES]
    text = decoded(data)
    rows = _rows(text, "\t" if name.lower().endswith((".tsv", ".tab")) else _delimiter(text))
    if not rows:
        raise DocumentUnreadable("It contains no rows.")
    first, body = rows[0], rows[1:]
    has_header = all(value.strip() and not _is_number(value) for value in first)
    names = first if has_header else [f"column {number}" for number in range(1, len(first) + 1)]
    body = body if has_header else rows
    types = [_type([row[place] for row in body[:SAMPLED_ROWS] if place < len(row)]) for place in range(len(names))]
    return _described(name, TableSample(None if is_cut else len(body), list(zip(names, types, strict=True)), body))


def read_parquet(name: str, file: BinaryIO) -> Document:
    """Describes a Parquet file. Raises: DocumentUnreadable."""
    return _described(name, parquet_sample(file, SHOWN_ROWS, _COLUMNS_OF_ROWS))


def _described(name: str, table: TableSample) -> Document:
    title = PurePosixPath(name).name
    if not table.columns:
        raise DocumentUnreadable("It has no columns.")
    if len(table.columns) > MAX_COLUMNS:
        raise DocumentUnreadable(f"It has {len(table.columns)} columns; the limit is {MAX_COLUMNS}.")
    count = "many rows" if table.row_count is None else f"{table.row_count} rows"
    about = f"Table {title}: {count}, {len(table.columns)} columns."
    columns = "\n".join(f"- {_cell(column)}: {kind}" for column, kind in table.columns)
    shown = table.columns[:_COLUMNS_OF_ROWS]
    lines = [
        "| " + " | ".join(_cell(column) for column, _ in shown) + " |",
        "|" + "---|" * len(shown),
        *("| " + " | ".join(_cell(value) for value in row[: len(shown)]) + " |" for row in table.rows[:SHOWN_ROWS]),
    ]
    first = f"First {min(SHOWN_ROWS, len(table.rows))} rows"
    text = f"{about}\n\n## Columns\n\n{columns}\n\n## {first}\n\n" + "\n".join(lines)
    return Document([Section(text, "markdown")], title=title)


def _rows(text: str, delimiter: str) -> list[list[str]]:
    limit = csv.field_size_limit()
    if any(len(line) > limit for line in text.split("\n")):
        raise DocumentUnreadable(f"It has a line of more than {limit} characters, so it is not a table of rows.")
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise DocumentUnreadable(f"Its rows cannot be parsed: {error}. Save it again as CSV.") from error


def _delimiter(text: str) -> str:
    """The character that most often splits the first lines into the same number of values."""
    lines = [line for line in text[:20_000].split("\n")[:20] if line.strip()]
    counts = {mark: [line.count(mark) for line in lines] for mark in _DELIMITERS}
    return max(_DELIMITERS, key=lambda mark: (min(counts[mark], default=0), sum(counts[mark])))


def _type(values: Sequence[str]) -> str:
    values = [value.strip() for value in values if value.strip()]
    if not values:
        return "empty"
    if all(_is_number(value) for value in values):
        return "integer" if all(value.lstrip("+-").isdigit() for value in values) else "number"
    if {value.lower() for value in values} <= {"true", "false", "yes", "no"}:
        return "boolean"
    different = list(dict.fromkeys(value[:_MAX_VALUE_CHARS] for value in values))
    return f"text ({', '.join(map(_cell, different))})" if len(different) <= 5 else "text"


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _cell(value: str) -> str:
    line = " ".join(value.split()).replace("|", "\\|")
    return line if len(line) <= _MAX_VALUE_CHARS else f"{line[:_MAX_VALUE_CHARS]}…"
