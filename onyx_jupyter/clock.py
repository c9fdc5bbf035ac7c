"""Time and ids, injected so that tests can control both."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from typing import Protocol

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


class Clock(Protocol):
    """A source of time."""

    def now(self) -> datetime:
        """The current moment, with time zone UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never run backwards; only differences are meaningful."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


def timestamp(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and a final Z, as transcripts and the socket write it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class IdSource:
    """Makes ULIDs: 26 characters that sort by the millisecond of creation, and by order of creation within one.

    Source: https://github.com/ulid/spec (monotonic variant).
    """

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._last = -1
        self._lock = Lock()

    def new(self) -> str:
        """A new id, greater than every id this source made before."""
        with self._lock:
            milliseconds = int(self._clock.now().timestamp() * 1000)
            value = (milliseconds << _RANDOM_BITS) | int.from_bytes(self._random_bytes(_RANDOM_BITS // 8), "big")
            self._last = value if value > self._last else self._last + 1
            return _encode(self._last)


def _encode(value: int) -> str:
    return "".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5))
