"""The table file that a request names, as a frame with the lines that read it. It runs no code of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from onyx_jupyter.cell_mode.facts import Column, Frame
from onyx_jupyter.cell_mode.fixes.numbers_as_text import conversion_hint
from onyx_jupyter.storage.delimited_columns import DelimitedColumn, DelimitedColumns, delimited_columns

SUFFIXES = (".csv", ".tsv", ".tab", ".txt")


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
