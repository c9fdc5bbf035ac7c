"""The table file that a request names, as a frame with the lines that read it. It runs no code of the user's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onyx_jupyter.cell_mode.notebook_facts import Column, Frame
from onyx_jupyter.storage.delimited_columns import DelimitedColumn, DelimitedColumns, delimited_columns

SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
        "numbers with commas, so `.str.replace(',', '').astype(float)`",
    ),
    (re.compile(rf"{_NUMBER}\s*%"), "percentages, so `.str.rstrip('% ').astype(float)`"),
    (
        re.compile(r"[$€£¥]\s*[-+]?[\d,]+(?:\.\d+)?"),
        r"amounts of money, so `.str.replace(r'[^\d.-]', '', regex=True).astype(float)`",
    ),
    (
        re.compile(rf"{_NUMBER}\s*(?:[\[(].*|[A-Za-z°/]+)", re.S),
        r"text that begins with a number, so `.str.extract(r'([-+]?\d+\.?\d*)')[0].astype(float)`",
    ),
)
_PLAIN = re.compile(_NUMBER)


def named_file(request: str, files: Sequence[str], *, alone: bool) -> str | None:
    """The file named in the request, with or without its extension; the only file, if `alone` allows it."""
    tables = [name for name in files if name.lower().endswith(SUFFIXES[:3])]
    text = request.lower()
    named = [name for name in tables if name.lower() in text] or [
        name for name in tables if len(stem := name.lower().rsplit(".", 1)[0]) > 2 and stem in text
    ]
    if named:
        return max(named, key=len)
    return tables[0] if alone and len(tables) == 1 else None


def frame_of(raw: bytes, name: str) -> Frame:
    """Builds a frame from the file's content; `name` is its path from the notebook. Raises: ValueError."""
    found = delimited_columns(raw)
    columns = tuple(Column(one.name.strip(), one.dtype, _about(one), one.missing) for one in found.columns)
    return Frame("df", columns, found.rows, _lines(found, name), name)


def _about(column: DelimitedColumn) -> str:
    examples = f"e.g. {', '.join(column.examples)}" if column.examples else ""
    how = conversion_hint(column.examples) if column.dtype == "object" else ""
    return " – ".join(part for part in (examples, how) if part)


def _lines(found: DelimitedColumns, name: str) -> str:
    options = "" if found.separator == "," else f", sep={found.separator!r}"
    options += "" if found.encoding == "utf-8" else f", encoding={found.encoding!r}"
    lines = ["import pandas as pd", f"df = pd.read_csv({name!r}{options})"]
    if any(one.name != one.name.strip() for one in found.columns):
        lines.append("df.columns = df.columns.str.strip()")
    return "\n".join(lines)


def conversion_hint(examples: Sequence[str]) -> str:
    """What the values are, and how to convert them without losing rows; empty if they are numbers, or none at all."""
    odd = [text.strip() for text in examples if not _PLAIN.fullmatch(text.strip())]
    return next((how for form, how in _FORMS if odd and all(form.fullmatch(text) for text in odd)), "")
