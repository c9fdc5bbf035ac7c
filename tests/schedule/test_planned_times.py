"""When jobs come due, across time zones and changes of the clocks."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.schedule.jobs import At, Cron, Every
from onyx_jupyter.schedule.planned_times import MAX_COUNTED, last_time, next_time

BERLIN = ZoneInfo("Europe/Berlin")
SPRING, AUTUMN = datetime(2026, 3, 28, 12, tzinfo=BERLIN), datetime(2026, 10, 24, 12, tzinfo=BERLIN)


def times(cron: str, start: datetime, count: int, zone: str = "Europe/Berlin") -> list[str]:
    """The next times, each found afresh from the one before, as a server does."""
    schedule, moment, found = Cron(cron=cron, tz=zone), start, []
    for _ in range(count):
        following = next_time(schedule, moment)
        assert following is not None
        moment = following
        found.append(moment.astimezone(ZoneInfo(zone)).strftime("%d %H:%M %z"))
    return found


@pytest.mark.parametrize(
    ("cron", "start", "expected"),
    [
        ("30 2 * * *", SPRING, ["29 03:00 +0200", "30 02:30 +0200"]),
        ("30 2 * * *", AUTUMN, ["25 02:30 +0200", "26 02:30 +0100"]),
        ("30 */2 * * *", datetime(2026, 3, 28, 23, tzinfo=BERLIN), ["29 00:30 +0100", "29 04:30 +0200"]),
        ("* 2 * * *", datetime(2026, 3, 28, 2, 59, tzinfo=BERLIN), ["30 02:00 +0200"]),
        ("0 0 * * 1", SPRING, ["30 00:00 +0200", "06 00:00 +0200"]),  # Monday
        ("0 0 1 * 1", SPRING, ["30 00:00 +0200", "01 00:00 +0200", "06 00:00 +0200"]),  # either
        ("@daily", SPRING, ["29 00:00 +0100", "30 00:00 +0200"]),
    ],
)
def test_cron_follows_clocks(cron: str, start: datetime, expected: list[str]) -> None:
    assert times(cron, start, len(expected)) == expected


@pytest.mark.parametrize("day", [datetime(2026, 3, 29, tzinfo=BERLIN), datetime(2026, 10, 25, tzinfo=BERLIN)])
def test_half_hours_follow_real_time(day: datetime) -> None:
    schedule, moment = Cron(cron="*/30 * * * *", tz="Europe/Berlin"), day.astimezone(UTC)
    for _ in range(12):
        following = next_time(schedule, moment)
        assert following == moment + timedelta(minutes=30)
        moment = following


def test_fixed_time_in_repeated_hour_comes_once_wherever_one_looks_from() -> None:
    schedule = Cron(cron="30 2 * * *", tz="Europe/Berlin")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    moment = first - timedelta(hours=3)
    while moment < first + timedelta(hours=3):
        following = next_time(schedule, moment)
        assert following == (first if moment < first else datetime(2026, 10, 26, 1, 30, tzinfo=UTC)), moment
        moment += timedelta(minutes=7)


def test_every_counts_from_its_anchor_across_changes_of_clocks() -> None:
    schedule = Every(every_ms=3_600_000, anchor=datetime(2026, 10, 24, 12, 15, tzinfo=BERLIN))
    moment = schedule.anchor.astimezone(UTC)
    for count in range(1, 30):
        following = next_time(schedule, moment)
        assert following == schedule.anchor.astimezone(UTC) + timedelta(hours=count)
        moment = following


def test_at_comes_once() -> None:
    schedule = At(at=datetime(2026, 5, 1, 9, tzinfo=BERLIN))
    assert next_time(schedule, SPRING) == datetime(2026, 5, 1, 7, tzinfo=UTC)
    assert next_time(schedule, schedule.at) is None


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("0 0 30 2 *", "ever comes due"),
        ("61 * * * *", "not a cron expression"),
        ("* * * * * *", "five fields"),
        ("@reboot", "@daily"),
        ("", "five fields"),
    ],
)
def test_impossible_expression_is_refused_in_words(cron: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Cron(cron=cron, tz="UTC")


@pytest.mark.parametrize("zone", ["Europe/Wien", "", "../etc/passwd", "/etc/passwd"])
def test_unknown_zone_is_refused_in_words(zone: str) -> None:
    with pytest.raises(ValueError, match="not a time zone"):
        Cron(cron="@daily", tz=zone)


@given(
    every_ms=st.integers(1000, 10**9),
    start=st.integers(0, 10**7).map(lambda seconds: datetime(2026, 5, 1, tzinfo=UTC) + timedelta(seconds=seconds)),
    asleep_s=st.integers(0, 10**6),
)
def test_newest_time_and_count_agree_with_stepping(every_ms: int, start: datetime, asleep_s: int) -> None:
    schedule = Every(every_ms=every_ms, anchor=datetime(2026, 6, 1, tzinfo=UTC))
    until = start + timedelta(seconds=min(asleep_s, every_ms // 10))
    newest, count = last_time(schedule, start, until)
    stepped = []
    moment = next_time(schedule, start)
    while moment is not None and moment <= until:
        stepped.append(moment)
        moment = next_time(schedule, moment)
    assert (newest, count) == (stepped[-1] if stepped else None, len(stepped))


@pytest.mark.parametrize("cron", ["* * * * *", "17 * * * *", "5 4 * * *", "0 9 * * 1", "0 0 1 * *", "0 0 29 2 *"])
@pytest.mark.parametrize("asleep", [timedelta(minutes=3), timedelta(hours=5), timedelta(days=40), timedelta(days=3000)])
def test_newest_of_many_is_found_without_counting_all(cron: str, asleep: timedelta) -> None:
    schedule, start = Cron(cron=cron, tz="Europe/Berlin"), datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
    newest, count = last_time(schedule, start, start + asleep)
    if newest is None:
        following = next_time(schedule, start)
        assert count == 0
        assert following is not None
        assert following > start + asleep
    else:
        assert start < newest <= start + asleep
        assert 1 <= count <= MAX_COUNTED
        following = next_time(schedule, newest)
        assert following is not None
        assert following > start + asleep
