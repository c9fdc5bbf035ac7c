"""When a job is due: its planned times, always as moments in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from onyx_jupyter.schedule.cron import next_cron
from onyx_jupyter.schedule.jobs import At, Cron, Every

MAX_COUNTED = 100
# A job of every minute has two times in the first one, one of every hour two in the second, and so on.
_WINDOWS = tuple(timedelta(minutes=minutes) for minutes in (2, 120, 2 * 1440, 62 * 1440, 1000 * 1440))


def next_time(schedule: At | Every | Cron, after: datetime) -> datetime | None:
    """The first planned time after that moment; None if there is no more."""
    match schedule:
        case At(at=at):
            return at.astimezone(UTC) if at > after else None
        case Every():
            return _of_every(schedule, after, 1)
        case Cron(cron=cron, tz=tz):
            return next_cron(cron, tz, after)


def last_time(schedule: At | Every | Cron, after: datetime, until: datetime) -> tuple[datetime | None, int]:
    """The newest planned time in (after, until], and how many there are, counted up to MAX_COUNTED."""
    if isinstance(schedule, Every):
        first, newest = _of_every(schedule, after, 1), _of_every(schedule, until, 0)
        if newest is None or first is None or newest < first:
            return None, 0
        return newest, min((newest - first) // timedelta(milliseconds=schedule.every_ms) + 1, MAX_COUNTED)
    moment, newest, count = next_time(schedule, after), after, 0
    while moment is not None and moment <= until and count < MAX_COUNTED:
        newest, count = moment, count + 1
        moment = next_time(schedule, moment)
    if count == 0:
        return None, 0
    return _newest_before(schedule, newest, until), count


def _newest_before(schedule: At | Cron, known: datetime, until: datetime) -> datetime:
    """The newest planned time up to `until`, given one of them: looks back from there, further and further."""
    for window in _WINDOWS:
        moment = next_time(schedule, max(known, until - window))
        if moment is not None and moment <= until:
            break
    while moment is not None and moment <= until:
        known, moment = moment, next_time(schedule, moment)
    return known


def _of_every(schedule: Every, moment: datetime, ahead: int) -> datetime | None:
    """The newest planned time up to that moment (`ahead` 0), or the first one after it (1); None before the first."""
    step = timedelta(milliseconds=schedule.every_ms)
    anchor = schedule.anchor.astimezone(UTC)  # arithmetic of one zone is that of its clocks, and loses an hour
    count = max((moment - anchor) // step + ahead, ahead)
    return anchor + count * step if count > 0 else None
