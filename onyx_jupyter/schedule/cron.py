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
    from cronsim import CronSim

    local = after.astimezone(check_zone(zone_name))
    if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset():
        # Within an hour that the clocks repeat, CronSim has to see the first of the two, or it takes the second as new.
        local = (after - _REPEATED).astimezone(local.tzinfo)
    for found in CronSim(_fields(expression), local):
        moment: datetime = found.astimezone(UTC)
        if moment > after:
            return moment
    return None


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
