"""Statistics that are made piece by piece, so that big data is never copied. It runs in the kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from onyx_jupyter.notebook.kernel_probe.access import is_exactly

PIECE_ROWS = 500_000
SAMPLE_ROWS = 50_000
_DIGITS = 6


class StreamingStatistics:
    """Count, extremes, mean and spread of numbers that come in pieces."""

    def __init__(self) -> None:
        self.count = 0
        self.low: Any = None
        self.high: Any = None
        self.mean = 0.0
        self._squares = 0.0

    def add(self, count: int, low: Any, high: Any, mean: float, variance: float) -> None:
        """One piece, by its own figures; `variance` divides by the count. Source: Chan, Golub, LeVeque 1979."""
        if count == 0:
            return
        total = self.count + count
        apart = mean - self.mean
        self._squares += variance * count + apart * apart * self.count * count / total
        self.mean += apart * count / total
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)
        self.count = total

    @property
    def spread(self) -> float:
        """The standard deviation of a sample."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else math.nan

    def to_text(self, quartiles: str = "") -> str:
        if self.count == 0:
            return "no values"
        between = f", quartiles {quartiles}" if quartiles else ""
        return (
            f"min {number(self.low)}{between}, max {number(self.high)}, mean {number(self.mean)}, "
            f"std {number(self.spread)}"
        )


def process_in_chunks(rows: int, seconds: float, add: Callable[[int, int], None]) -> int:
    """Calls `add(start, stop)` for piece after piece; how many rows were read when the time was up."""
    until, start = time.monotonic() + seconds, 0
    while start < rows and (start == 0 or time.monotonic() < until):
        stop = min(rows, start + PIECE_ROWS)
        add(start, stop)
        start = stop
    return start


def number(value: Any) -> str:
    """A number with six digits, a whole one as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15):
        return f"{value:.{_DIGITS}g}"
    return f"{int(value):,}"


def format_null_count(nulls: int, checked: int, rows: int) -> str:
    """`12 (1.2 %)`; where not every row was read, of how many."""
    share = f" ({100 * nulls / checked:.1f} %)" if nulls and checked else ""
    return f"{nulls:,}{share}" + (f" of the first {checked:,}" if checked < rows else "")


_COMMONEST = 5


def most_frequent(values: list[Any], describe: Callable[[Any], str]) -> str:
    """The commonest of some values, as far as all are plain ones: comparing others would run their code."""
    plain = [value for value in values if value is not None and value == value] if _all_plain(values) else []
    counts: dict[Any, int] = {}
    for value in plain:
        counts[value] = counts.get(value, 0) + 1
    ranked: list[tuple[Any, int]] = sorted(counts.items(), key=lambda pair: -pair[1])
    if not ranked:
        return ""
    if ranked[0][1] == 1:
        return f"{len(ranked):,} distinct, such as {describe(ranked[0][0])}"
    commonest = ", ".join(f"{describe(value)} ({count:,})" for value, count in ranked[:_COMMONEST])
    return f"{len(ranked):,} distinct, most {commonest}"


def _all_plain(values: list[Any]) -> bool:
    return all(is_exactly(value, str, int, float, bool, bytes, type(None)) for value in values)


def memory(size: Any) -> str:
    """`1.2 MB`."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"
