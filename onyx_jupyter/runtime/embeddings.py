"""The embedders that the configuration asks for, opened anew when that changes. It embeds nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onyx_jupyter.clock import Clock
from onyx_jupyter.protocols import EmbedderIdentity
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.embedders.sources import open_embeddings
from onyx_jupyter.runtime.configured import Configured
from onyx_jupyter.runtime.settings import embedding_settings
from onyx_jupyter.storage.vector_cache import LanceVectorCache

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors


class ConfiguredEmbeddings:
    """protocols.Embeddings; every collection of the index shares it, and with it one cache of vectors."""

    def __init__(
        self,
        folder: Path,
        configured: Configured,
        redact: Callable[[str], str],
        clock: Clock,
    ) -> None:
        """`folder` is the index's."""
        self._configured = configured
        self._clock = clock
        self._redact = redact
        self._cache = LanceVectorCache(folder, clock=clock)
        self._opened: tuple[EmbeddingSettings, EmbedderChoice] | None = None
        self._retired: list[EmbedderChoice] = []

    async def current(self) -> EmbedderIdentity | None:
        """Whose vectors are made now."""
        return await self._choice().current()

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        """float32 (texts, dimension), L2-normalised, of that identity. Raises: EmbeddingError."""
        return await self._choice().embed(texts, purpose, identity=identity)

    @property
    def problem(self) -> str | None:
        """Why a better embedder is not used now."""
        return self._opened[1].problem if self._opened else None

    async def close(self) -> None:
        """Ends every embedder's process and connection."""
        for choice in [*self._retired, *([self._opened[1]] if self._opened else [])]:
            await choice.close()

    def _choice(self) -> EmbedderChoice:
        settings = embedding_settings(self._configured.settings.config)
        if self._opened is None or self._opened[0] != settings:
            if self._opened is not None:
                self._retired.append(self._opened[1])  # somebody may still be waiting for it
            choice = open_embeddings(settings, clock=self._clock, redact=self._redact, cache=self._cache)
            self._opened = (settings, choice)
        return self._opened[1]
