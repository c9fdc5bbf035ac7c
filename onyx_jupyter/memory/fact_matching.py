"""Finds the existing fact that a new one repeats or changes, by words and by meaning."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.memory.fact_similarity import FactWords, Similarity, are_near, compare_facts, tokenize_fact
from onyx_jupyter.memory.facts import MERGE_ABOVE, NEAR_ABOVE, Fact, number_of
from onyx_jupyter.protocols import Embeddings

log = logging.getLogger(__name__)
_EMBEDDING_S = 5.0
MAX_NEAR = 3


@dataclass(frozen=True, slots=True)
class Counterpart:
    """`fact` says the same as the text or is changed by it, see `alike`; None if there is no such fact.

    `near` are other facts that the text may have made untrue, nearest first; code alone cannot tell.
    """

    fact: Fact | None = None
    alike: Similarity | None = None
    near: tuple[Fact, ...] = ()


async def counterpart(
    facts: Sequence[Fact], text: str, embeddings: Embeddings | None, beside: Collection[str] = ()
) -> Counterpart:
    """How the text relates to these facts.

    Facts in `beside` stay true with it, unless it says the same in the same words.
    """
    if (same := same_words(facts, text)) is not None:
        return Counterpart(same, "same")
    others = [fact for fact in facts if fact.id not in beside]
    new_words, words = tokenize_fact(text), {fact.id: tokenize_fact(fact.text) for fact in others}
    changed = [fact for fact in reversed(others) if compare_facts(words[fact.id], new_words) == "changed"]
    ranked = await _ranked(others, text, embeddings)
    close = [fact for cosine, fact in ranked if cosine > MERGE_ABOVE]
    found = {fact.id: compare_facts(words[fact.id], new_words, close=True) for fact in close}
    changed += [fact for fact in close if found[fact.id] == "changed"]
    if (same := next((fact for fact in close if found[fact.id] == "same"), None)) is not None:
        return Counterpart(same, "same")
    if changed:
        return Counterpart(changed[0], "changed")
    return Counterpart(near=_near(ranked, others, words, new_words))


def same_words(facts: Sequence[Fact], text: str) -> Fact | None:
    """The fact that says the same in the same words, newest first."""
    same_text = next((fact for fact in facts if fact.text.casefold() == text.casefold()), None)
    if same_text is not None:
        return same_text
    words = tokenize_fact(text)
    return next((fact for fact in reversed(facts) if compare_facts(tokenize_fact(fact.text), words) == "same"), None)


def _near(
    ranked: Sequence[tuple[float, Fact]], facts: Sequence[Fact], words: dict[str, FactWords], new_words: FactWords
) -> tuple[Fact, ...]:
    near = [fact for cosine, fact in ranked if cosine >= NEAR_ABOVE]
    shares = [fact for fact in reversed(facts) if fact not in near and are_near(words[fact.id], new_words)]
    return tuple([*near, *shares][:MAX_NEAR])


async def _ranked(facts: Sequence[Fact], text: str, embeddings: Embeddings | None) -> Sequence[tuple[float, Fact]]:
    """Each fact with the cosine of its vector and the text's, closest first; empty without an embedder."""
    if embeddings is None or not facts:
        return []
    texts = [text, *(fact.text for fact in facts)]
    try:
        async with asyncio.timeout(_EMBEDDING_S):
            identity = await embeddings.current()
            if identity is None:
                return []
            vectors = await embeddings.embed(texts, "passage", identity=identity)
    except (EmbeddingError, TimeoutError) as error:
        log.info("Facts are compared by keywords only: %s", error)
        return []
    cosines = [float(vectors[0] @ vector) for vector in vectors[1:]]
    return sorted(zip(cosines, facts, strict=True), key=lambda pair: (-pair[0], number_of(pair[1].id)))
