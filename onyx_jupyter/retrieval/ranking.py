"""How what was found is scored, put in order and made diverse: formulas. It never searches and reads no text.

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
    """What points the other way is as little alike as what stands at a right angle; NaN is not alike at all."""
    return min(1.0, max(0.0, cosine)) if not math.isnan(cosine) else 0.0


def word_scores(bm25: Sequence[float], coverage: float) -> list[float]:
    """In proportion to BM25, where the best has the share of the query's words that is covered at all (0 to 1).

    BM25 has no upper end and depends on the corpus: a word of three notes weighs next to nothing. So the best is the
    measure, and how much of the query it can speak for says how good the best is.
    Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); division by the
    best as in Lee, "Analyses of Multiple Evidence Combination" (SIGIR 1997).
    """
    best = max(bm25, default=0.0)
    return [coverage * max(0.0, score) / best if best > 0 else 0.0 for score in bm25]


def weighted(vector: float | None, text: float | None, vector_weight: float, text_weight: float) -> float:
    """The legs' mean by their weights; what one leg did not find counts as 0 there."""
    total = vector_weight + text_weight
    return (vector_weight * (vector or 0.0) + text_weight * (text or 0.0)) / total if total > 0 else 0.0


def reciprocal_ranks(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> Mapping[int, float]:
    """Σ 1/(k + rank) over the rankings that name an item, ranks from 1, as a share of being the first in all.

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
    """floor + (1 − floor) · exp(−ln 2 · age / half-life): 1 today and for what has no day, never less than the floor.

    A day that has not come yet (a clock that was wrong, a zone to the east) counts as today.
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
    """The places of at most `count` items, taken one by one by λ·score − (1 − λ)·(likeness to what was taken).

    None is taken that is more alike than `max_alike` to one taken before. `alike` is each item's likeness to each,
    within 0 and 1, and `relevance_share` is λ. Of equals the one in front is taken.
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


def likenesses(candidates: Sequence[Candidate]) -> list[list[float]]:
    """Each one's likeness to each: the cosine where both have a vector, else the share of words they have in common."""
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
    # Not by `@`: for so little, BLAS's threads cost more than they do.
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
