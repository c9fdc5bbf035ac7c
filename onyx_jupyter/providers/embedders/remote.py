"""An embedder behind a server: batches, time limits, retries and checks of the answers, for any protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.providers.embedders.http_json import embedding_error
from onyx_jupyter.providers.embedders.source import Purpose
from onyx_jupyter.providers.embedders.task_prefixes import prefixed
from onyx_jupyter.providers.embedders.vectors import encodable, unit_vectors
from onyx_jupyter.providers.error_map import Provider, model_error
from onyx_jupyter.providers.retry import RetryDelays, RetryPolicy

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

BATCH = 64
PROBE_S = 10.0
# Shorter than callers wait for a query, so that a hanging server is noticed before they have all left.
QUERY_S = 3.0
PASSAGES_S = 120.0
# Within the limit of most models, in any language; a chunk is a third of it.
MAX_CHARS = 6_000
# A text of this length that is refused is refused for another reason.
_MIN_CHARS = 400
# Servers refuse an empty text; its vector means nothing, whatever is sent instead.
_NOTHING = "-"

Call = Callable[[Sequence[str], Purpose, float], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class RemoteEmbedder:
    """`call` sends one batch and returns its rows; it raises whatever its library raises."""

    identity: EmbedderIdentity
    provider: Provider
    call: Call
    waits: RetryDelays
    retry: RetryPolicy

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """float32 (texts, dimension), L2-normalised. Passages are worth waiting for, queries are not.

        Raises: EmbeddingError.
        """
        import numpy as np

        sent = [_sendable(self.identity.model, text, purpose) for text in texts]
        batches = [sent[start : start + BATCH] for start in range(0, len(sent), BATCH)]
        none = np.zeros((0, self.identity.dimension), np.float32)
        return np.concatenate([none, *[await self._batch(batch, purpose) for batch in batches]])

    async def _batch(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        import numpy as np

        made = 0
        while True:
            made += 1
            try:
                rows = await _within(self.call, texts, purpose, QUERY_S if purpose == "query" else PASSAGES_S)
            except Exception as error:
                if smaller := self._smaller(error, texts):
                    return np.concatenate([await self._batch(part, purpose) for part in smaller])
                wait_s = None if purpose == "query" else self._wait_s(error, made)
                if wait_s is None:
                    raise embedding_error(error, self.provider) from None
            else:
                return await asyncio.to_thread(
                    unit_vectors,
                    rows,
                    count=len(texts),
                    dimension=self.identity.dimension,
                    title=self.provider.title,
                )
            await self.waits.sleep(wait_s)

    def _smaller(self, error: Exception, texts: Sequence[str]) -> list[Sequence[str]]:
        """What to send instead of texts that were refused: halves of the batch, then the beginning of the text.

        One text that is too long for its model must not keep all the others from being indexed.
        """
        if isinstance(error, EmbeddingError):
            return []
        known = model_error(error, self.provider)
        if known.code != "overflow" and not (known.code == "bad_response" and known.permanent):
            return []
        if len(texts) > 1:
            return [texts[: len(texts) // 2], texts[len(texts) // 2 :]]
        return [[texts[0][: len(texts[0]) // 2]]] if len(texts[0]) > _MIN_CHARS else []

    def _wait_s(self, error: Exception, made: int) -> float | None:
        if isinstance(error, EmbeddingError):
            return None
        return self.retry.wait_s(model_error(error, self.provider), made, self.waits.chance())


async def probed_dimension(call: Call, provider: Provider, model: str) -> int:
    """The dimension of the model's vectors, measured on one of them. Raises: EmbeddingError."""
    try:
        rows = await _within(call, [_sendable(model, "probe", "query")], "query", PROBE_S)
    except Exception as error:
        raise embedding_error(error, provider) from None
    vectors = await asyncio.to_thread(unit_vectors, rows, count=1, dimension=None, title=provider.title)
    return int(vectors.shape[1])


async def _within(call: Call, texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
    async with asyncio.timeout(timeout_s):  # a library's own limit may apply to each byte
        return await call(texts, purpose, timeout_s)


def _sendable(model: str, text: str, purpose: Purpose) -> str:
    text = encodable(text[:MAX_CHARS])
    return prefixed(model, text if text.strip() else _NOTHING, purpose)
