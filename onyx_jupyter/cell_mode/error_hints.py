"""Hints on common errors of a cell: a sentence for the next try."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Literal

from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

_ERROR_LINE = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit|Iteration)\b(?::.*)?$", re.MULTILINE)
_MAX_CHARS = 400
_NO_COLUMN = re.compile(r"^KeyError|not in index|not found in axis|do not exist|is not in list")
_NO_ATTRIBUTE = re.compile(r"AttributeError: '(?P<type>\w+)' object has no attribute '(?P<name>\w+)'")
_HINTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile("ModuleNotFoundError"),
        "That package is not installed: use pandas, numpy, scipy or matplotlib instead.",
    ),
    (
        re.compile("(?i)could not convert string|unsupported operand type|can only concatenate str|no numeric types"),
        "A text column is used where numbers are needed: write `t[c] = pd.to_numeric(t[c], errors='coerce')` instead "
        "of `.astype`, or use numeric columns.",
    ),
    (
        re.compile("(?i)contains NaN|infs or NaNs|must not contain"),
        "First drop the rows with missing values in any of the columns used.",
    ),
    (
        re.compile(r"Can only use \.str accessor with string values, not (?:floating|integer|mixed-integer-float)"),
        "That column is numeric already: use it as it is, without `.str`.",
    ),
    (
        re.compile(r"not enough values to unpack|too many values to unpack|cannot unpack"),
        "The right side of that = gives a different number of values than there are names on the left: take what it "
        "gives, and compute the other values on separate lines.",
    ),
    (
        re.compile(r"string indices must be integers|'str' object has no attribute"),
        "Looping over a table gives its column names: use whole columns, as in `(table[c] == value).sum()`.",
    ),
    (re.compile("SyntaxError|IndentationError"), "Write plain, complete Python."),
)
_NO_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
_OF_TIMES = (
    "total_seconds days seconds date time year month day hour minute second weekday dayofweek day_name month_name "
    "quarter strftime"
)
_OF_TEXTS = "split strip lstrip rstrip lower upper contains startswith endswith title capitalize zfill"


def missing_modules(results: Iterable[str]) -> tuple[str, ...]:
    """The packages that cells found missing; the first part of the name."""
    found = (match["name"].partition(".")[0] for result in results for match in _NO_MODULE.finditer(result))
    return tuple(dict.fromkeys(found))


def error_of(result: str) -> str:
    """The last line of a traceback that names an error; the end of the text if there is none."""
    found = list(_ERROR_LINE.finditer(result))
    return found[-1][0][:_MAX_CHARS] if found else result.strip()[-_MAX_CHARS:]


def hint_for(error: str, facts: NotebookFacts) -> str:
    """A sentence on what to do instead; empty for unknown errors."""
    if _NO_COLUMN.search(error):
        return _other_column(error, facts)
    if error.startswith("NameError"):
        frames = ", ".join(f"`{frame.name}`" for frame in facts.frames)
        return f"Define or import it first.{f' The table is {frames}.' if frames else ''}"
    if (missing := _NO_ATTRIBUTE.search(error)) is not None:
        return _other_attribute(missing["type"], missing["name"])
    return next((hint for pattern, hint in _HINTS if pattern.search(error)), "")


def accessor_of(name: str) -> Literal["dt", "str"] | None:
    """The pandas accessor for values of a column that has `name`; None if neither has it."""
    return "dt" if name in _OF_TIMES.split() else "str" if name in _OF_TEXTS.split() else None


def _other_attribute(type_name: str, name: str) -> str:
    accessor = accessor_of(name) if type_name == "Series" else None
    if accessor is not None:
        return f"For a whole column it is `.{accessor}.{name}`."
    return f"A {type_name} has no {name!r}: do it another way."


def _other_column(error: str, facts: NotebookFacts) -> str:
    columns = [column.name for frame in facts.frames for column in frame.columns]
    quoted = re.findall(r"'([^']+)'", error)
    if quoted and quoted[0] in columns:
        return f"The column {quoted[0]!r} exists, but not where it was looked up: check what the line before returned."
    close = difflib.get_close_matches(" ".join(quoted), columns, n=3, cutoff=0.4)
    meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    return f"There is no such column.{meant}"
