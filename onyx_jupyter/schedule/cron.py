"""Cron expressions and time zones: checks them, and finds the next time.

Source: cron(8) as Debian has it. When clocks go forward, a job at a fixed time that does not exist runs once, right
after the gap; when they go back, it runs once, the first time. Jobs of every hour follow real time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

NAMED = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FIELDS = 5
_REPEATED = timedelta(hours=3)
_DAY, _HOUR, _INSTANT = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)


def check_cron(expression: str) -> None:
    """Raises: ValueError, in words for the user."""
    from cronsim import CronSim, CronSimError

    try:
        CronSim(_fields(expression), datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ValueError(f"{expression!r} is not a cron expression that ever comes due: {error}") from error


def check_zone(name: str) -> ZoneInfo:
    """Raises: ValueError, in words for the user."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError) as error:  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"{name!r} is not a time zone. Examples: Europe/Vienna, America/New_York, UTC") from error


def next_cron(expression: str, zone_name: str, after: datetime) -> datetime | None:
    """The first time after that moment, in UTC; None if there is none within the next decades."""
    zone = check_zone(zone_name)
    local = after.astimezone(zone)
    if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset():
        # Within an hour that the clocks repeat, CronSim has to see the first of the two, or it takes the second as new.
        local = (after - _REPEATED).astimezone(zone)
    first = _first(expression, local, after)
    if first is not None and (hour := _hour_after_odd_change(first, zone)) is not None:
        # CronSim counts on by whole hours: after a change of half an hour it comes to each of them at half past.
        second = _first(expression, (hour - _INSTANT).astimezone(zone), after)
        first = min(first, second or first)
    return first


def _first(expression: str, start: datetime, after: datetime) -> datetime | None:
    from cronsim import CronSim

    moments = (found.astimezone(UTC) for found in CronSim(_fields(expression), start))
    return next((moment for moment in moments if moment > after), None)


def _hour_after_odd_change(moment: datetime, zone: ZoneInfo) -> datetime | None:
    """The first whole hour after the clocks changed by a part of one, if they did in the day before that moment."""
    start, end = moment - _DAY, moment
    if not (_offset(end, zone) - _offset(start, zone)) % _HOUR:
        return None
    while end - start > _INSTANT:
        middle = start + (end - start) / 2
        start, end = (middle, end) if _offset(middle, zone) == _offset(start, zone) else (start, middle)
    local = end.astimezone(zone)
    return end + (_HOUR - timedelta(minutes=local.minute, seconds=local.second)) % _HOUR


def explain(expression: str) -> str:
    """In English, such as “At 02:30 on Monday through Friday”."""
    from cronsim import CronSim

    return str(CronSim(_fields(expression), datetime(2026, 1, 1, tzinfo=UTC)).explain())


def _fields(expression: str) -> str:
    text = expression.strip()
    if text.startswith("@"):
        if text.casefold() not in NAMED:
            raise ValueError(f"{expression!r} is not known. There are: {', '.join(NAMED)}")
        return NAMED[text.casefold()]
    if len(text.split()) != _FIELDS:
        raise ValueError(
            f"{expression!r} needs five fields: minute, hour, day, month, weekday. For seconds, use `every`"
        )
    return text


def _offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()
