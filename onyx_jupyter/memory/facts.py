"""What a fact is, and how its confidence changes over time.

A fact starts with a confidence of 1. When repeated, it gains 0.1, up to 1; every seven days without a repetition it
keeps
95 % of what it had; below 0.3 it is dropped, once it is older than thirty days, unless it has ended: then it is
history.
Nothing is written as time passes: the confidence at any moment is computed from the times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from onyx_jupyter.clock import timestamp
from onyx_jupyter.protocols import KnownFact, MemoryAuthor

MAX_FACT_CHARS = 200
MAX_CATEGORY_CHARS = 40
MERGE_ABOVE = 0.85
"""The cosine above which two facts say the same, or one changes the other."""
NEAR_ABOVE = 0.55
"""The cosine above which two facts may be about the same thing."""
CONTEXT_FACTS = 15
_GAIN = 0.1
_DECAY_PER_PERIOD = 0.95
_PERIOD = timedelta(days=7)
_PRUNED_BELOW = 0.3
_PRUNED_AFTER = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Fact:
    """`confidence` is that at `reinforced_at`; true from `valid_from` to `valid_until` (None: still true).

    `superseded_by` is the id of the fact that replaced it; `author`, `session_key` and `turn` say where it came from.
    """

    id: str
    text: str
    category: str
    confidence: float
    created_at: datetime
    reinforced_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    superseded_by: str | None = None
    author: MemoryAuthor = "agent"
    session_key: str | None = None
    turn: str | None = None

    @property
    def is_current(self) -> bool:
        return self.valid_until is None


def confidence_at(fact: Fact, moment: datetime) -> float:
    """Between 0 and 1; a moment before the last repetition counts as that moment."""
    periods = max(timedelta(), moment - fact.reinforced_at) // _PERIOD
    return _within(fact.confidence) * _DECAY_PER_PERIOD**periods


def reinforced(fact: Fact, moment: datetime) -> Fact:
    """The fact, repeated at that moment."""
    confidence = min(1.0, confidence_at(fact, moment) + _GAIN)
    return replace(fact, confidence=confidence, reinforced_at=max(moment, fact.reinforced_at))


def superseded(fact: Fact, by: str, moment: datetime) -> Fact:
    """The fact, no longer true from that moment on."""
    return replace(fact, valid_until=max(moment, fact.valid_from), superseded_by=by)


def is_expired(fact: Fact, moment: datetime) -> bool:
    """Whether it is too uncertain and too old to keep; an ended fact is history, and never worn out."""
    return fact.is_current and confidence_at(fact, moment) < _PRUNED_BELOW and moment - fact.created_at > _PRUNED_AFTER


def most_confident(facts: Iterable[Fact], moment: datetime, count: int = CONTEXT_FACTS) -> list[Fact]:
    """The surest facts that are still true; for equal confidence, the most recently repeated first."""
    true = [fact for fact in facts if fact.is_current and not is_expired(fact, moment)]
    return sorted(true, key=lambda fact: (-confidence_at(fact, moment), -_seconds(fact), number_of(fact.id)))[:count]


def number_of(fact_id: str) -> tuple[int, str]:
    """A sort key that puts ids in the order in which they were assigned."""
    digits = fact_id.removeprefix("f")
    return (int(digits), "") if digits.isascii() and digits.isdigit() else (0, fact_id)


def known(fact: Fact, moment: datetime) -> KnownFact:
    """The fact in the form that other modules see."""
    confidence = round(confidence_at(fact, moment), 3)
    return KnownFact(fact.id, fact.text, fact.category, confidence, timestamp(fact.created_at))


def _within(confidence: float) -> float:
    return min(max(confidence, 0.0), 1.0) if math.isfinite(confidence) else 0.0


def _seconds(fact: Fact) -> float:
    return fact.reinforced_at.astimezone(UTC).timestamp()
