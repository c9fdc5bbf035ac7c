"""Caches vectors: returns those that are known, computes the rest and keeps it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from onyx_jupyter.protocols.retrieval import EmbedderIdentity, VectorCache
from onyx_jupyter.providers.embedders.source import Purpose
from onyx_jupyter.storage.vector_cache import vector_key

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

# How many texts are embedded before they are kept: an interruption loses no more.
EMBED_BATCH = 64
_QUERIES = 256


class CachedVectors:
    """Passages are cached on disk, queries in memory: writing each query to disk would be useless."""

    def __init__(self, cache: VectorCache | None) -> None:
        self._cache = cache
        self._queries: OrderedDict[str, Vectors] = OrderedDict()

    async def embed(
        self,
        texts: Sequence[str],
        purpose: Purpose,
        identity: EmbedderIdentity,
        make: Callable[[Sequence[str]], Awaitable[Vectors]],
    ) -> Vectors:
        """float32 (texts, dimension); `make` gets each unknown text once. Raises: whatever `make` raises."""
        import numpy as np

        if purpose == "query":  # a line or two, and somebody is waiting
            keys = _keys(identity, texts, purpose)
        else:
            keys = await asyncio.to_thread(_keys, identity, texts, purpose)
        known = _usable(await self._known(keys, purpose), identity)
        unknown = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        waiting = list(unknown.items())
        for start in range(0, len(waiting), EMBED_BATCH):
            part = waiting[start : start + EMBED_BATCH]
            made = dict(zip((key for key, _ in part), await make([text for _, text in part]), strict=True))
            await self._keep(made, purpose)
            known |= made
        if not texts:
            return np.zeros((0, identity.dimension), np.float32)
        return np.stack([known[key] for key in keys])

    async def _known(self, keys: Sequence[str], purpose: Purpose) -> Mapping[str, Vectors]:
        if purpose == "passage":
            return await self._cache.get(keys) if self._cache is not None else {}
        found = {key: self._queries[key] for key in keys if key in self._queries}
        for key in found:
            self._queries.move_to_end(key)
        return found

    async def _keep(self, vectors: Mapping[str, Vectors], purpose: Purpose) -> None:
        if purpose == "passage":
            if self._cache is not None:
                await self._cache.put(vectors)
            return
        self._queries.update(vectors)
        while len(self._queries) > _QUERIES:
            self._queries.popitem(last=False)


def _keys(identity: EmbedderIdentity, texts: Sequence[str], purpose: Purpose) -> list[str]:
    return [vector_key(identity, text, purpose) for text in texts]


def _usable(found: Mapping[str, Vectors], identity: EmbedderIdentity) -> dict[str, Vectors]:
    """Drops invalid entries of a damaged cache."""
    import numpy as np

    def whole(vector: Vectors) -> bool:
        return vector.shape == (identity.dimension,) and bool(abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3)

    return {key: vector for key, vector in found.items() if whole(vector)}
