"""The configured embedders, reopened when the configuration changes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.agents.metered_model import terms_of
from onyx_jupyter.agents.settings import embedding_settings
from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import EmbeddingError, ModelError, StorageError
from onyx_jupyter.index_process.client import ProcessEmbedder, ProcessVectorCache
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.messages import Usage
from onyx_jupyter.protocols import EmbedderIdentity
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.providers.embedders.settings import EmbeddingSettings
from onyx_jupyter.providers.embedders.sources import open_embeddings
from onyx_jupyter.usage.call_context import model_calls
from onyx_jupyter.usage.model_call import Terms, settled

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

log = logging.getLogger(__name__)
_ROLE = "embedding"


@dataclass
class _Opened:
    """The embedders of one configuration; `users` is the number of calls in progress."""

    settings: EmbeddingSettings
    choice: EmbedderChoice
    users: int = 0


@dataclass(frozen=True, slots=True)
class _Meter:
    """Counts embeddings beside all other calls of models. They belong to no conversation: the index is everybody's."""

    configured: Configured

    async def admit(self, model_id: str) -> None:
        """Raises: EmbeddingError if the budget is used up, or nobody can tell."""
        try:
            with model_calls(_ROLE):
                await self.configured.meter.admit(self._terms(model_id))
        except (ModelError, StorageError) as error:
            raise EmbeddingError(f"{model_id} makes no embeddings now. {error}") from None

    async def record(self, model_id: str, usage: Usage) -> None:
        terms = self._terms(model_id)
        with model_calls(_ROLE):
            await self.configured.meter.record(model_id, terms, settled(usage, terms))

    def _terms(self, model_id: str) -> Terms:
        return terms_of(model_id, self.configured.settings.config)


class ConfiguredEmbeddings:
    """protocols.Embeddings, shared with its vector cache by every collection of the index."""

    def __init__(
        self,
        configured: Configured,
        redact: Callable[[str], str],
        clock: Clock,
        process: IndexProcess,
    ) -> None:
        """`process` holds the cache, and embeds if no other embedder does."""
        self._configured = configured
        self._clock = clock
        self._redact = redact
        self._process = process
        self._cache = ProcessVectorCache(process)
        self._opened: _Opened | None = None
        self._retired: list[_Opened] = []
        self._closing: set[asyncio.Task[None]] = set()

    async def current(self) -> EmbedderIdentity | None:
        """The embedder that makes vectors now."""
        with self._using() as choice:
            return await choice.current()

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> Vectors:
        """float32 (texts, dimension), L2-normalised, of that identity. Raises: EmbeddingError."""
        with self._using() as choice:
            return await choice.embed(texts, purpose, identity=identity)

    @property
    def problem(self) -> str | None:
        """Why a better embedder is not in use."""
        return self._opened.choice.problem if self._opened else None

    async def close(self) -> None:
        """Ends every embedder's process and connection."""
        opened = [*self._retired, *([self._opened] if self._opened else [])]
        closing = (*self._closing, *(one.choice.close() for one in opened))
        for failure in await asyncio.gather(*closing, return_exceptions=True):
            if isinstance(failure, Exception):
                log.warning("An embedder could not be closed: %s", failure)

    @contextmanager
    def _using(self) -> Iterator[EmbedderChoice]:
        """The embedders of the current configuration; former ones are closed once they are unused."""
        opened = self._as_configured()
        opened.users += 1
        try:
            yield opened.choice
        finally:
            opened.users -= 1
            self._close_unused()

    def _as_configured(self) -> _Opened:
        configured = self._configured
        settings = embedding_settings(configured.settings.config, configured.ceiling, configured.provider_keys)
        if self._opened is None or self._opened.settings != settings:
            if self._opened is not None:
                self._retired.append(self._opened)
            choice = open_embeddings(
                settings,
                clock=self._clock,
                redact=self._redact,
                cache=self._cache,
                open_local=self._open_local,
                meter=_Meter(self._configured),
            )
            self._opened = _Opened(settings, choice)
        return self._opened

    def _open_local(self, clock: Clock, /, *, threads: int | None, idle_s: float) -> ProcessEmbedder:
        return ProcessEmbedder(self._process, LocalEmbedder(clock), threads, idle_s)

    def _close_unused(self) -> None:
        for opened in [one for one in self._retired if not one.users]:
            self._retired.remove(opened)
            closing = asyncio.create_task(opened.choice.close(), name="onyx former embedders")
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)
