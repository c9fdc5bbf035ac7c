"""Which part of a passage is shown, and which words of a query count."""

import pytest

from onyx_jupyter.retrieval.snippet import ELLIPSIS, coverage, hits, query_stems, significant_words, snippet

FILLER = "Nothing of note was said. " * 80


def test_stop_words_do_not_count_unless_alone() -> None:
    assert significant_words("When did the Caroline of ours go to the museum?") == "Caroline ours go museum"
    assert significant_words("Who is it?") == "Who is it?"
    assert significant_words("?!") == "?!"


def test_stem_matches_inflections_but_no_part_of_another_word() -> None:
    assert coverage("She was painting", query_stems("painted")) == 1.0
    assert coverage("Une crème brûlée", query_stems("CREME BRULEE")) == 1.0
    assert coverage("a concatenated string", query_stems("cat")) == 0.0
    assert coverage("the cat", query_stems("cat dog")) == 0.5
    assert coverage("数据分析", query_stems("分析数据")) == pytest.approx(2 / 3)
    assert coverage("anything", []) == 0.0


def test_match_position_is_right_after_any_characters() -> None:
    text = "İstanbul, ﬁrst Straße: CAFÉ, ĲSSEL 数据 café"
    places = [text.index(word) for word in ("CAFÉ", "数据", "café")]
    assert hits(text, query_stems("Café 数据")) == list(zip(places, ["cafe", "数据", "cafe"], strict=True))
    assert hits("painting a pain", ["pain", "paint"]) == [(0, "paint"), (11, "pain")]


def test_short_passage_is_shown_completely() -> None:
    assert snippet("  one\ntwo  ", query_stems("three")) == "one\ntwo"


@pytest.mark.parametrize("before", [0, 1, 40, 79])
def test_match_is_shown_anywhere_within_limit(before: int) -> None:
    text = FILLER[: 26 * before] + "The kitten sleeps. " + FILLER[26 * before :]
    shown = snippet(text, query_stems("kittens"), 200)
    assert "kitten sleeps" in shown
    assert len(shown) <= 200
    assert shown.startswith(ELLIPSIS) == (before > 1)
    assert shown.strip(ELLIPSIS) in text


def test_place_with_most_distinct_matches_is_shown() -> None:
    text = "cat cat cat. " + FILLER + "The cat and the budget. " + FILLER
    assert "cat and the budget" in snippet(text, query_stems("cat budget"), 200)


def test_without_match_beginning_is_shown() -> None:
    assert snippet("First. " + FILLER, query_stems("kitten"), 100).startswith("First.")
    assert snippet("x" * 5000, query_stems("kitten"), 100) == "x" * 98 + ELLIPSIS
