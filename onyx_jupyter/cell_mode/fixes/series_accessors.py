"""The pandas accessors for values of a column: `dt` for times, `str` for texts."""

from __future__ import annotations

from typing import Literal

_OF_TIMES = frozenset(
    [
        "total_seconds",
        "days",
        "seconds",
        "date",
        "time",
        "year",
        "month",
        "day",
        "hour",
        "minute",
        "second",
        "weekday",
        "dayofweek",
        "day_name",
        "month_name",
        "quarter",
        "strftime",
    ]
)
_OF_TEXTS = frozenset(
    [
        "split",
        "strip",
        "lstrip",
        "rstrip",
        "lower",
        "upper",
        "contains",
        "startswith",
        "endswith",
        "title",
        "capitalize",
        "zfill",
    ]
)


def accessor_of(name: str) -> Literal["dt", "str"] | None:
    """The accessor that has `name`; None if neither has it."""
    return "dt" if name in _OF_TIMES else "str" if name in _OF_TEXTS else None
