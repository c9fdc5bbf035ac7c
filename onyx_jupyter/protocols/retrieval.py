"""Text that can be found again: what is indexed, who embeds it, how one searches. It never holds behaviour."""

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
    """Which vectors can be compared with each other: those of one identity."""

    provider: str
    model: str
    dimension: int


class Embedder(Protocol):
    """Turns texts into vectors of length 1."""

    @property
    def identity(self) -> EmbedderIdentity: ...

    async def embed(self, texts: Sequence[str], purpose: Literal["passage", "query"]) -> Vectors:
        """One row a text, (texts, dimension), float32. Raises: EmbeddingError."""
        ...


class Embeddings(Protocol):
    """The embedders by availability. A failing one is passed over within the same call and tried again later."""

    async def current(self) -> EmbedderIdentity | None:
        """Whose vectors are made now; None where there is no embedder, so that words alone are searched."""
        ...

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        """Vectors of that identity and no other, the known ones from the cache. Raises: EmbeddingError."""
        ...

    @property
    def problem(self) -> str | None:
        """Why a better embedder is not used now, in words for its person."""
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a source; lines are counted from 1, both included.

    `context` is what the text needs to be understood (date, title, headings): it is embedded and searched with it, and
    never shown as part of it. `before` is what was said just before it: searched by words alone, since it would make
    the vectors of neighbours alike. `parent` are the lines that are returned in its place, where it was cut from a
    larger passage.
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
    """A file, session, document or fact as it is indexed; `(agent, path)` is its name.

    `agent` is "" for what all agents share; `checksum` is of the whole content; `day` is set for what grows old (a
    day's notes, a session) and None for what stays true.
    """

    kind: SourceKind
    agent: str
    path: str
    checksum: str
    chunks: Sequence[Chunk]
    day: date | None = None


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What may be found; None is everything. `paths` are prefixes, `agents` names ("" is what all share)."""

    agents: frozenset[str] | None = None
    kinds: frozenset[SourceKind] | None = None
    paths: Sequence[str] | None = None
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that one leg or both found; `vector` is its own, `similarity` the cosine, `words` the BM25 score.

    Two are equal whatever their vectors are: those belong to the text.
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
    """A passage that answers; `score` and its parts are within 0 and 1, a part that did not count is None.

    `relevance` says how well it answers by words and meaning, whatever the order was made from and however old it is;
    None where that is the score. `checksum` is of the whole passage, of which the snippet may be a part; empty where
    the snippet is all.
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
    """The best first; `note` says what kept the search from being better (no embedder, an index under way)."""

    found: Sequence[Found]
    note: str | None = None


class VectorCache(Protocol):
    """Vectors that were made before, by keys that name all that they depend on (`vector_key` of storage)."""

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Key → float32 (dimension,) of those that are known. Never raises: an unreadable cache knows nothing."""
        ...

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Keeps them, in place of the oldest where it is full. Never raises: what is not kept is made again."""
        ...


class TextIndex(Protocol):
    """The chunks of all sources of one collection. Whatever is lost in it can be made again from its sources."""

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        """(agent, path) → checksum of what is indexed. Raises: IndexUnavailable."""
        ...

    async def put(self, sources: Sequence[Source]) -> None:
        """Each source's new chunks in place of its old ones, in one commit. Raises: IndexUnavailable."""
        ...

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        """Takes sources out. Raises: IndexUnavailable."""
        ...

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        """At most `count` of each leg, and what kept a leg away. Raises: IndexUnavailable where both are."""
        ...


class Search(Protocol):
    """Passages by words and by meaning."""

    async def search(
        self, query: str, *, only: SearchFilter | None = None, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        """The best passages; limits are the configuration's where None. It answers while anything can be read."""
        ...
