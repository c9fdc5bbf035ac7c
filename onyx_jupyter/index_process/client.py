"""The server's access to the index process, in the interfaces that the rest of Onyx uses: index, cache, embedder."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.protocols.retrieval import Candidate, Embedder, EmbedderIdentity, SearchFilter, Source, TextIndex
from onyx_jupyter.providers.embedders.local import TITLE, LocalEmbedder
from onyx_jupyter.providers.embedders.source import Purpose

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

log = logging.getLogger(__name__)


class OpenIndex(Protocol):
    """Opens the index of one collection; see LanceTextIndex."""

    def __call__(self, collection: str, *, chunking: str, on_emptied: Callable[[str], None]) -> KeptIndex: ...


class KeptIndex(TextIndex, Protocol):
    """A TextIndex with the methods that its owner needs."""

    async def count(self) -> int:
        """How many chunks there are. Raises: IndexUnavailable."""
        ...

    async def settled(self) -> None:
        """Returns when nothing is left to do in the background."""
        ...

    async def close(self) -> None: ...


class ProcessIndex:
    """A KeptIndex. It caches what files are compared with, so that a stopped process need not be started for that.

    Another server on the same home may change the index meanwhile: it does so from the same files, and the process is
    asked again as soon as it runs.
    """

    def __init__(
        self,
        process: IndexProcess,
        collection: str,
        *,
        chunking: str,
        on_emptied: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._process = process
        self._place = (collection, chunking)
        self._on_emptied = on_emptied
        self._checksums: dict[str | None, dict[tuple[str, str], str]] = {}
        self._count: int | None = None
        process.on_emptied(collection, self._emptied)

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        """(agent, path) → checksum. Raises: IndexUnavailable."""
        if self._process.is_running or agent not in self._checksums:
            found = await self._process.ask("checksums", *self._place, agent, counts=False)
            self._checksums[agent] = {(owner, path): checksum for owner, path, checksum in found}
        return dict(self._checksums[agent])

    async def put(self, sources: Sequence[Source]) -> None:
        """Replaces the chunks of each source. Raises: IndexUnavailable."""
        await self._process.ask("put", *self._place, list(sources))
        self._count = None
        for agent, known in self._checksums.items():
            known |= {(one.agent, one.path): one.checksum for one in sources if agent in (None, one.agent)}

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        """Removes sources. Raises: IndexUnavailable."""
        if not names:
            return
        await self._process.ask("remove", *self._place, list(names))
        self._count = None
        for known in self._checksums.values():
            for name in names:
                known.pop(name, None)

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """At most `count` of each leg. Raises: IndexUnavailable, at once if the process ends meanwhile."""
        found, note = await self._process.ask("candidates", *self._place, query, count, only, again=False)
        return found, note

    async def count(self) -> int:
        """How many chunks there are. Raises: IndexUnavailable."""
        if self._process.is_running or self._count is None:
            self._count = await self._process.ask("count", *self._place, counts=False)
        found: int = self._count
        return found

    async def settled(self) -> None:
        """Returns when nothing is left to do in the background."""
        await self._process.ask("settled", *self._place)

    async def close(self) -> None:
        """The process is closed by its owner."""

    def _emptied(self, why: str) -> None:
        self._checksums.clear()
        self._count = None
        self._on_emptied(why)


class ProcessVectorCache:
    """A VectorCache in the process."""

    def __init__(self, process: IndexProcess) -> None:
        self._process = process

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Key → float32 (dimension,) for the keys that are cached."""
        try:
            found: Mapping[str, Vectors] = await self._process.ask("known", list(keys)) if keys else {}
        except IndexUnavailable as error:
            log.warning("The embedding cache cannot be read, so embeddings are computed again: %s", error)
            return {}
        return found

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Stores the vectors."""
        try:
            if vectors:
                await self._process.ask("keep", dict(vectors))
        except IndexUnavailable as error:
            log.warning("The embedding cache cannot be written, so embeddings will be computed again: %s", error)


class ProcessEmbedder:
    """The embedded embedder as one of the server's sources; its model is loaded in the process."""

    identity = LocalEmbedder.identity
    provider = LocalEmbedder.provider
    title = TITLE
    expected = True
    in_process = True  # local to this server: texts go through a pipe and nowhere else

    def __init__(self, process: IndexProcess, here: LocalEmbedder, threads: int | None, idle_s: float) -> None:
        """`here` only tells whether everything is installed, and is never loaded."""
        self._process = process
        self._here = here
        self._settings = (threads, idle_s)

    async def open(self) -> Embedder:
        """Returns itself. Raises: EmbeddingError if a part is not installed."""
        await self._here.open()
        return self

    async def still_has(self, identity: EmbedderIdentity) -> bool:
        """Always true: its files are checked by their hash."""
        return True

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """float32 (texts, 384), L2-normalised. Raises: EmbeddingError."""
        made: Any = await self._process.ask("embed", list(texts), purpose, *self._settings, error=EmbeddingError)
        vectors: Vectors = made
        return vectors

    async def close(self) -> None:
        """The process unloads its model by itself."""
