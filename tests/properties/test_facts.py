"""Facts over any history: bounded confidence, stable identity, deterministic order."""

import asyncio
import json
import random
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.memory.fact_lines import compact, read_facts, with_states
from onyx_jupyter.memory.fact_similarity import compare_facts, tokenize_fact
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.memory.facts import Fact, confidence_at, is_expired, most_confident, reinforced
from onyx_jupyter.memory.files import MemoryFiles

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
# Forwards and backwards, up to decades.
jumps = st.floats(-10_000, 10_000).map(lambda days: timedelta(days=days))
confidences = st.one_of(st.floats(), st.floats(0, 1))


class JumpingClock:
    """One that is put forwards and back."""

    moment = BEGIN

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return 0.0


def made(number: int, confidence: float, age: timedelta, told: timedelta) -> Fact:
    return Fact(f"f{number}", f"Fact {number}", "general", confidence, BEGIN + age, BEGIN + told, BEGIN + age)


facts = st.lists(st.tuples(confidences, jumps, jumps), max_size=20).map(
    lambda rows: [made(number, *row) for number, row in enumerate(rows)]
)


@given(confidences, st.lists(jumps, max_size=30))
def test_confidence_stays_within_0_and_1_whatever_the_clock_does(start: float, moments: list[timedelta]) -> None:
    fact = made(1, start, timedelta(), timedelta())
    for jump in moments:
        moment = BEGIN + jump
        assert 0 <= confidence_at(fact, moment) <= 1
        before, last = confidence_at(fact, moment), fact.reinforced_at
        fact = reinforced(fact, moment)
        assert before <= fact.confidence <= 1
        assert fact.reinforced_at >= last, "a clock that jumps back makes nothing older"


@given(facts, jumps, st.randoms(use_true_random=False))
def test_order_depends_only_on_facts(known: list[Fact], jump: timedelta, chance: random.Random) -> None:
    mixed = list(known)
    chance.shuffle(mixed)
    moment = BEGIN + jump
    chosen = most_confident(known, moment, 15)
    assert chosen == most_confident(mixed, moment, 15)
    assert len(chosen) <= 15
    assert not [fact for fact in chosen if is_expired(fact, moment)]
    sure = [confidence_at(fact, moment) for fact in chosen]
    assert sure == sorted(sure, reverse=True)


@given(
    st.lists(st.sampled_from(["Likes tea", "likes TEA.", "Lives in Oslo", "Owns 2 boats"]), min_size=1, max_size=8),
    st.lists(st.floats(-20, 20), min_size=8, max_size=8),
)
def test_repetition_is_always_the_same_fact(told: list[str], days: list[float]) -> None:
    async def tell() -> None:
        with tempfile.TemporaryDirectory() as folder:
            clock = JumpingClock()
            store = FactStore(MemoryFiles(Path(folder), clock), clock)
            given_ids: dict[str, str] = {}
            for text, jump in zip(told, days, strict=False):
                kept = await store.remember(text)
                name = text.casefold().rstrip(".")
                assert kept.outcome == ("reinforced" if name in given_ids else "new")
                assert given_ids.setdefault(name, kept.fact.id) == kept.fact.id
                assert 0 <= kept.fact.confidence <= 1
                clock.moment += timedelta(days=jump)
            assert len(await store.all()) == len(given_ids)

    asyncio.run(tell())


some_words = st.lists(
    st.sampled_from(["model", "beats", "Ada", "Bob", "user", "not", "tea", "2", "Monday", "on", "and", "likes", "kaum"])
    | st.text("abcdeéß", min_size=2, max_size=6),
    min_size=1,
    max_size=7,
)
one_word_more = st.one_of(
    st.sampled_from(["nobody", "rarely", "only", "kaum", "guère", "never", "not", "3", "Friday", "<", "Carl"]),
    st.text("qxyz", min_size=3, max_size=6),
)


@given(some_words, one_word_more, st.integers(0, 7))
def test_extra_word_is_never_the_same_fact(words: list[str], more: str, place: int) -> None:
    older, newer = " ".join(words), " ".join([*words[:place], more, *words[place:]])
    for one, other in ((older, newer), (newer, older)):
        assert compare_facts(tokenize_fact(one), tokenize_fact(other), close=True) != "same"


@given(some_words, st.randoms(use_true_random=False))
def test_equality_of_facts_is_symmetric(words: list[str], chance: random.Random) -> None:
    mixed = list(words)
    chance.shuffle(mixed)
    one, other = tokenize_fact(" ".join(words)), tokenize_fact(" ".join(mixed))
    assert compare_facts(one, one) == ("same" if one.words else None), "what is told again word for word"
    assert (compare_facts(one, other, close=True) == "same") == (compare_facts(other, one, close=True) == "same")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(
    ["id", "fact", "created", "confidence", "reinforced", "valid_until", "source", "last_number", "x"]
)
objects = st.dictionaries(keys, json_values, max_size=8)
sensible = st.builds(
    lambda name, text, more: {"id": name, "fact": text, "created": "2026-01-01T00:00:00Z", **more},
    st.sampled_from(["f1", "f2", "mine"]),
    st.text(min_size=1, max_size=20),
    st.dictionaries(st.sampled_from(["note", "mood"]), json_values, max_size=2),
)
lines = st.one_of(objects.map(json.dumps), sensible.map(json.dumps), st.text(max_size=30))


@given(st.lists(lines, max_size=12))
def test_any_file_content_is_read_and_compacted_without_loss(content: list[str]) -> None:
    text = "\n".join(content)
    found = read_facts(text)
    for fact in found.facts.values():
        assert 0 <= fact.confidence <= 1
    again = read_facts(compact(found))
    assert list(again.facts) == list(found.facts)
    assert list(again.others) == list(found.others)
    assert again.last_number == found.last_number
    for name, raw in found.raw.items():
        unknown = {key: value for key, value in raw.items() if key in ("note", "mood", "x")}
        assert repr({key: again.raw[name].get(key) for key in unknown}) == repr(unknown)
    assert with_states(text, found, []).startswith(text)
