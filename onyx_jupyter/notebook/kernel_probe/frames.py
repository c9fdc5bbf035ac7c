"""pandas frames and series: schema, nulls, statistics, the first rows. It runs in the kernel."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import Look, is_of
from onyx_jupyter.notebook.kernel_probe.streaming_statistics import (
    SAMPLE_ROWS,
    StreamingStatistics,
    format_null_count,
    memory,
    most_frequent,
    number,
    process_in_chunks,
)
from onyx_jupyter.notebook.kernel_probe.summaries import dtype_name, size_bytes
from onyx_jupyter.notebook.kernel_probe.values import cut, entries, label, short

MAX_COLUMNS = 60
HEAD_ROWS = 5
HEAD_COLUMNS = 20
_SAMPLED_TEXTS = 2_000
_TEXT_CHARS = 60
SCHEMA = ["column", "dtype", "nulls", "statistics"]


def inspect_frame(frame: Any, look: Look) -> dict[str, Any]:
    """Of a pandas DataFrame."""
    rows, count = frame.shape
    facts = [["shape", f"{rows:,} rows × {count:,} columns"], ["index", _describe_index(frame.index, look)]]
    size = size_bytes(frame)
    if size is not None:
        facts.append(["memory", f"{memory(size)}, without what objects hold"])
    names = entries(list(frame.columns[:MAX_COLUMNS]), MAX_COLUMNS)
    schema = []
    for at, name in enumerate(names):
        seconds = look.left_s() / (len(names) - at + 1)
        schema.append(_column(frame.iloc[:, at], name, look, seconds))
    notes = [f"{count - len(names):,} more columns are left out"] if count > len(names) else []
    tables = [{"title": "columns", "columns": SCHEMA, "rows": schema}, _head(frame, names, look)]
    return {"facts": facts, "tables": tables, "notes": notes + sample_note(rows)}


def inspect_series(series: Any, look: Look) -> dict[str, Any]:
    """Of a pandas Series."""
    name = series.name if series.name is not None else ""
    facts = [["length", f"{len(series):,}"], ["index", _describe_index(series.index, look)]]
    facts.append(["memory", f"{memory(size_bytes(series) or 0)}, without what objects hold"])
    row = _column(series, name, look, look.left_s() / 2)
    head = {
        "title": f"first {min(HEAD_ROWS, len(series))} values",
        "columns": ["index", "value"],
        "rows": [
            [label(at, look), value]
            for at, value in zip(list(series.index[:HEAD_ROWS]), head_values(series, name, look))  # noqa: B905
        ],
    }
    return {
        "facts": facts,
        "tables": [{"title": "values", "columns": SCHEMA, "rows": [row]}, head],
        "notes": sample_note(len(series)),
    }


def inspect_index(index: Any, look: Look) -> dict[str, Any]:
    """Of a pandas Index."""
    return {"facts": [["length", f"{len(index):,}"], ["index", _describe_index(index, look)]]}


def head_values(series: Any, name: Any, look: Look) -> list[str]:
    """The first values in words; those of a column that is named like a secret are hidden."""
    if look.hides(name, ""):
        return ["hidden"] * min(HEAD_ROWS, len(series))
    if not _is_known(series.dtype):
        return [f"<{dtype_name(series.dtype)}>"] * min(HEAD_ROWS, len(series))
    return [_cell(value, look) for value in list(series.iloc[:HEAD_ROWS])]


def sample_note(rows: int) -> list[str]:
    """What to think of quartiles and counts of distinct values."""
    if rows <= _SAMPLED_TEXTS:
        return []
    quartiles = f"quartiles are of {SAMPLE_ROWS:,} rows spread over all; " if rows > SAMPLE_ROWS else ""
    return [f"{quartiles}distinct texts are of {_SAMPLED_TEXTS:,} rows spread over all"]


def _column(series: Any, name: Any, look: Look, seconds: float) -> list[str]:
    kind = dtype_name(series.dtype)
    if not _is_known(series.dtype):
        return [label(name, look), kind, "", "a type of the user's, not asked"]
    if seconds <= 0:
        return [label(name, look), kind, "", "not read: no time was left"]
    walk = _Walk(series)
    checked = process_in_chunks(len(series), seconds, walk.add)
    nulls = format_null_count(walk.nulls, checked, len(series))
    return [label(name, look), kind, nulls, walk.statistics(look.hides(name, ""), look)]


class _Walk:
    """Nulls and statistics of a column, piece by piece; the pieces are views."""

    def __init__(self, series: Any) -> None:
        self.nulls = 0
        self._series = series
        self._moments = StreamingStatistics()
        self._trues = 0
        dtype = series.dtype
        self._kind = "category" if is_of(dtype, "pandas", "CategoricalDtype") else getattr(dtype, "kind", "O")

    def add(self, start: int, stop: int) -> None:
        piece = self._series.iloc[start:stop]
        nulls = int(piece.isna().sum())
        self.nulls += nulls
        count = stop - start - nulls
        if count == 0:
            return
        if self._kind in "iuf":
            low, high = piece.min(), piece.max()
            plain = float if self._kind == "f" else int
            self._moments.add(count, plain(low), plain(high), float(piece.mean()), float(piece.var(ddof=0)))
        elif self._kind in "mM":
            self._moments.add(count, piece.min(), piece.max(), 0.0, 0.0)
        elif self._kind == "b":
            self._trues += int(piece.sum())

    def statistics(self, hides: bool, look: Look) -> str:
        if self._kind in "iuf":
            return self._moments.to_text(_quartiles(self._series))
        if self._kind in "mM" and self._moments.count:
            return f"from {self._moments.low} to {self._moments.high}"
        if self._kind == "b":
            return f"true {self._trues:,} times"
        if hides:
            return "hidden"
        if self._kind == "category":
            categories = self._series.cat.categories
            named = ", ".join(_cell(one, look) for one in list(categories[:6]))
            return f"{len(categories):,} categories: {named}"
        return most_frequent(list(_spread(self._series, _SAMPLED_TEXTS)), lambda value: _cell(value, look))


def _quartiles(series: Any) -> str:
    found = [float(value) for value in _spread(series, SAMPLE_ROWS).quantile([0.25, 0.5, 0.75])]
    return " | ".join(number(float(f"{value:.6g}")) for value in found)


def _spread(series: Any, most: int) -> Any:
    """At most so many rows, evenly from all."""
    step = max(1, -(-len(series) // most))
    return series.iloc[::step]


def _head(frame: Any, names: list[Any], look: Look) -> dict[str, Any]:
    shown = names[:HEAD_COLUMNS]
    lists = [[label(at, look) for at in list(frame.index[:HEAD_ROWS])]]
    lists += [head_values(frame.iloc[:, at], name, look) for at, name in enumerate(shown)]
    return {
        "title": f"first {min(HEAD_ROWS, len(frame))} rows",
        "columns": ["index"] + [label(name, look) for name in shown],
        "rows": [list(row) for row in zip(*lists)],  # noqa: B905
    }


def _describe_index(index: Any, look: Look) -> str:
    if is_of(index, "pandas", "RangeIndex"):
        return f"{index.start} to {index.stop - 1}" if index.step == 1 else f"{index.start}, {index.step} apart"
    names = [label(name, look) for name in index.names if name is not None]
    kind = f"{index.nlevels} levels" if index.nlevels > 1 else dtype_name(index.dtype)
    ends = [label(value, look) for value in (list(index[:1]) + list(index[-1:]))]
    between = f", {' to '.join(ends)}" if ends else ""
    return kind + (f" named {', '.join(names)}" if names else "") + between


def _is_known(dtype: Any) -> bool:
    """Whether it is NumPy's or pandas' own: the arrays of others answer with code of their own."""
    names = "CategoricalDtype StringDtype DatetimeTZDtype PeriodDtype IntervalDtype SparseDtype ArrowDtype BooleanDtype"
    numbers = [f"{kind}{bits}Dtype" for kind in ("Int", "UInt", "Float") for bits in (8, 16, 32, 64)]
    return is_of(dtype, "numpy", "dtype") or is_of(dtype, "pandas", *names.split(), *numbers)


def _cell(value: Any, look: Look) -> str:
    return cut(value, _TEXT_CHARS) if type(value) is str else short(value, look, _TEXT_CHARS)
