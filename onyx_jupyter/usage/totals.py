"""Sums over model calls: by day, role and model, and by conversation, turn and step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from threading import RLock

from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.model_call import ModelCall


@dataclass(slots=True)
class Sum:
    """`cost_usd` adds what is known; `unpriced_calls` may have cost something on top.

    `free_tokens` and `free_calls` are of models on this machine, `plan_calls` of subscriptions. `estimated_calls` have
    figures that are not the provider's.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    plan_calls: int = 0
    free_calls: int = 0
    free_tokens: int = 0
    estimated_calls: int = 0

    @property
    def budget_tokens(self) -> int:
        """The tokens that count towards a budget."""
        return self.input_tokens + self.output_tokens - self.free_tokens

    def add(self, call: ModelCall) -> None:
        self.calls += 1
        self.input_tokens += call.usage.input_tokens
        self.output_tokens += call.usage.output_tokens
        self.cached_tokens += call.usage.cached_tokens or 0
        self.reasoning_tokens += call.usage.reasoning_tokens or 0
        self.cost_usd += call.usage.cost_usd or 0.0
        self.unpriced_calls += call.is_unpriced
        self.plan_calls += call.terms == "plan"
        self.free_calls += call.terms == "free"
        self.free_tokens += call.tokens if call.terms == "free" else 0
        self.estimated_calls += bool(call.usage.estimated)


def sum_of(calls: Iterable[ModelCall]) -> Sum:
    """The sum of these calls: of a step, of a turn."""
    total = Sum()
    for call in calls:
        total.add(call)
    return total


def local_day(moment: datetime, zone: tzinfo) -> date:
    """The day there."""
    return moment.astimezone(zone).date()


def end_of_day(moment: datetime, zone: tzinfo) -> datetime:
    """The next midnight there; where the clocks skip it, the first moment of the next day."""
    tomorrow = local_day(moment, zone) + timedelta(days=1)
    return datetime.combine(tomorrow, time.min, zone).astimezone(UTC).astimezone(zone)


class Totals:
    """The sums of a ledger, kept in memory: each file is read once, then only what was appended, by any server.

    Days are kept in the zone that was asked for last; another one makes it read the files again.

    Its methods read the disk first, so call them in a thread. They raise: StorageError.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._zone: tzinfo = UTC
        self._lock = RLock()
        self._unwritten: list[ModelCall] = []
        self._forget()

    def add_unwritten(self, call: ModelCall) -> None:
        """Counts a call that the disk refused, until this server ends. Reads nothing."""
        with self._lock:
            self._unwritten.append(call)
            self._add(call)

    def of_day(self, day: date, zone: tzinfo) -> Sum:
        with self._lock:
            self._catch_up(zone)
            return added(self._days.get(day, {}).values())

    def of_session(self, session_key: str) -> Sum:
        with self._lock:
            self._catch_up()
            return added([self._sessions.get(session_key, Sum())])

    def since(self, day: date, zone: tzinfo) -> dict[date, dict[tuple[str, str], Sum]]:
        """Day → (role, model) → sum, from that day on."""
        with self._lock:
            self._catch_up(zone)
            days = sorted(one for one in self._days if one >= day)
            return {one: {cell: added([sum_]) for cell, sum_ in self._days[one].items()} for one in days}

    def _catch_up(self, zone: tzinfo | None = None) -> None:
        files = self._ledger.files()
        is_moved = zone is not None and zone != self._zone
        self._zone = zone or self._zone
        if is_moved or any(files.get(path, 0) < offset for path, offset in self._offsets.items()):
            self._forget()  # the days are others, or a file was removed or shortened
        for path, size_bytes in files.items():
            if size_bytes > self._offsets.get(path, 0):
                self._read(path)

    def _read(self, path: Path) -> None:
        for offset, call in self._ledger.calls(path, self._offsets.get(path, 0)):
            if call is not None:
                self._add(call)
            self._offsets[path] = offset

    def _add(self, call: ModelCall) -> None:
        cells = self._days.setdefault(local_day(call.at, self._zone), {})
        cells.setdefault((call.role, call.model), Sum()).add(call)
        if call.session_key is not None:
            self._sessions.setdefault(call.session_key, Sum()).add(call)

    def _forget(self) -> None:
        self._offsets: dict[Path, int] = {}
        self._days: dict[date, dict[tuple[str, str], Sum]] = {}
        self._sessions: dict[str, Sum] = {}
        for call in self._unwritten:
            self._add(call)


def added(sums: Iterable[Sum]) -> Sum:
    """A new sum of all of them."""
    whole = Sum()
    for one in sums:
        for name in Sum.__slots__:
            setattr(whole, name, getattr(whole, name) + getattr(one, name))
    return whole
