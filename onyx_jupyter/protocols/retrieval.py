"""Searchable text: indexing it, embedding it, searching it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # numpy is loaded with the index, never before
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

SourceKind = Literal["memory", "shared", "session", "document", "fact"]
Fusion = Literal["weighted", "rrf"]


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Identifies the embedder of a vector: only vectors of the same identity can be compared."""

    provider: str
    model: str
    dimension: int


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    async def embed(self, texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        """One row per text, (texts, dimension), float32. Raises: EmbeddingError."""
        ...


class Embeddings(Protocol):
    """The embedders by availability. A failing one is skipped within the same call and tried again later."""

    async def current(self) -> EmbedderIdentity | None:
        """The embedder in use; None if there is none, so that only words are searched."""
        ...

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        """Vectors of exactly that identity, known ones from the cache. Raises: EmbeddingError."""
        ...

    @property
    def problem(self) -> str | None:
        """Why a better embedder is not in use now, in words for the user."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a source; lines are counted from 1, both included.

    `context` is what the text needs to be understood (date, title, headings): it is embedded and searched with it, and
    never shown as part of it. `before` is what was said just before it: searched only by words, since it would make the
    vectors of neighbours alike. `parent` are the lines returned instead of it, if it was cut from a larger passage.
    """

    text: str
    start_line: int
    end_line: int
    heading: str = ""
    context: str = ""
    before: str = ""
    parent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file, session, document or fact to index; `(agent, path)` is its name.

    `agent` is "" for what all agents share; `checksum` is of the whole content; `day` is set for content that ages (a
    day's notes, a session) and None for content that stays true.
    """

    kind: SourceKind
    agent: str
    path: str
    checksum: str
    chunks: Sequence[Chunk]
    day: date | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What may be found; None is everything. `paths` are prefixes, `agents` are names ("" is what all share)."""

    agents: frozenset[str] | None = None
    kinds: frozenset[SourceKind] | None = None
    paths: Sequence[str] | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that one leg or both found; `vector` is its own, `similarity` the cosine, `words` the BM25 score.

    Vectors do not affect equality: they follow from the text.
    """

    kind: SourceKind
    agent: str
    path: str
    chunk: Chunk
    day: date | None
    vector: Sequence[float] | Vectors | None = field(compare=False)
    similarity: float | None
    words: float | None


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that answers a query; `score` and its parts are between 0 and 1, a part that did not count is None.

    `relevance` is how well it answers by words and meaning, regardless of the ranking and its age; None if that is the
    score. `checksum` is of the whole passage, of which the snippet may be a part; empty if the snippet is all.
    """

    kind: SourceKind
    agent: str
    path: str
    start_line: int
    end_line: int
    heading: str
    snippet: str
    score: float
    vector_score: float | None = None
    text_score: float | None = None
    recency: float | None = None
    day: date | None = None
    relevance: float | None = None
    checksum: str = ""


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Best first; `note` says what limited the search (no embedder, indexing in progress)."""

    found: Sequence[Found]
    note: str | None = None


class VectorCache(Protocol):
    """Vectors made earlier, by keys that cover everything they depend on (`vector_key` of storage)."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Key → float32 (dimension,) of the known ones. Never raises: an unreadable cache is treated as empty."""
        ...

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Stores them, evicting the oldest if it is full. Never raises: what is not stored is computed again."""
        ...


class TextIndex(Protocol):
    """The chunks of all sources of one collection. It can always be rebuilt from the sources."""

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        """(agent, path) → checksum of the indexed content. Raises: IndexUnavailable."""
        ...

    async def put(self, sources: Sequence[Source]) -> None:
        """Replaces each source's old chunks with its new ones, in one commit. Raises: IndexUnavailable."""
        ...

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        """Removes sources. Raises: IndexUnavailable."""
        ...

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """At most `count` from each leg, and why a leg is missing. Raises: IndexUnavailable if both are."""
        ...


class Search(Protocol):
    """Passages by words and by meaning."""

    async def search(
        self, query: str, *, only: SearchFilter | None = None, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        """The best passages; limits default to the configuration's. It answers as long as anything can be read."""
        ...
