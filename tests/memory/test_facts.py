"""The formulas of facts, worked out by hand, and which facts are alike."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from onyx_jupyter.memory.fact_lines import compact, fact_chunks, read_facts, with_states
from onyx_jupyter.memory.fact_similarity import compare_facts, tokenize_fact
from onyx_jupyter.memory.facts import Fact, confidence_at, is_expired, most_confident, reinforced, superseded

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def fact(name: str = "f1", confidence: float = 1.0, at: datetime = BEGIN, text: str = "Likes tea") -> Fact:
    return Fact(name, text, "general", confidence, at, at, at)


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (0, 1.0),
        (6.999, 1.0),
        (7, 0.95),  # 1 · 0.95
        (13.9, 0.95),
        (14, 0.9025),  # 1 · 0.95 · 0.95
        (70, 0.5987),  # 0.95 to the tenth: 0.598737
        (161, 0.3074),  # to the twenty-third: 0.307357
        (168, 0.2920),  # to the twenty-fourth: 0.291989
        (-400, 1.0),  # a clock that was put back
    ],
)
def test_confidence_decays_to_95_percent_per_week_without_repetition(days: float, expected: float) -> None:
    assert confidence_at(fact(), BEGIN + timedelta(days=days)) == pytest.approx(expected, abs=5e-5)


def test_repetition_adds_a_tenth_of_remaining_confidence_up_to_one() -> None:
    after = reinforced(fact(), BEGIN + timedelta(days=14))
    assert after.confidence == 1.0  # 0.9025 + 0.1, capped
    weak = reinforced(fact(confidence=0.5), BEGIN + timedelta(days=7))
    assert weak.confidence == pytest.approx(0.575)  # 0.5 · 0.95 + 0.1
    assert weak.reinforced_at == BEGIN + timedelta(days=7)
    assert confidence_at(weak, BEGIN + timedelta(days=13)) == pytest.approx(0.575)
    assert confidence_at(weak, BEGIN + timedelta(days=14)) == pytest.approx(0.54625)


@pytest.mark.parametrize(
    ("confidence", "days", "goes"),
    [(1.0, 167, False), (1.0, 168, True), (0.2, 29, False), (0.2, 30, False), (0.2, 31, True), (0.3, 0, False)],
)
def test_only_old_uncertain_facts_are_removed(confidence: float, days: int, goes: bool) -> None:
    assert is_expired(fact(confidence=confidence), BEGIN + timedelta(days=days)) is goes


def test_most_confident_then_most_recent_come_first_and_ended_never() -> None:
    now = BEGIN + timedelta(days=10)
    facts = [
        fact("f1", at=BEGIN),  # 0.95
        fact("f2", at=BEGIN + timedelta(days=5)),  # 1
        fact("f3", at=BEGIN + timedelta(days=6)),  # 1, told later
        superseded(fact("f4", at=now), "f5", now),
        fact("f10", at=BEGIN),
    ]
    assert [one.id for one in most_confident(facts, now)] == ["f3", "f2", "f1", "f10"]
    assert [one.id for one in most_confident(facts, now, 2)] == ["f3", "f2"]


def test_ended_fact_keeps_interval_of_validity() -> None:
    ended = superseded(fact(), "f2", BEGIN + timedelta(days=3))
    assert (ended.valid_from, ended.valid_until, ended.superseded_by) == (BEGIN, BEGIN + timedelta(days=3), "f2")
    assert superseded(fact(), "f2", BEGIN - timedelta(days=3)).valid_until == BEGIN, "never before it began"


@pytest.mark.parametrize(
    ("older", "newer", "close", "expected"),
    [
        ("The user likes tea.", "Likes TEA", False, "same"),
        ("Café in Zürich", "cafe in zurich!", False, "same"),
        ("The deadline is 3 March", "The deadline is 5 March", False, "changed"),
        ("Likes tea", "Does not like tea", False, "changed"),
        ("Likes tea", "Doesn't like tea", False, "changed"),
        ("Likes tea", "Enjoys drinking tea", False, None),
        ("Likes tea", "Enjoys tea", True, "same"),
        ("Likes tea", "Enjoys drinking tea", True, "changed"),
        ("Enjoys drinking tea", "Dislikes drinking tea", True, "changed"),
        ("Has two cats", "Has 2 cats", True, "same"),
        ("Prefers tabs over spaces", "Prefers spaces over tabs", True, "changed"),
        ("Ada is my manager", "My manager is Ada", True, "same"),
        ("Meets Anna on Monday", "Meets Bob on Monday", True, None),
        ("喜欢喝茶", "喜欢喝茶", False, "same"),
        ("Prefers the light theme", "Prefers the dark theme", True, "changed"),
        ("Prefers green tea", "Prefers tea", True, "changed"),
        ("Likes green tea", "Likes black tea", True, None),
        ("The deadline is in March", "The deadline is in May", False, "changed"),
        ("La réunion est lundi", "La réunion est mardi", False, "changed"),
        ("May be late", "May be late", False, "same"),
        ("Likes tea", "No longer likes tea", False, "changed"),
        ("Likes tea", "Doesn't like tea any longer", False, "changed"),
        ("Likes tea", "Hates tea", False, "changed"),
        ("Aime le café", "N'aime pas le café", True, "changed"),
        ("Mag Kaffee", "Mag nicht mehr Kaffee", False, "changed"),
        ("Is married", "Was married", False, "changed"),
        ("Writes C", "Writes C++", False, "changed"),
        ("Costs are < 5", "Costs are > 5", False, "changed"),
        ("The offset is 5", "The offset is -5", False, "changed"),
        ("Deadline is 5 March", "Deadline is March", False, "changed"),
        ("Scale goes from 1 to 5", "Scale goes from 5 to 1", False, "changed"),
        ("The user's mother lives in Oslo", "The user's father lives in Oslo", True, None),
        ("Eats meat", "Eats hardly any meat", True, "changed"),
        ("Das Team trifft sich", "Das Team trifft sich selten", True, "changed"),
        ("On Monday the team meets", "The team meets on Monday", True, "same"),
        ("The baseline beats the model", "The model beats the baseline", True, "changed"),
        ("Column B comes from column C", "Column C comes from column B", True, "changed"),
        ("Anna is my manager", "I am Anna's manager", False, "changed"),
        ("My manager is Anna", "I am the manager of Anna", True, "changed"),
        ("I manage Anna", "Anna manages me", True, "changed"),
        ("Likes coffee but not tea", "Doesn't like coffee but tea", False, "changed"),
        ("Has two cats and a dog", "Has a cat and two dogs", False, "changed"),
        ("Here on Monday, there on Tuesday", "On Monday there, on Tuesday here", True, "changed"),
        ("Ada on deck, Bob on shore", "On deck Bob, on shore Ada", True, "changed"),
        ("N'aime pas le café", "N'aime jamais le café", False, "same"),
    ],
)
def test_whether_two_facts_say_the_same(older: str, newer: str, close: bool, expected: str | None) -> None:
    assert compare_facts(tokenize_fact(older), tokenize_fact(newer), close=close) == expected


def test_unknown_lines_survive() -> None:
    told = with_states("", read_facts(""), [fact("f1"), fact("f2", text="Lives in Oslo")])
    by_hand = told.replace('"category":"general"', '"mood":"good","category":"general"', 1)
    torn = by_hand + '{"kind":"note of another program"}\nno json at all\n{"id":"f3","fact":'
    found = read_facts(torn)
    assert [one.text for one in found.facts.values()] == ["Likes tea", "Lives in Oslo"]
    changed = with_states(torn, found, [replace(found.facts["f1"], confidence=0.5)])
    assert changed.startswith(torn), "only ever added to"
    small = compact(read_facts(changed), ["f2"])
    after = read_facts(small)
    assert [(one.id, one.confidence) for one in after.facts.values()] == [("f1", 0.5)]
    assert after.raw["f1"]["mood"] == "good"
    assert '{"kind":"note of another program"}\nno json at all\n{"id":"f3","fact":' in small
    assert after.last_number == 2, "an id is never given twice"


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ('{"id":"f1","fact":"x","created":"2026-01-01T00:00:00Z","confidence":7}', 1.0),
        ('{"id":"f1","fact":"x","created":"2026-01-01","confidence":-1}', 0.0),
        ('{"id":"f1","fact":"x","created":"2026-01-01","confidence":NaN}', 0.0),
        ('{"id":"f1","fact":"x","created":"2026-01-01"}', 1.0),
        ('{"id":"f1","fact":"x","created":"yesterday"}', None),
        ('{"id":"a\\nb","fact":"x","created":"2026-01-01"}', None),
        ('{"id":"f1","fact":"  ","created":"2026-01-01"}', None),
    ],
)
def test_hand_edited_values_are_clamped(line: str, confidence: float | None) -> None:
    found = list(read_facts(line).facts.values())
    assert [one.confidence for one in found] == ([] if confidence is None else [confidence])


def test_each_current_fact_is_searchable_at_its_line() -> None:
    first = with_states("", read_facts(""), [fact("f1"), replace(fact("f2", text="Uses pandas"), category="tools")])
    text = with_states(first, read_facts(first), [superseded(fact("f1"), "f3", BEGIN), fact("f3", text="Likes coffee")])
    assert [(one.heading, one.text, one.context, one.start_line, one.end_line) for one in fact_chunks(text)] == [
        ("f2", "Uses pandas", "tools", 2, 2),
        ("f3", "Likes coffee", "", 4, 4),
    ]
