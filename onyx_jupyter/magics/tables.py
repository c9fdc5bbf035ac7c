"""Reads the first table of an answer, Markdown or CSV, into a frame. pandas is imported only for that."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.errors import MagicError

_RULE = re.compile(r"^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$")
_CSV = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[ \t]*(?:csv|tsv)?[ \t]*\n(?P<rows>.*?)^ {0,3}(?P=fence)", re.M | re.S | re.I
)
_MARKUP = re.compile(r"^(\*\*|__|`)(.*)\1$")


class AnswerFormatError(Exception):
    """An answer without the requested shape; the message says what is wrong with it."""


@dataclass(frozen=True)
class Table:
    """Rows of texts, each as long as the header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def first_table(text: str) -> Table:
    """The first Markdown table, else the first block of CSV. Raises: AnswerFormatError."""
    lines = text.splitlines()
    for number, line in enumerate(lines[1:], 1):
        if "-" in line and _RULE.match(line) and "|" in lines[number - 1]:
            return _table([_cells(lines[number - 1]), *_rows_below(lines[number + 1 :])])
    blocks = [found["rows"] for found in _CSV.finditer(text)]
    for block in [*blocks, text]:
        rows = [row for row in csv.reader(io.StringIO(block.strip()), _dialect(block)) if row]
        if len(rows) > 1 and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return _table(rows)
    raise AnswerFormatError("it contains no table, neither Markdown nor CSV")


def as_frame(table: Table) -> Any:
    """A pandas DataFrame; columns with only numbers become numeric, empty cells missing values."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MagicError(
            "pandas",
            "--out-type frame needs pandas in this kernel.",
            hint="%pip install pandas, or use --out-type json.",
        ) from error
    frame = pd.DataFrame([list(row) for row in table.rows], columns=list(table.header), dtype=object)
    frame = frame.replace("", None)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        try:
            numbers = pd.to_numeric(column.str.replace(",", "") if _has_thousands(column) else column)
        except (ValueError, TypeError, AttributeError):
            continue
        frame.isetitem(place, numbers)
    return frame


def _table(rows: Sequence[Sequence[str]]) -> Table:
    header, *body = rows
    if not body:
        raise AnswerFormatError("its table has no rows")
    for number, row in enumerate(body, 1):
        if len(row) != len(header):
            raise AnswerFormatError(f"row {number} of its table has {len(row)} cells, but the header has {len(header)}")
    return Table([_plain(name) for name in header], [[_plain(cell) for cell in row] for row in body])


def _rows_below(lines: Sequence[str]) -> list[list[str]]:
    rows = []
    for line in lines:
        if "|" not in line:
            break
        rows.append(_cells(line))
    return rows


def _cells(line: str) -> list[str]:
    inside = line.strip().removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", inside)]


def _dialect(block: str) -> type[csv.Dialect]:
    first = block.strip().split("\n", 1)[0]
    return csv.excel_tab if "\t" in first and "," not in first else csv.excel


def _has_thousands(column: Any) -> bool:
    given = [cell for cell in column if cell is not None]
    return any("," in cell for cell in given) and all(
        re.fullmatch(r"-?\d{1,3}(,\d{3})*(\.\d+)?", cell) for cell in given
    )


def _plain(cell: str) -> str:
    cell = cell.strip()
    found = _MARKUP.match(cell)
    return found[2].strip() if found else cell
