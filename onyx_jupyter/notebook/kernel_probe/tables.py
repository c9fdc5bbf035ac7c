"""Polars frames and Arrow tables: schema, nulls, statistics, the first rows. It runs in the kernel."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import MISSING, Look, is_of, loaded
from onyx_jupyter.notebook.kernel_probe.frames import HEAD_COLUMNS, HEAD_ROWS, MAX_COLUMNS, SCHEMA
from onyx_jupyter.notebook.kernel_probe.streaming_statistics import format_null_count, memory, most_frequent, number
from onyx_jupyter.notebook.kernel_probe.values import cut, label, short

# A column's extremes take no copy, but its rows have to be walked.
MAX_ROWS = 5_000_000
_TEXTS = 1_000
_NUMBERS = ("int", "uint", "float", "double", "half", "decimal", "date", "time", "timestamp")


def inspect_table(table: Any, look: Look) -> dict[str, Any]:
    """Of a polars DataFrame or Series, or an Arrow table, batch or array."""
    names, columns, rows = _columns(table)
    schema = []
    for name, column in zip(names[:MAX_COLUMNS], columns):  # noqa: B905
        told = "not read: no time was left" if look.left_s() <= 0 else _statistics(column, name, rows, look)
        schema.append([name, str(_dtype(column)), format_null_count(int(_nulls(column)), rows, rows), told])
    facts = [["shape", f"{rows:,} rows × {len(names):,} columns"], ["memory", memory(_size(table))]]
    notes = [f"{len(names) - MAX_COLUMNS:,} more columns are left out"] if len(names) > MAX_COLUMNS else []
    notes += [f"statistics are of the first {MAX_ROWS:,} rows"] if rows > MAX_ROWS else []
    shown = [_head_of(column, name, look) for name, column in zip(names[:HEAD_COLUMNS], columns)]  # noqa: B905
    head = {
        "title": f"first {min(HEAD_ROWS, rows)} rows",
        "columns": names[:HEAD_COLUMNS],
        "rows": [list(row) for row in zip(*shown)],  # noqa: B905
    }
    return {"facts": facts, "tables": [{"title": "columns", "columns": SCHEMA, "rows": schema}, head], "notes": notes}


def inspect_lazy(query: Any, look: Look) -> dict[str, Any]:
    """Of a polars LazyFrame: collecting it would run the query."""
    return {"facts": [], "notes": ["A lazy query: its schema and rows come with .collect()."]}


def is_polars(value: Any) -> bool:
    return is_of(value, "polars", "DataFrame", "Series")


def _columns(table: Any) -> Any:
    """Names, columns and the number of rows; none of it is a copy."""
    if is_of(table, "polars", "DataFrame"):
        return list(table.columns), [table.to_series(at) for at in range(table.width)][:MAX_COLUMNS], table.height
    if is_of(table, "pyarrow", "Table", "RecordBatch"):
        columns = [table.column(at) for at in range(table.num_columns)][:MAX_COLUMNS]
        return [field.name for field in table.schema], columns, table.num_rows
    return [getattr(table, "name", "values") or "values"], [table], len(table)


def _dtype(column: Any) -> Any:
    return column.dtype if is_polars(column) else column.type


def _nulls(column: Any) -> Any:
    return column.null_count() if is_polars(column) else column.null_count


def _size(table: Any) -> int:
    return int(table.estimated_size() if is_polars(table) else table.nbytes)


def _statistics(column: Any, name: str, rows: int, look: Look) -> str:
    piece = column.slice(0, MAX_ROWS)
    kind = str(_dtype(column)).lower()
    if kind.startswith(_NUMBERS):
        return _extremes(piece)
    if look.hides(name, ""):
        return "hidden"
    step = max(1, rows // _TEXTS)
    if is_polars(column):
        texts = piece.gather_every(step).to_list()
    else:
        texts = [piece[at].as_py() for at in range(0, len(piece), step)]
    return most_frequent(texts[:_TEXTS], lambda value: cut(value, 60) if type(value) is str else short(value, look))


def _extremes(piece: Any) -> str:
    if is_polars(piece):
        figures = [("min", piece.min()), ("max", piece.max())]
        if piece.dtype.is_numeric():
            figures += [("mean", piece.mean()), ("std", piece.std())]
    else:
        compute = {name: loaded("pyarrow.compute", name) for name in ("min_max", "mean")}
        if MISSING in compute.values():
            return ""
        ends = compute["min_max"](piece)
        figures = [("min", ends["min"].as_py()), ("max", ends["max"].as_py())]
        if str(piece.type).startswith(("int", "uint", "float", "double", "half")):
            figures.append(("mean", compute["mean"](piece).as_py()))
    return ", ".join(f"{name} {number(value)}" for name, value in figures if value is not None) or "no values"


def _head_of(column: Any, name: str, look: Look) -> list[str]:
    piece = column.slice(0, HEAD_ROWS)
    if look.hides(name, ""):
        return ["hidden"] * len(piece)
    values = piece.to_list() if is_polars(piece) else piece.to_pylist()
    return [label(value, look) for value in values]
