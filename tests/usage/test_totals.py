"""Totals are the sums of the ledger's lines, whichever server wrote them, and each line is read once."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.totals import Totals, end_of_day, local_day
from tests.usage.calls import NOON, call

DAY = date(2026, 3, 14)
BERLIN = ZoneInfo("Europe/Berlin")


def test_a_day_is_summed_by_role_and_model_and_a_conversation_over_all_days(tmp_path):
    ledger, totals = Ledger(tmp_path), Totals(Ledger(tmp_path))
    ledger.append(call((10, 2), 0.5))
    ledger.append(call((20, 3), 0.25, role="consolidation"))
    ledger.append(call((1, 1), 0.1, at=NOON.replace(day=15)))
    cells = totals.since(DAY, UTC)[DAY]
    assert {cell: one.input_tokens for cell, one in cells.items()} == {
        ("default", "openai/gpt-5"): 10,
        ("consolidation", "openai/gpt-5"): 20,
    }
    assert totals.of_day(DAY, UTC).cost_usd == pytest.approx(0.75)
    assert totals.of_session("s1").cost_usd == pytest.approx(0.85)
    assert list(totals.since(date(2026, 3, 15), UTC)) == [date(2026, 3, 15)]


def test_what_has_no_known_price_is_counted_beside_the_cost(tmp_path):
    ledger, totals = Ledger(tmp_path), Totals(Ledger(tmp_path))
    for terms, price in (("paid", 0.5), ("paid", None), ("plan", None), ("free", None)):
        ledger.append(call((10, 2), price, terms=terms))
    day = totals.of_day(DAY, UTC)
    assert (day.calls, day.cost_usd, day.unpriced_calls, day.plan_calls, day.free_calls) == (4, 0.5, 1, 1, 1)
    assert (day.input_tokens, day.budget_tokens) == (40, 36)


def test_what_another_server_appends_is_added_and_a_torn_or_damaged_line_is_skipped(tmp_path):
    ledger, totals = Ledger(tmp_path), Totals(Ledger(tmp_path))
    ledger.append(call())
    assert totals.of_day(DAY, UTC).calls == 1
    file = tmp_path / "2026-03.jsonl"
    with file.open("ab") as other:
        other.write(b'{"v":1,"ts":"2026-03-14T1')  # killed in the middle
    assert totals.of_day(DAY, UTC).calls == 1
    Ledger(tmp_path).append(call())
    assert totals.of_day(DAY, UTC).calls == 2
    file.write_bytes(file.read_bytes() + b"not JSON\n[]\n")
    assert totals.of_day(DAY, UTC).calls == 2


@pytest.mark.parametrize(
    "wrong", ['"ts":"0001-01-01T00:00:00Z"', '"ts":"2026-03-14T12:00:00Z","costUsd":1' + "0" * 400]
)
def test_a_line_that_nobody_can_have_written_does_not_keep_the_rest_from_being_counted(tmp_path, wrong):
    ledger, totals = Ledger(tmp_path), Totals(Ledger(tmp_path))
    with (tmp_path / "2026-03.jsonl").open("w") as file:
        file.write(f'{{"model":"a/b","role":"default",{wrong}}}\n')
    ledger.append(call())
    assert totals.of_day(DAY, ZoneInfo("America/Los_Angeles")).calls == 1


def test_nothing_is_read_twice(tmp_path):
    class Counting(Ledger):
        lines = 0

        def calls(self, *args, **kwargs):
            for one in super().calls(*args, **kwargs):
                self.lines += 1
                yield one

    ledger = Counting(tmp_path)
    totals = Totals(ledger)
    for _ in range(20):
        ledger.append(call())
        assert totals.of_session("s1").calls == totals.of_day(DAY, UTC).calls
    assert ledger.lines == 20


def test_after_a_file_was_removed_the_rest_is_read_again(tmp_path):
    ledger, totals = Ledger(tmp_path), Totals(Ledger(tmp_path))
    ledger.append(call())
    ledger.append(call(at=NOON.replace(month=4)))
    assert totals.of_session("s1").calls == 2
    (tmp_path / "2026-03.jsonl").unlink()
    assert totals.of_session("s1").calls == 1


def test_a_day_is_that_of_the_zone_also_of_one_that_was_chosen_later(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append(call(at=datetime(2026, 3, 14, 23, 30, tzinfo=UTC)))
    totals = Totals(ledger)
    totals.add_unwritten(call(at=datetime(2026, 3, 14, 23, 45, tzinfo=UTC)))
    assert totals.of_day(DAY, UTC).calls == 2
    assert (totals.of_day(DAY, BERLIN).calls, totals.of_day(date(2026, 3, 15), BERLIN).calls) == (0, 2)
    assert totals.of_session("s1").calls == 2
    assert list(totals.since(DAY, UTC)) == [DAY]


@pytest.mark.parametrize(
    ("zone", "begins", "ends"),
    [
        ("Europe/Berlin", "2026-03-14T23:00Z", "2026-03-15T23:00Z"),
        ("Europe/Berlin", "2026-03-28T23:00Z", "2026-03-29T22:00Z"),  # 23 hours: the clocks go forward
        ("Europe/Berlin", "2026-10-24T22:00Z", "2026-10-25T23:00Z"),  # 25 hours: they go back
        ("America/Santiago", "2026-09-05T04:00Z", "2026-09-06T04:00Z"),  # no midnight follows: 24:00 is 01:00
        ("America/Havana", "2026-11-01T04:00Z", "2026-11-02T05:00Z"),  # that midnight came twice
        ("Asia/Kolkata", "2026-03-14T18:30Z", "2026-03-15T18:30Z"),
    ],
)
def test_a_day_ends_at_the_next_local_midnight_however_long_it_is(zone, begins, ends):
    first, end = datetime.fromisoformat(begins), datetime.fromisoformat(ends)
    there = ZoneInfo(zone)
    for moment in (first, first + (end - first) / 2, end - timedelta(seconds=1)):
        assert end_of_day(moment, there) == end
        assert local_day(moment, there) == local_day(first, there)
    assert local_day(first - timedelta(seconds=1), there) < local_day(first, there) < local_day(end, there)


def test_a_home_without_a_ledger_has_no_usage(tmp_path):
    assert Totals(Ledger(tmp_path / "usage")).of_day(DAY, UTC).calls == 0
