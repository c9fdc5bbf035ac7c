"""Pauses calls to a provider after several failures in a row, then tries it with a single call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import ModelError


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """A provider is paused after `failures` failed requests in a row, each with all its retries."""

    failures: int = 3
    pause_s: float = 60.0


@dataclass(frozen=True, eq=False, slots=True)
class Admission:
    """Permission for one request. A trial is the one call after a pause; its result decides for all others."""

    is_trial: bool


class CircuitBreaker:
    """The state of one provider: closed, open until some time, or with a trial in progress."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._open_until_s: float | None = None
        self._trial: Admission | None = None

    def admit(self, title: str) -> Admission:
        """Permission to call the provider. Raises: ModelError (unavailable) while it is paused."""
        if self._open_until_s is None:
            return Admission(is_trial=False)
        left_s = max(0.0, self._open_until_s - self._clock.monotonic())
        if left_s or self._trial is not None:
            raise self._left_alone(title, left_s)
        self._trial = Admission(is_trial=True)
        return self._trial

    def succeeded(self) -> None:
        """The provider answered, even if it refused."""
        self._failures, self._open_until_s, self._trial = 0, None, None

    def failed(self, admission: Admission, policy: BreakerPolicy) -> None:
        """The request failed, with all its retries."""
        self._failures += 1
        begins = self._open_until_s is None and self._failures >= policy.failures
        if begins or self._trial is admission:
            self._open_until_s = self._clock.monotonic() + policy.pause_s
        self.release(admission)

    def release(self, admission: Admission) -> None:
        """The request ended in any way: a trial that was stopped makes room for another."""
        if self._trial is admission:
            self._trial = None

    def _left_alone(self, title: str, left_s: float) -> ModelError:
        when = f"in {math.ceil(left_s)} s" if left_s else "right now"
        return ModelError(
            "unavailable",
            f"{title} failed {self._failures} times in a row, so Onyx paused it for a while.",
            hint=f"Onyx tries it again {when}. Until then, choose another model.",
            retry_after_s=left_s,
            permanent=True,
        )


@dataclass(slots=True)
class CircuitBreakers:
    """One breaker per provider, by a key that the caller chooses; they outlive the models and the configuration."""

    clock: Clock
    _breakers: dict[str, CircuitBreaker] = field(default_factory=dict)

    def of(self, key: str) -> CircuitBreaker:
        """The breaker for that key, created if needed."""
        return self._breakers.setdefault(key, CircuitBreaker(self.clock))
