"""Formulas that score, order and diversify search results.

Every score is between 0 and 1, higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import product

from onyx_jupyter.protocols.retrieval import Candidate

RRF_K = 60
MAX_ALIKE = 0.95


def similarity_score(cosine: float) -> float:
    """The cosine clamped to 0..1: opposite counts as orthogonal, NaN as 0."""
    return min(1.0, max(0.0, cosine)) if not math.isnan(cosine) else 0.0


def word_scores(bm25: Sequence[float], coverage: float) -> list[float]:
    """Proportional to BM25; the best gets `coverage`, the share of the query's words covered at all (0 to 1).

    BM25 has no upper bound and depends on the corpus: in a corpus of three notes a word weighs next to nothing. So
    scores are relative to the best, and the coverage of the query says how good the best is.
    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); division by the
    best as in Lee, "Analyses of Multiple Evidence Combination" (SIGIR 1997).
    """
    best = max(bm25, default=0.0)
    return [coverage * max(0.0, score) / best if best > 0 else 0.0 for score in bm25]


def weighted(vector: float | None, text: float | None, vector_weight: float, text_weight: float) -> float:
    """The weighted mean of the legs; a leg that didn't find the item counts as 0."""
    total = vector_weight + text_weight
    return (vector_weight * (vector or 0.0) + text_weight * (text or 0.0)) / total if total > 0 else 0.0


def reciprocal_ranks(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> Mapping[int, float]:
    """Σ 1/(k + rank) over the rankings that contain an item, ranks from 1, relative to being first in all.

    Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning
    Methods" (SIGIR 2009).
    """
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (k + rank)
    best = len(rankings) / (k + 1)
    return {item: score / best for item, score in scores.items()}


def recency(day: date | None, today: date, half_life_days: float, floor: float = 0.0) -> float:
    """floor + (1 − floor) · exp(−ln 2 · age / half-life): 1 today and without a day, never less than the floor.

    A day in the future (a wrong clock, a time zone to the east) counts as today.
    Source: exponential decay; Li and Croft, "Time-Based Language Models" (CIKM 2003), use it as a prior.
    """
    if day is None:
        return 1.0
    age_days = max(0, (today - day).days)
    return floor + (1 - floor) * math.exp(-math.log(2) * age_days / half_life_days)


def maximal_marginal_relevance(
    scores: Sequence[float],
    alike: Sequence[Sequence[float]],
    count: int,
    *,
    relevance_share: float,
    max_alike: float = MAX_ALIKE,
) -> list[int]:
    """The indices of at most `count` items, chosen one by one by λ·score − (1 − λ)·(similarity to those chosen).

    An item more similar than `max_alike` to a chosen one is skipped. `alike` is each item's similarity to each, between
    0 and 1; `relevance_share` is λ. Ties go to the earlier item.
    Source: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking" (SIGIR 1998).
    """
    taken: list[int] = []
    nearest = [0.0] * len(scores)
    left = list(range(len(scores)))
    while left and len(taken) < count:
        best = max(left, key=lambda item: relevance_share * scores[item] - (1 - relevance_share) * nearest[item])
        taken.append(best)
        nearest = [max(near, alike[best][item]) for item, near in enumerate(nearest)]
        left = [item for item in left if item != best and nearest[item] <= max_alike]
    return taken


def pairwise_similarity(candidates: Sequence[Candidate]) -> list[list[float]]:
    """The pairwise similarities: the cosine if both have a vector, else the share of words in common."""
    import numpy as np  # loaded with the index, never before

    count = len(candidates)
    dimension = max((len(one.vector) for one in candidates if one.vector is not None), default=0)
    has_vector = [one.vector is not None and len(one.vector) == dimension for one in candidates]
    matrix = np.zeros((count, dimension), dtype=np.float32)
    for place, one in enumerate(candidates):
        if has_vector[place]:
            matrix[place] = one.vector
    matrix[~np.isfinite(matrix)] = 0
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit = matrix / np.where(lengths > 0, lengths, 1)
    # Not with `@`: for so few numbers, BLAS's threads cost more than they save.
    alike: list[list[float]] = np.clip(np.einsum("id,jd->ij", unit, unit), 0.0, 1.0).tolist()
    if all(has_vector):
        return alike
    bags = [frozenset(candidate.chunk.text.casefold().split()) for candidate in candidates]
    for row, column in product(range(count), repeat=2):
        if not (has_vector[row] and has_vector[column]):
            alike[row][column] = word_overlap(bags[row], bags[column])
    return alike


def word_overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all their words that both have. Source: Jaccard (1901)."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
