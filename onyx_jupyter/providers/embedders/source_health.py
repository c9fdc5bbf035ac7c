"""The history of failures of one embedder source, and when it is tried again."""

from __future__ import annotations

import math
from dataclasses import dataclass

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import Embedder
from onyx_jupyter.providers.embedders.source import EmbedderSource

FIRST_WAIT_S = 30.0
# The source in use is missed, so it is tried more often than one that might be better.
MAX_RETRY_IN_USE_S = 120.0
LONGEST_WAIT_S = 1800.0
# For this long the index of a failing source stays in use: most failures end sooner, and another embedder means
# embedding everything again.
FAILOVER_AFTER_S = 600.0
# How long a better source must work before everything is embedded again for it; doubled each time that it was
# replaced.
STEADY_S = 600.0
_LONGEST_STEADY_S = 86_400.0


@dataclass(slots=True)
class SourceHealth:
    """Times are of a monotonic clock, in seconds. `is_asked_for`: an index holds its vectors."""

    source: EmbedderSource
    embedder: Embedder | None = None
    error: EmbeddingError | None = None
    next_try_s: float = -math.inf
    is_asked_for: bool = False
    _failures: int = 0
    _failing_since_s: float | None = None
    _well_since_s: float | None = None
    _times_left: int = 0

    @property
    def failing(self) -> bool:
        """Whether its last call failed."""
        return self.error is not None

    def is_due(self, now_s: float) -> bool:
        """Whether it may be called."""
        return now_s >= self.next_try_s

    def succeeded(self, now_s: float) -> None:
        """It answered."""
        self.error, self._failures, self._failing_since_s, self.next_try_s = None, 0, None, now_s
        self._well_since_s = now_s if self._well_since_s is None else self._well_since_s

    def failed(self, error: EmbeddingError, now_s: float, *, in_use: bool) -> None:
        """It did not answer; a longer wait that the error asks for is respected."""
        self.error, self._well_since_s = error, None
        self._failures += 1
        self._failing_since_s = now_s if self._failing_since_s is None else self._failing_since_s
        longest_s = MAX_RETRY_IN_USE_S if in_use else LONGEST_WAIT_S
        wait_s = min(longest_s, FIRST_WAIT_S * 2.0 ** min(self._failures - 1, 16))
        self.next_try_s = now_s + max(wait_s, min(error.retry_after_s or 0.0, LONGEST_WAIT_S))

    def is_abandoned(self, now_s: float) -> bool:
        """Whether it has been failing for longer than `FAILOVER_AFTER_S`."""
        return self._failing_since_s is not None and now_s - self._failing_since_s >= FAILOVER_AFTER_S

    def leave(self) -> None:
        """It was in use and is being replaced."""
        self._times_left += 1
        self._well_since_s = None

    @property
    def was_left(self) -> bool:
        """Whether it was replaced before."""
        return self._times_left > 0

    def is_steady(self, now_s: float) -> bool:
        """Whether it has worked for long enough to be worth the change."""
        return self._well_since_s is not None and now_s - self._well_since_s >= self._steady_s

    def postpone_check(self, now_s: float) -> None:
        """It works but is not in use: look again after half the steady time."""
        self.next_try_s = now_s + self._steady_s / 2

    @property
    def _steady_s(self) -> float:
        return min(_LONGEST_STEADY_S, STEADY_S * 2.0**self._times_left)
