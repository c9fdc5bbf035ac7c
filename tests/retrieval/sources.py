"""Sources and indices for the tests of the index."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path

from onyx_jupyter.protocols.retrieval import Candidate, Chunk, SearchFilter, Source, SourceKind
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.vector_matrix import MATRIX_BYTES
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings

EVERYTHING = SearchFilter()


def source(path: str, *texts: str, agent: str = "main", kind: SourceKind = "memory", day: date | None = None) -> Source:
    """A source of one chunk a text, a line each."""
    chunks = [Chunk(text, line, line, heading="Notes") for line, text in enumerate(texts, 1)]
    checksum = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return Source(kind, agent, path, checksum, chunks, day)


def open_index(
    folder: Path,
    embeddings: FakeEmbeddings | None = None,
    *,
    chunking: str = "400/80",
    matrix_bytes: int = MATRIX_BYTES,
) -> LanceTextIndex:
    """An index that tidies up only when it is asked to."""
    embeddings = embeddings or FakeEmbeddings(FakeEmbedder())
    return LanceTextIndex(folder, "memory", embeddings, chunking, idle_s=3600, matrix_bytes=matrix_bytes)


async def found(index: LanceTextIndex, query: str, only: SearchFilter = EVERYTHING) -> list[Candidate]:
    """All candidates, the nearest first."""
    return list((await index.candidates(query, 100, only))[0])


async def texts_with(index: LanceTextIndex, query: str, only: SearchFilter = EVERYTHING) -> set[str]:
    """The chunks that hold one of the query's words."""
    return {one.chunk.text for one in await found(index, query, only) if one.words is not None}
