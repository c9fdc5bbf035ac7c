"""Finds the fact that a new one is about, by its words and by its meaning. It never changes a fact."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.memory.fact_likeness import Likeness, fact_words, likeness
from onyx_jupyter.memory.facts import MERGE_ABOVE, Fact, number_of
from onyx_jupyter.protocols import Embeddings

log = logging.getLogger(__name__)
_EMBEDDING_S = 5.0


async def counterpart(facts: Sequence[Fact], text: str, embeddings: Embeddings | None) -> tuple[Fact, Likeness] | None:
    """The fact that says the same or is changed by the text; None where the text is about something else."""
    same_text = next((fact for fact in facts if fact.text.casefold() == text.casefold()), None)
    if same_text is not None:
        return same_text, "same"
    new_words = fact_words(text)
    words = {fact.id: fact_words(fact.text) for fact in facts}
    for fact in reversed(facts):
        if (alike := likeness(words[fact.id], new_words)) is not None:
            return fact, alike
    for fact in await _close(facts, text, embeddings):
        if (alike := likeness(words[fact.id], new_words, close=True)) is not None:
            return fact, alike
    return None


async def _close(facts: Sequence[Fact], text: str, embeddings: Embeddings | None) -> Sequence[Fact]:
    """Those whose vectors nearly agree with the text's, the closest first; none where nobody embeds."""
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
        log.info("Facts are compared by their words alone: %s", error)
        return []
    cosines = [float(vectors[0] @ vector) for vector in vectors[1:]]
    pairs = sorted(zip(cosines, facts, strict=True), key=lambda pair: (-pair[0], number_of(pair[1].id)))
    return [fact for cosine, fact in pairs if cosine > MERGE_ABOVE]
