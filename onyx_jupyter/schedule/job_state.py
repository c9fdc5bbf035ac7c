"""What became of a job's planned times, as the run log tells it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Literal, cast, get_args

Outcome = Literal["ok", "silent", "failed", "aborted", "interrupted"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
BACKOFF_S = (30.0, 60.0, 300.0, 900.0, 3600.0)
"""How long a job rests after each consecutive failure."""
ALERT_AFTER = 2
DISABLE_AFTER = 10
MAX_RECENT = 12
MAX_RANGES = 50
# Neither is the job's fault, and neither is a sign that it works again.
_NO_VERDICT: tuple[Outcome, ...] = ("aborted", "interrupted")


@dataclass
class JobState:
    """`accounted`: every planned time up to here has run or is recorded as missed.

    `ran` are the planned times that have run, as ranges (after, up to]; they overlap `accounted` unless the clock was
    set back. `running` is the planned time of the run in progress. `recent` holds the newest outcomes, oldest first.
    """

    accounted: datetime
    ran: list[tuple[datetime, datetime]] = field(default_factory=list)
    running: datetime | None = None
    run_key: str | None = None
    failures: int = 0
    not_before: datetime | None = None
    recent: deque[Outcome] = field(default_factory=lambda: deque(maxlen=MAX_RECENT))
    last_run: datetime | None = None
    missed: int = 0

    @property
    def is_disabled(self) -> bool:
        """Whether it failed too often to be run by itself."""
        return self.failures >= DISABLE_AFTER

    def range_of(self, planned: datetime) -> tuple[datetime, datetime] | None:
        """The range with that planned time, if it has run."""
        return next((one for one in reversed(self.ran) if one[0] < planned <= one[1]), None)

    def begin(self, planned: datetime | None, after: datetime, key: str, at: datetime) -> None:
        """`planned` is None for a run that a person started."""
        self.run_key, self.running, self.last_run = key, planned or at, at
        if planned is None:
            return
        if self.ran and self.ran[-1][1] == after:
            self.ran[-1] = (self.ran[-1][0], planned)
        else:
            self.ran.append((after, planned))
            if len(self.ran) > MAX_RANGES:
                self._join_ranges()
        self.accounted = max(self.accounted, planned)

    def _join_ranges(self) -> None:
        """Joins the two that are closest: what lies between them is recorded as missed, and need not run either."""
        ranges = sorted(self.ran)
        gaps = [later[0] - earlier[1] for earlier, later in pairwise(ranges)]
        at = gaps.index(min(gaps))
        joined = (ranges[at][0], max(ranges[at][1], ranges[at + 1][1]))
        # The newest by time stays last: the next run of a job extends it.
        newest = self.ran[-1]
        self.ran = [*ranges[:at], joined, *ranges[at + 2 :]]
        self.ran.sort(key=lambda one: one[1] == newest[1])

    def end(self, outcome: Outcome, at: datetime) -> None:
        self.running = self.run_key = None
        self.recent.append(outcome)
        if outcome == "failed":
            self.failures += 1
            rest_s = BACKOFF_S[min(self.failures, len(BACKOFF_S)) - 1]
            self.not_before = at + timedelta(seconds=rest_s)
        elif outcome not in _NO_VERDICT:
            self.failures, self.not_before = 0, None

    def miss(self, until: datetime, count: int) -> None:
        self.accounted = max(self.accounted, until)
        self.missed += count

    def reset(self, at: datetime) -> None:
        """A person has changed the job: it begins anew, and what has run stays known."""
        self.accounted, self.failures, self.not_before = at, 0, None

    def set_back(self, now: datetime) -> None:
        """The clock was set back to `now`."""
        self.accounted = min(self.accounted, now)
        if self.not_before is not None:
            self.not_before = min(self.not_before, now + timedelta(seconds=BACKOFF_S[-1]))

    def to_json(self) -> dict[str, Any]:
        """Everything but a run in progress."""
        return {
            "accounted": text_of(self.accounted),
            "ran": [[text_of(after), text_of(until)] for after, until in self.ran],
            "failures": self.failures,
            "notBefore": text_of(self.not_before) if self.not_before else None,
            "recent": list(self.recent),
            "lastRun": text_of(self.last_run) if self.last_run else None,
            "missed": self.missed,
        }

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> JobState:
        """Raises: ValueError, KeyError, TypeError."""
        state = cls(
            moment_of(line["accounted"]),
            [(moment_of(after), moment_of(until)) for after, until in line["ran"]],
            failures=int(line["failures"]),
            not_before=moment_of(line["notBefore"]) if line["notBefore"] else None,
            last_run=moment_of(line["lastRun"]) if line["lastRun"] else None,
            missed=int(line["missed"]),
        )
        state.recent.extend(outcome_of(one) for one in line["recent"])
        return state


def outcome_of(value: Any) -> Outcome:
    """Raises: ValueError."""
    if value not in OUTCOMES:
        raise ValueError(f"{value!r} is not an outcome")
    return cast(Outcome, value)


def text_of(moment: datetime) -> str:
    """With microseconds: a planned time is compared exactly."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def moment_of(text: str) -> datetime:
    """Raises: ValueError."""
    return datetime.fromisoformat(text).astimezone(UTC)
