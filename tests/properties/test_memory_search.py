"""Search results over any candidates: order and number, recency, diversity."""

from dataclasses import replace
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from onyx_jupyter.protocols.retrieval import Candidate
from onyx_jupyter.retrieval.ranking import pairwise_similarity, recency
from onyx_jupyter.retrieval.selection import Selection, select
from onyx_jupyter.retrieval.settings import SearchSettings
from tests.retrieval.small_index import a_candidate

TODAY = date(2026, 6, 1)
SHARES = st.floats(0, 1)
DAYS = st.none() | st.dates(date(2020, 1, 1), date(2027, 1, 1))
VECTORS = st.none() | st.lists(st.floats(-1, 1), min_size=3, max_size=3)
WORDS = st.lists(st.sampled_from(["cat", "dog", "sea", "budget", "onyx"]), min_size=1, max_size=5).map(" ".join)
SCORES = st.tuples(st.none() | st.floats(-1, 1), st.none() | st.floats(0, 40))
CANDIDATES = st.lists(
    st.builds(
        lambda number, text, line, day, vector, scores: a_candidate(
            f"{number}.md", text, lines=(line, line), day=day, vector=vector, similarity=scores[0], words=scores[1]
        ),
        st.integers(0, 5),
        WORDS,
        st.integers(1, 9),
        DAYS,
        VECTORS,
        SCORES,
    ),
    max_size=40,
)
SETTINGS = st.builds(
    SearchSettings,
    fusion=st.sampled_from(["weighted", "rrf"]),
    vector_weight=SHARES,
    text_weight=SHARES,
    half_life_days=st.floats(0.1, 1000),
    recency_floor=SHARES,
    mmr_lambda=SHARES,
)


def selected(
    candidates: list[Candidate], search: SearchSettings, *, limit: int = 6, min_score: float = 0.0
) -> Selection:
    return select(candidates, search, TODAY, limit=limit, min_score=min_score, stems=["cat", "sea"])


@given(CANDIDATES, SETTINGS, st.integers(1, 12), SHARES)
def test_results_are_sorted_by_score_within_limit(candidates, search, limit, min_score):
    """Property 11."""
    results = selected(candidates, search, limit=limit, min_score=min_score).results
    scores = [one.score for one in results]
    assert scores == sorted(scores, reverse=True)
    assert len(results) <= limit
    for one in results:
        parts = (one.score, one.relevance, one.vector_score, one.text_score, one.recency)
        assert all(part is None or 0 <= part <= 1 + 1e-9 for part in parts)


@given(CANDIDATES, SETTINGS, SHARES)
def test_word_matches_are_returned_even_without_relevant_results(candidates, search, min_score):
    selection = selected(candidates, search, min_score=min_score)
    if any(one.words is not None for one in candidates):
        assert selection.results
    if selection.below:
        assert all(one.candidate.words is not None for one in selection.results)
    else:
        assert all(one.relevance >= min_score for one in selection.results)


@given(
    WORDS,
    st.tuples(st.floats(0.01, 1), st.floats(0.01, 40)),
    SETTINGS.filter(lambda one: one.recency_floor < 0.99 and one.vector_weight > 0.01),
    st.integers(0, 300),
    st.integers(1, 300),
)
def test_newer_of_otherwise_equal_results_scores_higher(text, scores, search, age, older):
    """Property 12. Half-lives of a week or more; where a shorter one leaves nothing to tell, the newer still leads."""
    search = replace(search, half_life_days=max(7.0, search.half_life_days), fusion="weighted", mmr_lambda=1.0)
    new, old = (
        a_candidate(
            f"{days}.md", f"{text} {days}", day=TODAY - timedelta(days=days), similarity=scores[0], words=scores[1]
        )
        for days in (age, age + older)
    )
    one, other = selected([old, new], search).results
    assert (one.candidate.day, other.candidate.day) == (new.day, old.day)
    assert one.score > other.score


@given(DAYS, st.floats(0.1, 1000), SHARES)
def test_age_never_raises_score(day, half_life, floor):
    """Property 12, of a clock that jumps."""
    factor = recency(day, TODAY, half_life, floor)
    assert floor <= factor <= 1 + 1e-12
    if day is None or day >= TODAY:
        assert factor == 1


@given(CANDIDATES, SETTINGS, st.integers(2, 12))
def test_no_two_results_are_near_duplicates(candidates, search, limit):
    """Property 13, of any two and not only of neighbours."""
    results = selected(candidates, search, limit=limit).results
    alike = pairwise_similarity([one.candidate for one in results])
    pairs = [alike[one][other] for one in range(len(results)) for other in range(one)]
    assert max(pairs, default=0) <= 0.95 + 1e-6


@given(CANDIDATES, SETTINGS, st.randoms(use_true_random=False))
def test_candidate_order_does_not_matter(candidates, search, random):
    unique = list({(one.path, one.chunk.start_line): one for one in candidates}.values())
    search = replace(search, fusion="weighted")
    shuffled = random.sample(unique, len(unique))
    assert selected(shuffled, search) == selected(unique, search)
