"""Selects and orders the results from a search's candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from onyx_jupyter.protocols.retrieval import Candidate, Chunk
from onyx_jupyter.retrieval.passages import without_repeats
from onyx_jupyter.retrieval.ranking import (
    maximal_marginal_relevance,
    pairwise_similarity,
    recency,
    reciprocal_ranks,
    similarity_score,
    weighted,
    word_scores,
)
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.snippet import coverage

CANDIDATES_A_RESULT = 4


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with the score that ranks it, and the parts of that score.

    `relevance` is the weighted mean of the legs, even if the score is made from ranks: a rank does not say how good the
    first result is. The score is the ranking value times the recency.
    """

    candidate: Candidate
    score: float
    relevance: float
    vector_score: float | None
    text_score: float | None
    recency: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    """Best first; `below`: none was relevant enough, and those that contain the words are returned anyway."""

    results: Sequence[Scored]
    below: bool = False


def select(
    candidates: Sequence[Candidate],
    settings: SearchSettings,
    today: date,
    *,
    limit: int,
    min_score: float,
    stems: Sequence[str],
) -> Selection:
    """Scores the candidates, leaves out weak ones and repeats, and returns at most `limit`.

    `min_score` applies to the relevance before age: old results rank lower, but are never lost for their age. `stems`
    are the query's.
    """
    scored = sorted(_scored(candidates, settings, today, stems), key=_order)
    kept = [one for one in scored if one.relevance >= min_score]
    below = not kept
    if below:
        kept = [one for one in scored if one.candidate.words is not None]
    rests = without_repeats([one.candidate for one in kept], stems)
    kept = [
        one if rest is one.candidate else replace(one, candidate=rest)
        for one, rest in zip(kept, rests, strict=True)
        if rest is not None
    ]
    kept = kept[: limit * CANDIDATES_A_RESULT]
    places = maximal_marginal_relevance(
        [one.score for one in kept],
        pairwise_similarity([one.candidate for one in kept]),
        limit,
        relevance_share=settings.mmr_lambda,
    )
    return Selection([kept[place] for place in sorted(places)], below and bool(kept))


def _scored(
    candidates: Sequence[Candidate], settings: SearchSettings, today: date, stems: Sequence[str]
) -> list[Scored]:
    vectors = [None if one.similarity is None else similarity_score(one.similarity) for one in candidates]
    covered = _covered(candidates, stems)
    by_words = word_scores([one.words or 0.0 for one in candidates], covered)
    texts = [None if one.words is None else score for one, score in zip(candidates, by_words, strict=True)]
    relevances = _by_weights(vectors, texts, settings)
    places = _by_ranks(candidates) if settings.fusion == "rrf" else relevances
    return [
        _aged(candidate, place, relevance, vector, text, settings, today)
        for candidate, place, relevance, vector, text in zip(
            candidates, places, relevances, vectors, texts, strict=True
        )
    ]


def _covered(candidates: Sequence[Candidate], stems: Sequence[str]) -> float:
    """The largest share of the stems that one candidate contains; checks the best by words first."""
    most = 0.0
    found = [one for one in candidates if one.words is not None]
    for one in sorted(found, key=lambda one: one.words or 0.0, reverse=True):
        most = max(most, coverage(_searched(one.chunk), stems))
        if most == 1:
            break
    return most


def _searched(chunk: Chunk) -> str:
    return f"{chunk.context}\n{chunk.before}\n{chunk.text}"


def _by_weights(
    vectors: Sequence[float | None], texts: Sequence[float | None], settings: SearchSettings
) -> list[float]:
    """A leg that found nothing at all leaves its weight to the other."""
    vector_weight = settings.vector_weight if any(one is not None for one in vectors) else 0.0
    text_weight = settings.text_weight if any(one is not None for one in texts) else 0.0
    if vector_weight + text_weight == 0:  # the only leg that found anything has the weight 0
        vector_weight = text_weight = 1.0
    return [weighted(vector, text, vector_weight, text_weight) for vector, text in zip(vectors, texts, strict=True)]


def _by_ranks(candidates: Sequence[Candidate]) -> list[float]:
    legs = [
        _ranking([one.similarity for one in candidates]),
        _ranking([one.words for one in candidates]),
    ]
    scores = reciprocal_ranks([leg for leg in legs if leg])
    return [scores.get(place, 0.0) for place in range(len(candidates))]


def _ranking(scores: Sequence[float | None]) -> list[int]:
    found = [(score, place) for place, score in enumerate(scores) if score is not None]
    return [place for _, place in sorted(found, key=lambda one: (-one[0], one[1]))]


def _aged(
    candidate: Candidate,
    place: float,
    relevance: float,
    vector: float | None,
    text: float | None,
    settings: SearchSettings,
    today: date,
) -> Scored:
    factor = recency(candidate.day, today, settings.half_life_days, settings.recency_floor)
    part = None if candidate.day is None else factor
    return Scored(candidate, place * factor, relevance, vector, text, part)


def _order(scored: Scored) -> tuple[float, int, str, str, int]:
    """Best first, then newest, then by name, so that the same search returns the same answer."""
    one = scored.candidate
    return (-scored.score, -(one.day or date.max).toordinal(), one.agent, one.path, one.chunk.start_line)
