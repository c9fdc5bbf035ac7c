"""Chooses the embedder: the best that answers, and keeps it as long as possible.

Vectors of two embedders cannot be compared, so changing the embedder means embedding everything again. One that fails
briefly is therefore not replaced: until it is back, search uses words alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import EmbeddingError
from onyx_jupyter.protocols.retrieval import EmbedderIdentity, VectorCache
from onyx_jupyter.providers.embedders.cached_vectors import CachedVectors
from onyx_jupyter.providers.embedders.source import EmbedderSource, Purpose
from onyx_jupyter.providers.embedders.source_health import FAILOVER_AFTER_S, SourceHealth

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

log = logging.getLogger(__name__)
# How often the embedder in use is asked whether it still has the same model.
COMPARED_EVERY_S = 600.0


class EmbedderChoice:
    """protocols.Embeddings over the sources, best first. `redact` removes secrets from what leaves the process."""

    def __init__(
        self,
        sources: Sequence[EmbedderSource],
        *,
        clock: Clock,
        redact: Callable[[str], str],
        cache: VectorCache | None = None,
    ) -> None:
        self._standings = [SourceHealth(source) for source in sources]
        self._clock = clock
        self._redact = redact
        self._remembered = CachedVectors(cache)
        self._chosen: SourceHealth | None = None
        self._first_check: asyncio.Task[None] | None = None
        self._check_task: asyncio.Task[None] | None = None
        self._checked_at_s = self._compared_at_s = clock.monotonic()
        self._queries: set[asyncio.Task[Vectors]] = set()

    async def current(self) -> EmbedderIdentity | None:
        """The embedder in use. The first call looks for one, for seconds at most; later calls never wait."""
        if self._first_check is None:
            self._first_check = asyncio.create_task(self._choose_first(), name="onyx embedders, first look")
        await asyncio.shield(self._first_check)  # a caller may stop waiting; the result is kept for the next one
        self._check_sources()
        return self._chosen.embedder.identity if self._chosen and self._chosen.embedder else None

    async def embed(self, texts: Sequence[str], purpose: Purpose, *, identity: EmbedderIdentity) -> Vectors:
        """float32 (texts, dimension), L2-normalised, of that identity; known ones come from the cache.

        After a failure, calls fail at once until the next try is due. Passing no texts checks whether such vectors can
        be made. Raises: EmbeddingError.
        """
        standing = self._source_of(identity)
        standing.is_asked_for = True
        sent = texts
        if not standing.source.in_process:
            sent = await asyncio.to_thread(lambda: [self._redact(text) for text in texts])

        async def make(part: Sequence[str]) -> Vectors:
            made = self._embed_with(standing, part, purpose, identity)
            return await (made if purpose == "passage" else self._shielded_query(made))

        try:
            return await self._remembered.embed(sent, purpose, identity, make)
        finally:
            self._check_sources()

    @property
    def problem(self) -> str | None:
        """Why a better embedder is not in use now; one that was never set up doesn't count."""
        if not self._is_initialized or not self._standings:
            return None
        if self._chosen is not None and self._chosen.error is not None:
            return f"{_format_error(self._chosen.error)} Until it answers again, only keywords are searched."
        missed = [one.error for one in self._preferred_sources() if one.error is not None and one.source.expected]
        if not missed:
            return None
        instead = f"{self._chosen.source.title} is used instead." if self._chosen else "Only keywords are searched."
        return " ".join([*(_format_error(error) for error in missed), instead])

    async def close(self) -> None:
        """Stops the background tasks, and releases memory and connections."""
        tasks = [task for task in (self._first_check, self._check_task, *self._queries) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for standing in self._standings:
            await standing.source.close()

    async def _shielded_query(self, made: Coroutine[Any, Any, Vectors]) -> Vectors:
        """Records the outcome of a query even if its caller stops waiting first.

        Otherwise a hanging embedder would never be noticed, and every query would wait for it.
        """
        query = asyncio.create_task(made, name="onyx query embedding")
        self._queries.add(query)
        query.add_done_callback(self._query_ended)
        return await asyncio.shield(query)

    def _query_ended(self, query: asyncio.Task[Vectors]) -> None:
        self._queries.discard(query)
        if not query.cancelled():
            query.exception()  # it is recorded already, whether or not anybody still waits

    async def _embed_with(
        self, standing: SourceHealth, texts: Sequence[str], purpose: Purpose, identity: EmbedderIdentity
    ) -> Vectors:
        now_s = self._clock.monotonic()
        if standing.error is not None and not standing.is_due(now_s):
            wait_s = math.ceil(standing.next_try_s - now_s)
            raise EmbeddingError(f"{_format_error(standing.error)} Onyx tries it again in {wait_s} s.")
        with self._failures_of(standing):
            embedder = standing.embedder = standing.embedder or await standing.source.open()
            if embedder.identity != identity:
                raise EmbeddingError(f"{standing.source.title} now has a different model: {embedder.identity.model}.")
            vectors = await embedder.embed(texts, purpose)
            if vectors.shape != (len(texts), identity.dimension):
                raise EmbeddingError(f"{standing.source.title} returned embeddings of a different size.")
        standing.succeeded(self._clock.monotonic())
        return vectors

    def _source_of(self, identity: EmbedderIdentity) -> SourceHealth:
        """The source of such vectors; also one that is no longer the best, while an older index is searched."""
        for standing in self._standings:
            if standing.source.provider == identity.provider and (
                standing.embedder is None or standing.embedder.identity == identity
            ):
                return standing
        raise EmbeddingError(f"The embedder {identity.provider}/{identity.model} is no longer available.")

    @property
    def _is_initialized(self) -> bool:
        return self._first_check is not None and self._first_check.done()

    async def _choose_first(self) -> None:
        for standing in self._standings:
            if await self._opens(standing):
                standing.succeeded(self._clock.monotonic())
                self._choose(standing)
                return
        if self._standings:
            log.info("No embedder is available: only keywords are searched.")

    def _check_sources(self) -> None:
        """Starts checking the sources that are due, in the background."""
        if self._is_initialized and (self._check_task is None or self._check_task.done()) and self._due():
            self._check_task = asyncio.create_task(self._reconsider(), name="onyx embedders")

    def _due(self) -> list[SourceHealth]:
        """The better sources, and the chosen one if it fails or has not been compared for a while."""
        now_s = self._clock.monotonic()
        is_to_be_compared = now_s - self._compared_at_s >= COMPARED_EVERY_S
        chosen = [self._chosen] if self._chosen is not None and (self._chosen.failing or is_to_be_compared) else []
        return [standing for standing in [*self._preferred_sources(), *chosen] if standing.is_due(now_s)]

    async def _reconsider(self) -> None:
        for standing in self._due():
            if standing is self._chosen and not standing.failing:
                await self._compare(standing)
                continue
            well = await self._answers(standing)
            now_s = self._clock.monotonic()
            if standing is self._chosen:
                if not well and standing.is_abandoned(now_s):
                    self._drop_chosen()
            elif well and (self._chosen is None or standing.is_steady(now_s) or self._is_only_late(standing, now_s)):
                self._drop_chosen()
                self._choose(standing)
                return
            elif well:
                standing.postpone_check(now_s)
        if self._chosen is None:
            await self._choose_next()

    async def _compare(self, standing: SourceHealth) -> None:
        """Opens a model that replaced the old one of that name. If the source cannot say, the next text shows it."""
        self._compared_at_s = self._clock.monotonic()
        assert standing.embedder is not None
        identity = standing.embedder.identity
        with contextlib.suppress(EmbeddingError):
            if not await standing.source.still_has(identity) and await self._opens(standing):
                log.info("%s now has a different model than %s.", standing.source.title, identity.model)

    def _is_only_late(self, standing: SourceHealth, now_s: float) -> bool:
        """Whether it was missing only when this server started, and an older index holds its vectors."""
        began_just_now = now_s - self._checked_at_s < FAILOVER_AFTER_S
        return began_just_now and standing.is_asked_for and not standing.was_left

    async def _choose_next(self) -> None:
        """Chooses the best source that may be called; the lower ones were not checked while a better one was in use."""
        for standing in self._standings:
            if standing.is_due(self._clock.monotonic()) and await self._answers(standing):
                self._choose(standing)
                return

    def _choose(self, standing: SourceHealth) -> None:
        self._chosen = standing
        log.info("Using %s for embeddings.", standing.source.title)

    def _drop_chosen(self) -> None:
        if self._chosen is not None:
            self._chosen.leave()
            self._chosen = None

    def _preferred_sources(self) -> list[SourceHealth]:
        """The sources before the chosen one."""
        return self._standings if self._chosen is None else self._standings[: self._standings.index(self._chosen)]

    async def _answers(self, standing: SourceHealth) -> bool:
        """Whether it can make a vector."""
        if not await self._opens(standing):
            return False
        with contextlib.suppress(EmbeddingError), self._failures_of(standing):
            assert standing.embedder is not None
            await standing.embedder.embed(["probe"], "query")
            standing.succeeded(self._clock.monotonic())
            return True
        return False

    async def _opens(self, standing: SourceHealth) -> bool:
        """Whether it can be opened."""
        with contextlib.suppress(EmbeddingError), self._failures_of(standing):
            standing.embedder = await standing.source.open()
            return True
        return False

    @contextlib.contextmanager
    def _failures_of(self, standing: SourceHealth) -> Iterator[None]:
        """Records failures inside. Raises: EmbeddingError, also for a bug of ours: another embedder may still work."""
        try:
            yield
        except EmbeddingError as error:
            self._failed(standing, error)
            raise
        except Exception as error:
            log.exception("%s failed unexpectedly.", standing.source.title)
            failure = EmbeddingError(f"{standing.source.title} failed ({type(error).__name__}).")
            self._failed(standing, failure)
            raise failure from error

    def _failed(self, standing: SourceHealth, error: EmbeddingError) -> None:
        if not standing.failing and standing.source.expected:
            log.warning("%s", _format_error(error))
        standing.failed(error, self._clock.monotonic(), in_use=standing is self._chosen)


def _format_error(error: EmbeddingError) -> str:
    return f"{error} {error.hint}" if error.hint and not str(error).endswith(error.hint) else str(error)
