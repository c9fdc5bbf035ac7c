"""An embedder that needs no model: texts with the same words are near each other, whatever they mean."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """An Embedder: each word of a text counts in one place of its vector, the same in every run and process.

    `alike` maps a word to the one it counts as, so that texts without a common word can be near each other, too
    ("car" → "automobile"). `failure` is raised while it is set; `calls` holds the texts of each call.
    """

    def __init__(self, *, model: str = "words", dimension: int = 256, alike: Mapping[str, str] | None = None) -> None:
        self.identity = EmbedderIdentity("fake", model, dimension)
        self.failure: Exception | None = None
        self.calls: list[Sequence[str]] = []
        self._alike = alike or {}

    async def embed(self, texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        """float32 (texts, dimension), L2-normalised. Raises: `failure`."""
        import numpy as np

        self.calls.append(tuple(texts))
        if self.failure is not None:
            raise self.failure
        vectors = np.zeros((len(texts), self.identity.dimension), np.float32)
        for row, text in enumerate(texts):
            text.encode()  # real tokenizers refuse half of a surrogate pair, too
            for place in self._places(text):
                vectors[row, place] += 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def _places(self, text: str) -> list[int]:
        """One place per word; a text without words has the first."""
        words = [word.casefold() for word in _WORD.findall(text)]
        digests = [hashlib.blake2b(self._alike.get(word, word).encode(), digest_size=8).digest() for word in words]
        return [int.from_bytes(digest, "big") % self.identity.dimension for digest in digests] or [0]


class FakeEmbeddings:
    """Embeddings with one embedder, which a test can replace or remove."""

    def __init__(self, embedder: FakeEmbedder | None = None) -> None:
        self.embedder = embedder
        self.problem: str | None = None

    async def current(self) -> EmbedderIdentity | None:
        return self.embedder.identity if self.embedder else None

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        """Raises: EmbeddingError if the embedder is missing, has another identity, or fails."""
        if self.embedder is None or self.embedder.identity != identity:
            raise EmbeddingError(f"There is no embedder {identity.provider}/{identity.model} now.")
        return await self.embedder.embed(texts, purpose)
