"""The process that holds the index and the embedded embedder: LanceDB and ONNX are loaded here and nowhere else.

The server sends the requests; this process asks the server which embedder is in use, and for the vectors of other
embedders. It ends when its input ends, and unfinished work is continued next time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.index_process.left_out_libraries import leave_out
from onyx_jupyter.index_process.link import Link, LinkEnded
from onyx_jupyter.protocols.retrieval import Candidate, EmbedderIdentity, SearchFilter, Source
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.vector_cache import LanceVectorCache

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

# How long work in progress may take to finish once the input has ended.
_END_S = 2.0


class IndexChild:
    """What the server may call; `folder` holds the index."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cache = LanceVectorCache(folder)
        self._indices: dict[tuple[str, str], LanceTextIndex] = {}
        self._local: tuple[tuple[int | None, float], LocalEmbedder] | None = None
        self._embeddings = _ServersEmbeddings()
        self._link: Link | None = None

    async def serve(self, reads: IO[bytes], writes: IO[bytes]) -> None:
        """Returns when the input has ended and everything is closed."""
        ended = asyncio.Event()
        names = ("load", "checksums", "put", "remove", "candidates", "count", "settled", "known", "keep", "embed")
        link = Link(reads, writes, {name: getattr(self, name) for name in names}, on_end=ended.set)
        self._link = self._embeddings.link = link
        logging.getLogger().addHandler(_ToServer(link))
        await ended.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await asyncio.gather(*(index.close() for index in self._indices.values()))

    async def load(self) -> None:
        """Loads the libraries before they are needed."""
        await asyncio.to_thread(__import__, "lancedb")

    async def checksums(self, collection: str, chunking: str, agent: str | None) -> list[tuple[str, str, str]]:
        known = await self._index(collection, chunking).checksums(agent)
        return [(owner, path, checksum) for (owner, path), checksum in known.items()]

    async def put(self, collection: str, chunking: str, sources: Sequence[Source]) -> None:
        await self._index(collection, chunking).put(sources)

    async def remove(self, collection: str, chunking: str, names: Sequence[Sequence[str]]) -> None:
        await self._index(collection, chunking).remove([(agent, path) for agent, path in names])

    async def candidates(
        self, collection: str, chunking: str, query: str, count: int, only: SearchFilter
    ) -> tuple[Sequence[Candidate], str | None]:
        return await self._index(collection, chunking).candidates(query, count, only)

    async def count(self, collection: str, chunking: str) -> int:
        return await self._index(collection, chunking).count()

    async def settled(self, collection: str, chunking: str) -> None:
        await self._index(collection, chunking).settled()

    async def known(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Reads vectors from the cache."""
        return await self._cache.get(keys)

    async def keep(self, vectors: Mapping[str, Vectors]) -> None:
        """Writes vectors to the cache."""
        await self._cache.put(vectors)

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], threads: int | None, idle_s: float
    ) -> Vectors:
        """Embeds the texts with the embedded embedder."""
        if self._local is None or self._local[0] != (threads, idle_s):
            self._local = (threads, idle_s), LocalEmbedder(SystemClock(), threads=threads, idle_s=idle_s)
        return await self._local[1].embed(texts, purpose)

    def _index(self, collection: str, chunking: str) -> LanceTextIndex:
        key = (collection, chunking)
        if key not in self._indices:
            self._indices[key] = LanceTextIndex(
                self._folder, collection, self._embeddings, chunking, on_emptied=lambda why: self._emptied(key, why)
            )
        return self._indices[key]

    def _emptied(self, key: tuple[str, str], why: str) -> None:
        assert self._link is not None
        self._link.notify("emptied", key[0], why)


class _ServersEmbeddings:
    """protocols.Embeddings as chosen by the server; `problem` is what it last reported."""

    link: Link

    def __init__(self) -> None:
        self.problem: str | None = None

    async def current(self) -> EmbedderIdentity | None:
        try:
            identity, self.problem = await self.link.call("current")
        except LinkEnded:
            return None
        found: EmbedderIdentity | None = identity
        return found

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        vectors: Vectors = await self.link.call("vectors", list(texts), purpose, identity)
        return vectors


class _ToServer(logging.Handler):
    """Forwards log records to the server's log."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        self._link.notify("log", record.name, record.levelno, self.format(record))


def main() -> None:
    """`python -m onyx_jupyter.index_process.child FOLDER`."""
    leave_out()
    # What a library prints must not get between the answers.
    reads, writes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(_serve(IndexChild(Path(sys.argv[1])), reads, writes))


async def _serve(child: IndexChild, reads: IO[bytes], writes: IO[bytes]) -> None:
    await child.serve(reads, writes)
    # A normal exit would wait for native threads that still run, and delay the server that ended this process.
    os._exit(0)


if __name__ == "__main__":
    main()
