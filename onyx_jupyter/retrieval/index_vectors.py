"""Vectors for what is indexed and for what is asked, checked before anything is done with them. It stores none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity, Embeddings
from onyx_jupyter.storage.index_rows import embedded_text

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

BATCH = 64
QUERY_S = 10.0
_log = logging.getLogger(__name__)


class IndexVectors:
    """The embeddings as the index uses them; `problem` is what failed last, None since something worked."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self.problem: str | None = None

    async def current(self) -> EmbedderIdentity | None:
        """Whose vectors are made now."""
        return await self._embeddings.current()

    async def can_be_made(self, identity: EmbedderIdentity) -> bool:
        """Whether there is a way to such vectors, even where it leads nowhere at the moment."""
        try:
            await self._embeddings.embed([], "passage", identity=identity)
        except EmbeddingError:
            return False
        return True

    def why_none(self) -> str:
        """Why there is no embedder, as a sentence."""
        return self._embeddings.problem or "There is no embedder."

    async def of_passages(self, texts: Sequence[str], identity: EmbedderIdentity | None) -> list[Vectors | None]:
        """One a text, None where there is none: a blank text, no embedder, or one that fails.

        After a batch that failed, the others are not tried: the embedder is likely away, and they are made later.
        """
        made: list[Vectors | None] = [None] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()] if identity else []
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            try:
                assert identity is not None
                readable = [_readable(texts[place]) for place in batch]
                vectors = await self._embeddings.embed(readable, "passage", identity=identity)
                sound = _sound(vectors, len(batch), identity)
            except EmbeddingError as error:
                self._failed(error)
                return made
            for place, vector, usable in zip(batch, vectors, sound, strict=True):
                made[place] = vector if usable else None
            if all(sound):
                self.problem = None
            else:
                self._failed(EmbeddingError(f"{_name(identity)} made vectors that are not numbers."))
        return made

    async def of_rows(self, rows: Sequence[dict[str, Any]], identity: EmbedderIdentity) -> list[Vectors | None]:
        """One a stored row, None where there is none. Raises: EmbeddingError where not one could be made."""
        vectors = await self.of_passages([embedded_text(row) for row in rows], identity)
        if self.problem and all(vector is None for vector in vectors):
            raise EmbeddingError(self.problem)
        return vectors

    async def of_query(self, query: str, identity: EmbedderIdentity) -> Vectors:
        """(dimension,). Raises: EmbeddingError, after ten seconds too."""
        try:
            async with asyncio.timeout(QUERY_S):
                vectors = await self._embeddings.embed([_readable(query)], "query", identity=identity)
        except TimeoutError as error:
            raise EmbeddingError(f"{_name(identity)} did not answer within {QUERY_S:g} s.") from error
        if not _sound(vectors, 1, identity)[0]:
            raise EmbeddingError(f"{_name(identity)} made a vector that is not of numbers.")
        vector: Vectors = vectors[0]
        return vector

    def _failed(self, error: EmbeddingError) -> None:
        if self.problem != str(error):
            _log.warning("No vectors could be made; words alone are indexed until they can: %s", error)
        self.problem = str(error)


def _sound(vectors: Vectors, count: int, identity: EmbedderIdentity) -> Sequence[bool]:
    """Which rows have a direction. Raises: EmbeddingError where there is not one row a text, of that dimension."""
    import numpy as np

    if vectors.shape != (count, identity.dimension):
        raise EmbeddingError(
            f"{_name(identity)} made vectors of shape {vectors.shape}, not ({count}, {identity.dimension})."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    sound: list[bool] = (np.isfinite(lengths) & (lengths > 0)).tolist()
    return sound


def _readable(text: str) -> str:
    """Without halves of surrogate pairs, which no tokenizer takes."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _name(identity: EmbedderIdentity) -> str:
    return f"The embedder {identity.provider}/{identity.model}"
