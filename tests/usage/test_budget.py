"""What a budget counts, whom it stops and what it says."""

from datetime import UTC, datetime

import pytest

from onyx_jupyter.errors import ModelError
from onyx_jupyter.usage.budget import BudgetLimits, budget_states, check_budget, warning
from onyx_jupyter.usage.totals import Sum, sum_of
from tests.usage.calls import call

MIDNIGHT = datetime(2026, 3, 15, tzinfo=UTC)
SPENT = sum_of([call((800, 200), 5.0)])


def stops(limits: BudgetLimits, terms: str, day: Sum = SPENT, session: Sum | None = SPENT) -> str | None:
    try:
        check_budget(budget_states(limits, day, session, MIDNIGHT), terms)
    except ModelError as error:
        return f"{error.code}: {error} {error.hint}"
    return None


@pytest.mark.parametrize("terms", ["paid", "plan", "free"])
def test_without_limits_nothing_is_stopped(terms):
    assert stops(BudgetLimits(), terms) is None


@pytest.mark.parametrize(
    ("limits", "stopped"),
    [
        (BudgetLimits(day_usd=5), {"paid"}),
        (BudgetLimits(day_usd=5.01), set()),
        (BudgetLimits(day_usd=0), {"paid"}),
        (BudgetLimits(session_usd=1), {"paid"}),
        (BudgetLimits(day_tokens=1000), {"paid", "plan"}),
        (BudgetLimits(day_tokens=1001), set()),
        (BudgetLimits(session_tokens=0), {"paid", "plan"}),
    ],
)
def test_a_free_model_is_never_stopped_and_a_subscription_only_by_tokens(limits, stopped):
    assert {terms for terms in ("paid", "plan", "free") if stops(limits, terms)} == stopped


def test_zero_stops_the_first_call():
    assert stops(BudgetLimits(day_usd=0), "paid", Sum(), None)
    assert stops(BudgetLimits(session_tokens=0), "paid", Sum(), Sum())


def test_calls_of_unknown_price_and_of_free_models_use_up_no_dollars_and_free_ones_no_tokens():
    unpriced, free = sum_of([call((800, 200), None)]), sum_of([call((800, 200), None, terms="free")])
    assert stops(BudgetLimits(day_usd=0.01), "paid", unpriced) is None
    assert stops(BudgetLimits(day_tokens=1000), "paid", unpriced)
    assert stops(BudgetLimits(day_tokens=1), "paid", free) is None
    assert [one.unpriced_calls for one in budget_states(BudgetLimits(day_usd=1), unpriced, None, MIDNIGHT)] == [1]


def test_the_words_say_which_budget_how_much_until_when_and_what_to_do():
    day = stops(BudgetLimits(day_usd=5), "paid")
    assert day.startswith("budget: Today's budget is used up: $5.00 of $5.00. ")
    assert "from 2026-03-15 00:00" in day
    assert "`security.budget.dayUsd`" in day
    assert "a model that runs on this machine" in day
    session = stops(BudgetLimits(session_tokens=1000), "paid")
    assert "This conversation's budget is used up: 1,000 of 1,000 tokens." in session
    assert "start a new conversation" in session
    assert "Paid models are turned off: `security.budget.dayUsd` is 0." in stops(BudgetLimits(day_usd=0), "paid")


@pytest.mark.parametrize(("limit", "is_near"), [(6.25, True), (6.26, False), (5, True)])
def test_eighty_percent_is_near(limit, is_near):
    (state,) = budget_states(BudgetLimits(day_usd=limit), SPENT, None, MIDNIGHT)
    assert state.is_near is is_near


def test_a_warning_says_how_much_and_what_follows():
    (state,) = budget_states(BudgetLimits(day_usd=6.25), SPENT, None, MIDNIGHT)
    assert state.percent == 80
    assert warning(state) == (
        "Today's budget is nearly used up: $5.00 of $6.25. At the limit, Onyx stops using paid models until "
        "2026-03-15 00:00."
    )
