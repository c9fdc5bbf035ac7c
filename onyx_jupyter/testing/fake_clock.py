"""Time and randomness that stand still until a test moves them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from onyx_jupyter.clock import IdSource

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeClock:
    """A Clock that moves only when `advance` is called."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed_s = 0.0

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic(self) -> float:
        return self._elapsed_s

    def advance(self, seconds: float) -> None:
        """Moves time forward; both readings move together. Raises: ValueError for a negative step."""
        if seconds < 0:
            raise ValueError(f"Time does not run backwards: advance({seconds}).")
        self._elapsed_s += seconds


def counting_bytes() -> Callable[[int], bytes]:
    """A stand-in for `os.urandom` that counts: the same sequence in every run, never the same bytes twice."""
    count = 0

    def next_bytes(size: int) -> bytes:
        nonlocal count
        count += 1
        return count.to_bytes(size, "big")

    return next_bytes


def fake_ids(clock: FakeClock | None = None) -> IdSource:
    """An IdSource whose ids are the same in every run."""
    return IdSource(clock or FakeClock(), counting_bytes())
