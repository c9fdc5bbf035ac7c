"""Makes and validates the vectors of indexed texts and queries."""

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
    """The embeddings as the index uses them; `problem` is the last failure, None once something has worked since."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings
        self.problem: str | None = None

    async def current(self) -> EmbedderIdentity | None:
        """The identity of the current embedder."""
        return await self._embeddings.current()

    async def can_be_made(self, identity: EmbedderIdentity) -> bool:
        """Whether such vectors can be made in principle, even if not at the moment."""
        try:
            await self._embeddings.embed([], "passage", identity=identity)
        except EmbeddingError:
            return False
        return True

    def why_none(self) -> str:
        """Why there is no embedder, as a sentence."""
        return self._embeddings.problem or "No embedder is available."

    async def of_passages(self, texts: Sequence[str], identity: EmbedderIdentity | None) -> list[Vectors | None]:
        """One per text, None if there is none: a blank text, no embedder, or one that fails.

        After a failed batch, the remaining ones are not tried: the embedder is likely unavailable, and they are made
        later.
        """
        made: list[Vectors | None] = [None] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()] if identity else []
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            try:
                assert identity is not None
                readable = [_readable(texts[place]) for place in batch]
                vectors = await self._embeddings.embed(readable, "passage", identity=identity)
                sound = _valid_rows(vectors, len(batch), identity)
            except EmbeddingError as error:
                self._failed(error)
                return made
            for place, vector, usable in zip(batch, vectors, sound, strict=True):
                made[place] = vector if usable else None
            if all(sound):
                self.problem = None
            else:
                self._failed(EmbeddingError(f"{_name(identity)} returned embeddings that are not numbers."))
        return made

    async def of_rows(self, rows: Sequence[dict[str, Any]], identity: EmbedderIdentity) -> list[Vectors | None]:
        """One per stored row, None if there is none. Raises: EmbeddingError if not a single one could be made."""
        vectors = await self.of_passages([embedded_text(row) for row in rows], identity)
        if self.problem and all(vector is None for vector in vectors):
            raise EmbeddingError(self.problem)
        return vectors

    async def of_query(self, query: str, identity: EmbedderIdentity) -> Vectors:
        """The query's vector, shape (dimension,). Raises: EmbeddingError, also after ten seconds."""
        try:
            async with asyncio.timeout(QUERY_S):
                vectors = await self._embeddings.embed([_readable(query)], "query", identity=identity)
        except TimeoutError as error:
            raise EmbeddingError(f"{_name(identity)} did not answer within {QUERY_S:g} s.") from error
        if not _valid_rows(vectors, 1, identity)[0]:
            raise EmbeddingError(f"{_name(identity)} returned an embedding that is not numbers.")
        vector: Vectors = vectors[0]
        return vector

    def _failed(self, error: EmbeddingError) -> None:
        if self.problem != str(error):
            _log.warning("No embeddings could be computed; until then, only keywords are indexed: %s", error)
        self.problem = str(error)


def _valid_rows(vectors: Vectors, count: int, identity: EmbedderIdentity) -> Sequence[bool]:
    """Which rows are usable vectors. Raises: EmbeddingError unless there is one row per text, of that dimension."""
    import numpy as np

    if vectors.shape != (count, identity.dimension):
        raise EmbeddingError(
            f"{_name(identity)} returned embeddings of shape {vectors.shape}, not ({count}, {identity.dimension})."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    sound: list[bool] = (np.isfinite(lengths) & (lengths > 0)).tolist()
    return sound


def _readable(text: str) -> str:
    """Without lone surrogates, which no tokenizer accepts."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _name(identity: EmbedderIdentity) -> str:
    return f"The embedder {identity.provider}/{identity.model}"
