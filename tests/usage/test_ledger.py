"""Every model call is one line in its month's file, and what is not a call is skipped."""

import json
from datetime import UTC, datetime

import pytest

from onyx_jupyter.usage.ledger import Ledger
from onyx_jupyter.usage.model_call import call_from_json, call_to_json
from tests.usage.calls import NOON, call


def test_a_line_says_when_who_what_for_and_how_much(tmp_path):
    Ledger(tmp_path).append(call((1204, 312), 0.0041))
    (line,) = (tmp_path / "2026-03.jsonl").read_text().splitlines()
    assert json.loads(line) == {
        "v": 1,
        "ts": "2026-03-14T12:00:00.000Z",
        "model": "openai/gpt-5",
        "provider": "openai",
        "role": "default",
        "session": "s1",
        "run": "r1",
        "step": 1,
        "inputTokens": 1204,
        "outputTokens": 312,
        "cachedTokens": 0,
        "reasoningTokens": 0,
        "costUsd": 0.0041,
    }


@pytest.mark.parametrize(
    ("terms", "price", "cost"), [("paid", None, None), ("plan", 0.5, None), ("free", None, 0.0), ("paid", 0.5, 0.5)]
)
def test_an_unknown_price_and_a_subscription_are_null_and_only_a_local_model_costs_nothing(terms, price, cost):
    line = call_to_json(call(cost_usd=price, terms=terms))
    assert line["costUsd"] == cost
    assert (line["costUsd"] is None) == (cost is None)
    assert [name for name in ("plan", "free") if name in line] == [terms] * (terms != "paid")
    assert call_from_json(line) == call(cost_usd=price, terms=terms)


def test_months_are_those_of_utc(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append(call(at=datetime(2026, 3, 31, 23, 59, tzinfo=UTC)))
    ledger.append(call(at=datetime(2026, 4, 1, 0, 0, tzinfo=UTC)))
    assert [path.name for path in ledger.files()] == ["2026-03.jsonl", "2026-04.jsonl"]


def test_the_calls_of_a_conversation_are_found_in_all_months_in_order(tmp_path):
    ledger = Ledger(tmp_path)
    ledger.append(call(session="s1", run="r1"))
    ledger.append(call(session="s2", run="s1"))  # the text alone is not enough
    ledger.append(call(session="s1", run="r2", at=NOON.replace(month=4)))
    assert [one.run_id for one in ledger.calls_of("s1")] == ["r1", "r2"]


@pytest.mark.parametrize(
    "line",
    [
        {},
        {"ts": "yesterday", "model": "a/b", "role": "default"},
        {"ts": "2026-03-14T12:00:00", "model": "a/b", "role": "default"},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "inputTokens": -1},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "inputTokens": True},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "costUsd": "1"},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "costUsd": float("nan")},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "costUsd": 10**400},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "costUsd": 1e308},
        {"ts": "2026-03-14T12:00:00Z", "model": "a/b", "role": "default", "outputTokens": 10**400},
        {"ts": "9999-12-31T23:59:59Z", "model": "a/b", "role": "default"},
        {"ts": "0001-01-01T00:00:00Z", "model": "a/b", "role": "default"},
        {"ts": "2026-03-14T12:00:00Z", "model": 1, "role": "default"},
    ],
)
def test_a_line_that_is_no_call_is_none(line):
    assert call_from_json(line) is None
