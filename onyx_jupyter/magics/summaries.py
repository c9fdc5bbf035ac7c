"""A variable as a model sees it: short, bounded, without copying it or importing a library."""

from __future__ import annotations

import reprlib
from typing import Any

MAX_TEXT_CHARS = 20_000
MAX_CHARS = 4_000
_HEAD_ROWS = 5
_COLUMNS = 60
_ITEMS = 40
_CELL_CHARS = 60


def summary(value: Any) -> str:
    """Text and numbers unchanged; a frame as its shape, columns and first rows; everything else as a bounded `repr`."""
    if isinstance(value, str):
        return _cut(value, MAX_TEXT_CHARS)
    if isinstance(value, bool | int | float | complex) or value is None:
        return str(value)
    try:
        return _cut(_described(value), MAX_CHARS)
    except Exception as error:  # an object whose own methods fail is still an object
        return f"<{_kind(value)}, which cannot be shown: {type(error).__name__}: {error}>"


def _described(value: Any) -> str:
    if _is_frame(value):
        return _frame(value)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return _array(value)
    short = reprlib.Repr()
    short.maxdict = short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdeque = _ITEMS
    short.maxstring = short.maxother = 1_000
    short.maxlevel = 4
    return short.repr(value)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "dtypes") and hasattr(value, "shape") and hasattr(value, "head")


def _frame(frame: Any) -> str:
    rows, width = frame.shape
    names = [str(name) for name in frame.columns]
    dtypes = [str(dtype) for dtype in frame.dtypes]
    columns = [f"{name}: {dtype}" for name, dtype in zip(names[:_COLUMNS], dtypes, strict=False)]
    more = [f"… {width - _COLUMNS} more"] if width > _COLUMNS else []
    title = f"{_kind(frame)} with {rows:,} rows and {width} columns ({', '.join([*columns, *more])})"
    head = _first_rows(frame, names[:_COLUMNS])
    return f"{title}. First rows:\n{head}" if head else title


def _first_rows(frame: Any, names: list[str]) -> str:
    """A Markdown table of only the first rows, whatever the frame holds."""
    head = frame.head(_HEAD_ROWS)
    if hasattr(head, "itertuples"):
        rows = [list(row)[: len(names)] for row in head.itertuples(index=False, name=None)]
    elif hasattr(head, "rows"):
        rows = [list(row)[: len(names)] for row in head.rows()]
    else:
        return ""
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join("| " + " | ".join(_in_a_cell(item) for item in line) + " |" for line in lines) if names else ""


def _array(array: Any) -> str:
    shape = " × ".join(str(length) for length in array.shape) or "a single value"
    title = f"{_kind(array)} of {array.dtype}, {shape}"
    if not array.shape:
        return f"{title}: {array!r}"
    first = array[:_HEAD_ROWS] if not hasattr(array, "head") else array.head(_HEAD_ROWS)
    width = 1
    for length in array.shape[1:]:
        width *= length
    if width > _ITEMS * _HEAD_ROWS:
        return title
    return f"{title}. First values:\n{_cut(str(first), MAX_CHARS // 2)}"


def _kind(value: Any) -> str:
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__qualname__ if package in ("builtins", "__main__") else f"{package}.{kind.__qualname__}"


def _in_a_cell(item: Any) -> str:
    text = " ".join(str(item)[: 4 * _CELL_CHARS].split()).replace("|", "\\|")
    return text if len(text) <= _CELL_CHARS else f"{text[: _CELL_CHARS - 1]}…"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}[… {len(text) - limit:,} more characters]"
