"""Each formula with numbers worked out by hand."""

import math
from datetime import date, timedelta

import pytest

from onyx_jupyter.retrieval.ranking import (
    maximal_marginal_relevance,
    pairwise_similarity,
    recency,
    reciprocal_ranks,
    similarity_score,
    weighted,
    word_overlap,
    word_scores,
)
from tests.retrieval.small_index import a_candidate

TODAY = date(2026, 1, 31)


def close(values: object) -> object:
    return pytest.approx(values, abs=1e-9)


@pytest.mark.parametrize(("cosine", "score"), [(1.0, 1.0), (0.4, 0.4), (0.0, 0.0), (-0.5, 0.0), (1.0000001, 1.0)])
def test_a_cosine_is_a_score_and_opposites_are_as_unlike_as_strangers(cosine: float, score: float) -> None:
    assert similarity_score(cosine) == score


def test_a_cosine_that_is_no_number_is_not_alike() -> None:
    assert similarity_score(math.nan) == 0.0


def test_bm25_keeps_its_proportions_and_the_best_is_worth_what_it_covers_of_the_query() -> None:
    assert word_scores([4, 2, 1], 1.0) == close([1, 1 / 2, 1 / 4])
    assert word_scores([0.2, 0.05], 0.5) == close([0.5, 0.125])
    assert word_scores([4, 2], 0.0) == [0, 0]
    assert word_scores([], 1.0) == []
    assert word_scores([0, -1], 1.0) == [0, 0]


def test_a_weighted_score_is_the_mean_by_weights_whatever_their_sum() -> None:
    assert weighted(0.6, 0.5, 0.7, 0.3) == close(0.42 + 0.15)
    assert weighted(0.6, 0.5, 7, 3) == close(0.57)
    assert weighted(0.6, None, 0.7, 0.3) == close(0.42)
    assert weighted(None, 0.5, 0.7, 0.3) == close(0.15)
    assert weighted(0.6, 0.5, 0, 0) == 0


def test_reciprocal_ranks_are_a_share_of_being_first_in_every_ranking() -> None:
    scores = reciprocal_ranks([[10, 20], [20, 30]])
    assert scores == {
        10: close((1 / 61) / (2 / 61)),
        20: close((1 / 62 + 1 / 61) / (2 / 61)),
        30: close((1 / 62) / (2 / 61)),
    }
    assert reciprocal_ranks([[7]]) == {7: 1.0}
    assert reciprocal_ranks([]) == {}


@pytest.mark.parametrize(("age", "factor"), [(0, 1.0), (7, 0.5), (14, 0.25), (3.5 * 2, 0.5), (21, 0.125)])
def test_after_each_half_life_half_is_left(age: float, factor: float) -> None:
    assert recency(TODAY - timedelta(days=age), TODAY, 7) == close(factor)


def test_a_floor_is_never_lost_by_age() -> None:
    assert recency(TODAY - timedelta(days=7), TODAY, 7, floor=0.8) == close(0.9)
    assert recency(date(1990, 1, 1), TODAY, 7, floor=0.8) == close(0.8)


def test_what_has_no_day_does_not_age_and_a_day_to_come_is_today() -> None:
    assert recency(None, TODAY, 7) == 1
    assert recency(TODAY + timedelta(days=400), TODAY, 7) == 1


def test_what_repeats_gives_way_to_what_says_something_new() -> None:
    alike = [[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]]
    # 0.7·0.8 − 0.3·0.9 = 0.29 is less than 0.7·0.6 − 0.3·0.1 = 0.39.
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=0.7) == [0, 2]
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=1.0) == [0, 1]
    # 0.9·0.8 − 0.1·0.9 = 0.63 is more than 0.9·0.6 − 0.1·0.1 = 0.53.
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=0.9) == [0, 1]


def test_what_is_almost_the_same_is_never_taken_twice() -> None:
    alike = [[1, 0.96], [0.96, 1]]
    assert maximal_marginal_relevance([0.9, 0.9], alike, 2, relevance_share=1.0) == [0]
    assert maximal_marginal_relevance([0.9, 0.9], [[1, 0.95], [0.95, 1]], 2, relevance_share=1.0) == [0, 1]


def test_likeness_is_the_cosine_of_vectors_of_any_length() -> None:
    one, other, third = (a_candidate(vector=vector) for vector in ([2, 0], [1, 1], [-1, 0]))
    assert pairwise_similarity([one, other, third]) == [
        [close(1), pytest.approx(math.sqrt(0.5), abs=1e-6), close(0)],
        [pytest.approx(math.sqrt(0.5), abs=1e-6), pytest.approx(1, abs=1e-6), close(0)],
        [close(0), close(0), close(1)],
    ]


def test_without_a_vector_likeness_is_the_share_of_common_words() -> None:
    plain, vector = a_candidate(text="The cat sat"), a_candidate(text="the cat ran off", vector=[1.0, 0.0])
    assert word_overlap(frozenset("ab"), frozenset("bc")) == close(1 / 3)
    assert pairwise_similarity([plain, vector]) == [[1, close(2 / 5)], [close(2 / 5), close(1)]]
    assert pairwise_similarity([]) == []


def test_a_vector_of_nonsense_is_like_nothing() -> None:
    broken, zero, fine = (a_candidate(vector=vector) for vector in ([math.nan, 1.0], [0.0, 0.0], [1.0, 0.0]))
    for row in pairwise_similarity([broken, zero, fine]):
        assert all(0 <= value <= 1 for value in row)
