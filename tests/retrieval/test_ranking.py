"""Each ranking formula with numbers worked out by hand."""

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
def test_cosine_is_clamped_to_a_score(cosine: float, score: float) -> None:
    assert similarity_score(cosine) == score


def test_nan_cosine_scores_zero() -> None:
    assert similarity_score(math.nan) == 0.0


def test_bm25_is_scaled_by_best_and_query_coverage() -> None:
    assert word_scores([4, 2, 1], 1.0) == close([1, 1 / 2, 1 / 4])
    assert word_scores([0.2, 0.05], 0.5) == close([0.5, 0.125])
    assert word_scores([4, 2], 0.0) == [0, 0]
    assert word_scores([], 1.0) == []
    assert word_scores([0, -1], 1.0) == [0, 0]


def test_weighted_score_is_mean_for_any_weight_sum() -> None:
    assert weighted(0.6, 0.5, 0.7, 0.3) == close(0.42 + 0.15)
    assert weighted(0.6, 0.5, 7, 3) == close(0.57)
    assert weighted(0.6, None, 0.7, 0.3) == close(0.42)
    assert weighted(None, 0.5, 0.7, 0.3) == close(0.15)
    assert weighted(0.6, 0.5, 0, 0) == 0


def test_rrf_is_relative_to_first_place_in_every_ranking() -> None:
    scores = reciprocal_ranks([[10, 20], [20, 30]])
    assert scores == {
        10: close((1 / 61) / (2 / 61)),
        20: close((1 / 62 + 1 / 61) / (2 / 61)),
        30: close((1 / 62) / (2 / 61)),
    }
    assert reciprocal_ranks([[7]]) == {7: 1.0}
    assert reciprocal_ranks([]) == {}


@pytest.mark.parametrize(("age", "factor"), [(0, 1.0), (7, 0.5), (14, 0.25), (3.5 * 2, 0.5), (21, 0.125)])
def test_score_halves_per_half_life(age: float, factor: float) -> None:
    assert recency(TODAY - timedelta(days=age), TODAY, 7) == close(factor)


def test_recency_never_falls_below_floor() -> None:
    assert recency(TODAY - timedelta(days=7), TODAY, 7, floor=0.8) == close(0.9)
    assert recency(date(1990, 1, 1), TODAY, 7, floor=0.8) == close(0.8)


def test_undated_text_does_not_age_and_future_dates_are_today() -> None:
    assert recency(None, TODAY, 7) == 1
    assert recency(TODAY + timedelta(days=400), TODAY, 7) == 1


def test_repetition_yields_to_new_information() -> None:
    alike = [[1, 0.9, 0.1], [0.9, 1, 0.1], [0.1, 0.1, 1]]
    # 0.7·0.8 − 0.3·0.9 = 0.29 is less than 0.7·0.6 − 0.3·0.1 = 0.39.
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=0.7) == [0, 2]
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=1.0) == [0, 1]
    # 0.9·0.8 − 0.1·0.9 = 0.63 is more than 0.9·0.6 − 0.1·0.1 = 0.53.
    assert maximal_marginal_relevance([0.9, 0.8, 0.6], alike, 2, relevance_share=0.9) == [0, 1]


def test_near_duplicates_are_never_returned_together() -> None:
    alike = [[1, 0.96], [0.96, 1]]
    assert maximal_marginal_relevance([0.9, 0.9], alike, 2, relevance_share=1.0) == [0]
    assert maximal_marginal_relevance([0.9, 0.9], [[1, 0.95], [0.95, 1]], 2, relevance_share=1.0) == [0, 1]


def test_similarity_is_cosine_for_any_vector_length() -> None:
    one, other, third = (a_candidate(vector=vector) for vector in ([2, 0], [1, 1], [-1, 0]))
    assert pairwise_similarity([one, other, third]) == [
        [close(1), pytest.approx(math.sqrt(0.5), abs=1e-6), close(0)],
        [pytest.approx(math.sqrt(0.5), abs=1e-6), pytest.approx(1, abs=1e-6), close(0)],
        [close(0), close(0), close(1)],
    ]


def test_without_vector_similarity_is_share_of_common_words() -> None:
    plain, vector = a_candidate(text="The cat sat"), a_candidate(text="the cat ran off", vector=[1.0, 0.0])
    assert word_overlap(frozenset("ab"), frozenset("bc")) == close(1 / 3)
    assert pairwise_similarity([plain, vector]) == [[1, close(2 / 5)], [close(2 / 5), close(1)]]
    assert pairwise_similarity([]) == []


def test_invalid_vector_is_similar_to_nothing() -> None:
    broken, zero, fine = (a_candidate(vector=vector) for vector in ([math.nan, 1.0], [0.0, 0.0], [1.0, 0.0]))
    for row in pairwise_similarity([broken, zero, fine]):
        assert all(0 <= value <= 1 for value in row)
