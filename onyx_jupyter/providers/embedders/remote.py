"""An embedder behind a server: batches, time limits, another try, and a check of what came. It knows no protocol."""

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
# Shorter than anybody waits for a query, so that one who hangs is found out before they all have left.
QUERY_S = 3.0
PASSAGES_S = 120.0
# Within what most models read, in any language; a chunk is a third of it.
MAX_CHARS = 6_000
# A text that is refused at this length is refused for another reason.
_LEAST_CHARS = 400
# Servers refuse a text of nothing; its vector means nothing, whatever stands there.
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
        """float32 (texts, dimension), L2-normalised. Passages are worth waiting for, a query is not.

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
        """What to send in place of texts that were refused: halves of the batch, then the text's beginning.

        One text too long for its model must not keep all the others from being found.
        """
        if isinstance(error, EmbeddingError):
            return []
        known = model_error(error, self.provider)
        if known.code != "overflow" and not (known.code == "bad_response" and known.permanent):
            return []
        if len(texts) > 1:
            return [texts[: len(texts) // 2], texts[len(texts) // 2 :]]
        return [[texts[0][: len(texts[0]) // 2]]] if len(texts[0]) > _LEAST_CHARS else []

    def _wait_s(self, error: Exception, made: int) -> float | None:
        if isinstance(error, EmbeddingError):
            return None
        return self.retry.wait_s(model_error(error, self.provider), made, self.waits.chance())


async def probed_dimension(call: Call, provider: Provider, model: str) -> int:
    """How long the model's vectors are, from one of them. Raises: EmbeddingError."""
    try:
        rows = await _within(call, [_sendable(model, "probe", "query")], "query", PROBE_S)
    except Exception as error:
        raise embedding_error(error, provider) from None
    vectors = await asyncio.to_thread(unit_vectors, rows, count=1, dimension=None, title=provider.title)
    return int(vectors.shape[1])


async def _within(call: Call, texts: Sequence[str], purpose: Purpose, timeout_s: float) -> Any:
    async with asyncio.timeout(timeout_s):  # a library's own limit may be that of each byte
        return await call(texts, purpose, timeout_s)


def _sendable(model: str, text: str, purpose: Purpose) -> str:
    text = encodable(text[:MAX_CHARS])
    return prefixed(model, text if text.strip() else _NOTHING, purpose)
