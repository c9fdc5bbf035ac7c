"""Caches vectors, so that no text is embedded twice."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING

from onyx_jupyter.clock import Clock, SystemClock
from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.storage.index_collection import cache_collection
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_schema import cache_schema
from onyx_jupyter.storage.lance import KEEP_VERSIONS_S
from onyx_jupyter.storage.thread_executor import SerialExecutor

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors
    from onyx_jupyter.storage.lance import LanceTable

ENTRIES = 50_000
# A full cache drops more than it must, so that it is not full again at the next vector.
_EVICT_SHARE = 0.05
_FRAGMENTS = 50
_VERSIONS = 10
_log = logging.getLogger(__name__)


def vector_key(identity: EmbedderIdentity, text: str, purpose: str = "passage") -> str:
    """64 hex digits from all that the vector depends on: the embedder, the purpose, and the exact text."""
    named = json.dumps([*astuple(identity), purpose, text])
    return hashlib.sha256(named.encode()).hexdigest()


class LanceVectorCache:
    """A VectorCache of at most `entries` in the index's folder, which several processes may share.

    For `kept_s` after a change, the state before it stays on disk for processes that may be reading it.
    """

    def __init__(
        self,
        folder: Path,
        *,
        entries: int = ENTRIES,
        clock: Clock | None = None,
        kept_s: float = KEEP_VERSIONS_S,
    ) -> None:
        self._collection = cache_collection(folder)
        self._entries = entries
        self._clock = clock or SystemClock()
        self._writer = SerialExecutor("onyx embedding cache")
        self._kept_s = kept_s
        self._cleaned_s: float | None = None

    async def get(self, keys: Sequence[str]) -> Mapping[str, Vectors]:
        """Key → float32 (dimension,) for the known keys."""
        if not keys:
            return {}
        try:
            return await asyncio.to_thread(self._collection.read, lambda table, _: _known(table, keys))
        except IndexUnavailable as error:
            _log.warning("The embedding cache cannot be read, so embeddings are computed again: %s", error)
            return {}

    async def put(self, vectors: Mapping[str, Vectors]) -> None:
        """Stores them, replacing the oldest if it is full."""
        if not vectors:
            return
        made_us = int(self._clock.now().timestamp() * 1_000_000)
        try:
            await self._writer.run(lambda: self._collection.write(lambda table, _: self._keep(table, vectors, made_us)))
        except IndexUnavailable as error:
            _log.warning("The embedding cache cannot be written, so embeddings will be computed again: %s", error)

    def _keep(self, table: LanceTable, vectors: Mapping[str, Vectors], made_us: int) -> None:
        import numpy as np
        import pyarrow as pa

        new = sorted(vectors.keys() - _known(table, list(vectors)).keys())[-self._entries :]
        if not new:
            return
        raw = [np.asarray(vectors[key], "<f4").tobytes() for key in new]
        self._make_room(table, len(new))
        table.append(pa.table({"key": new, "vector": raw, "made_us": [made_us] * len(new)}, schema=cache_schema()))
        self._tidy(table)

    def _tidy(self, table: LanceTable) -> None:
        """Tidying leaves what it replaces on disk, so it runs again when that may be deleted."""
        now_s = self._clock.monotonic()
        cleans = self._cleaned_s is None or now_s - self._cleaned_s >= self._kept_s
        if table.fragments() > _FRAGMENTS or (cleans and table.versions() > _VERSIONS):
            table.optimise(self._kept_s)
            self._cleaned_s = now_s

    def _make_room(self, table: LanceTable, new: int) -> None:
        """Drops the oldest; entries of the same moment are dropped together."""
        too_many = table.count() + new - self._entries
        if too_many <= 0:
            return
        made = sorted(table.rows(["made_us"])["made_us"].to_pylist())
        last = min(too_many + int(self._entries * _EVICT_SHARE), len(made)) - 1
        table.delete(f"made_us <= {made[last]}")


def _known(table: LanceTable, keys: Sequence[str]) -> dict[str, Vectors]:
    import numpy as np

    rows = table.rows(["key", "vector"], among("key", keys)).to_pydict()
    return {key: np.frombuffer(raw, "<f4") for key, raw in zip(rows["key"], rows["vector"], strict=True)}
