"""Maintains an index in the background: adds missing vectors, changes embedders, tidies up.

A single task does it, woken by writes and searches, and by a timer if work is waiting or has failed. If it was stopped,
it continues at the next call or the next start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.retrieval.index_vectors import IndexVectors
from onyx_jupyter.retrieval.reindex import Reindex, index_vectors, wants_vector_index, whole_rows
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_history import IndexHistory
from onyx_jupyter.storage.index_rows import as_table
from onyx_jupyter.storage.lance import KEEP_VERSIONS_S
from onyx_jupyter.storage.thread_executor import SerialExecutor

if TYPE_CHECKING:
    from onyx_jupyter.storage.lance import LanceTable
    from onyx_jupyter.storage.lance_collection import FollowingLock, LanceCollection, TableState
    from onyx_jupyter.storage.table_view import NewestView

T = TypeVar("T")
# The index is tidied after this long without a write.
IDLE_S = 5.0
# An embedder must stay this long before an index with another one's vectors changes over to it: a short absence is no
# reason to embed everything again.
STEADY_S = 60.0
# The same if this server has just started and the other embedder may only not be available yet.
_START_S = 600.0
# After this long without a search, the index's memory is released; the embedded embedder unloads by then, too.
REST_S = 600.0
_CHECK_S = 5.0
_RETRY_S = 60.0
_FRAGMENTS = 20
# The current one, and one that tidying leaves behind.
_VERSIONS = 2
_ROWS_BEHIND = 1_000
_POSTPONED = 5
_FILLED_ROWS = 1_024
_MISSING = "vector IS NULL AND NOT blank"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MaintenanceTimes:
    """Seconds: without writes before tidying, before a change of the embedder is followed, that old states are kept.

    `rest_s`: without a search before the memory held by searches is released.
    """

    idle_s: float = IDLE_S
    steady_s: float = STEADY_S
    kept_s: float = KEEP_VERSIONS_S
    rest_s: float = REST_S


class IndexMaintenance:
    """The maintenance of one index; `note` describes the work in progress for anyone who searches meanwhile.

    `waits_for` is the embedder that the index changes over to once it has stayed long enough.
    """

    def __init__(
        self,
        collection: LanceCollection,
        vectors: IndexVectors,
        history: IndexHistory,
        writer: SerialExecutor,
        views: NewestView,
        times: MaintenanceTimes,
    ) -> None:
        self._collection = collection
        self._vectors = vectors
        self._history = history
        self._writer = writer
        self._views = views
        self._times = times
        self._following = Reindex(collection, vectors, writer, views, self._progressed)
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False
        self._urgent = asyncio.Event()
        self._writes = 0
        self._tidied = -1  # left from before the start
        self._scanned = (-1, float("-inf"))
        self._clean_at: float | None = None
        self._postponed = 0
        self._again = False
        self._checked_at = float("-inf")
        self._searched_at: float | None = None
        self._failed_at = float("-inf")
        self._failure: str | None = None
        self._has_served_mine = False
        self._waits_until = 0.0
        self.waits_for: EmbedderIdentity | None = None
        self._progress: str | None = None
        self._missing = 0

    @property
    def note(self) -> str | None:
        """A note for the user; None if the index is complete."""
        if self._progress:
            return self._progress
        return f"{self._missing} passages can only be found by keyword so far." if self._missing else None

    def wrote(self) -> None:
        """Call after a write: vectors may be missing, and the index is tidied later."""
        self._writes += 1
        self._wake()

    def on_search(self) -> None:
        """Call after a search: the embedder may have changed or be back, and memory has to be released later."""
        self._searched_at = _now()
        self._wake_in(self._times.rest_s)
        if _now() - self._checked_at >= _CHECK_S:
            self._wake()

    async def settled(self) -> None:
        """Does all pending work at once, without waiting for a quiet moment."""
        self._failed_at = float("-inf")
        self._wake()
        self._urgent.set()
        try:
            while self._task is not None and not self._task.done():
                await asyncio.wait([self._task])
        finally:
            self._urgent.clear()

    async def close(self) -> None:
        """Ends the task; no new one starts."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _wake(self) -> None:
        if self._closed:
            return
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="onyx index upkeep")

    def _wake_in(self, seconds: float) -> None:
        """Wakes the task at the latest then; each pass sets what it still waits for."""
        at = _now() + seconds
        if self._closed:
            return
        if self._timer is None or self._timer.cancelled() or self._timer.when() > at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = asyncio.get_running_loop().call_at(at, self._wake_by_timer)

    def _wake_by_timer(self) -> None:
        self._timer = None
        self._wake()

    async def _run(self) -> None:
        while self._again:
            self._again = False
            self._checked_at = _now()
            try:
                well = await self._with_vectors()
                await self._tidy()
                await self._index_vectors()
                self._failure = None if well else self._failure
            except IndexUnavailable as error:
                self._failed(error)
            except Exception:
                _log.exception("Index maintenance failed.")
                self._failed_at = _now()
                self._wake_in(_RETRY_S)
            finally:
                self._progress = None
            await self._rest()

    async def _rest(self) -> None:
        """Releases the memory held by searches after a long time without one."""
        if self._searched_at is None:
            return
        left_s = self._searched_at + self._times.rest_s - _now()
        if left_s > 0:
            self._wake_in(left_s)
            return
        self._searched_at = None
        await asyncio.to_thread(self._views.release)

    async def _with_vectors(self) -> bool:
        """Whether the embedder worked; a failing one doesn't block tidying."""
        try:
            await self._switch_embedder()
            await self._fill()
        except EmbeddingError as error:
            self._failed_at = _now()
            self._failed(error)
            return False
        return True

    def _failed(self, error: IndexUnavailable | EmbeddingError) -> None:
        if self._failure != str(error):
            _log.warning("The index could not be updated; trying again later: %s", error)
        self._failure = str(error)
        self._wake_in(_RETRY_S)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._urgent.wait()

    def _may_embed(self) -> bool:
        return _now() - self._failed_at >= _RETRY_S

    async def _switch_embedder(self) -> None:
        """Changes over to the current embedder if the serving table has another one's vectors or none."""
        identity = await self._vectors.current()
        serving = (await asyncio.to_thread(self._collection.state)).serving.identity
        self._collection.identity = serving if identity is None else identity
        if identity is None or identity == serving:
            self._has_served_mine = self._has_served_mine or identity is not None
            self.waits_for = None
            return
        wait_s = 0.0 if serving is None else await self._wait_s(identity, serving)
        if wait_s > 0 or not self._may_embed():
            self._wake_in(min(wait_s or _RETRY_S, _RETRY_S))
            return
        async with self._alone() as lock:
            if lock is None:
                self._wake_in(_RETRY_S)
            elif await self._following.make(identity, lock):
                self._has_served_mine, self.waits_for = True, None
                await asyncio.to_thread(self._history.changed)

    async def _wait_s(self, identity: EmbedderIdentity, serving: EmbedderIdentity) -> float:
        """How long the index keeps its vectors although the current embedder would make others."""
        if self.waits_for != identity:
            may_be_late = not self._has_served_mine and await self._vectors.can_be_made(serving)
            self.waits_for = identity
            self._waits_until = _now() + (_START_S if may_be_late else self._times.steady_s)
        if self._urgent.is_set():
            return 0.0
        return max(self._waits_until - _now(), await asyncio.to_thread(self._history.wait_s))

    async def _fill(self) -> None:
        """Adds vectors to rows that were put while no embedder answered."""
        state = (await asyncio.to_thread(self._collection.state)).serving
        identity = state.identity
        if identity is None:
            self._missing = 0
            return
        if not self._missing and not self._is_worth_a_scan():
            return
        ids = await asyncio.to_thread(
            self._collection.read, lambda table, _: table.rows(["id"], _MISSING)["id"].to_pylist()
        )
        self._missing = len(ids)
        if ids and not (self._may_embed() and await self._vectors.current() == identity):
            self._wake_in(_RETRY_S)
            return
        for start in range(0, len(ids), _FILLED_ROWS):
            where = among("id", ids[start : start + _FILLED_ROWS])
            rows = await asyncio.to_thread(whole_rows, self._collection, where)
            vectors = await self._vectors.of_rows(rows, identity)
            made = [(row, vector) for row, vector in zip(rows, vectors, strict=True) if vector is not None]
            if made:
                await self._write(_filled(made, identity))
                self._writes += 1
            self._missing -= len(made)

    async def _tidy(self) -> None:
        """Tidies after a pause in writing, or after long continuous writing; and again when old states may go."""
        writes, cleans = self._writes, self._clean_at is not None and _now() >= self._clean_at
        if writes != self._tidied:
            await self._pause(self._times.idle_s)
            if writes != self._writes and not self._urgent.is_set() and self._postponed < _POSTPONED:
                self._postponed += 1
                return
        elif not cleans:
            self._wake_for_cleaning()
            return
        most, kept_s = 0 if self._urgent.is_set() else _ROWS_BEHIND, self._times.kept_s
        left = await self._write(lambda table, _: _tidied(table, most, kept_s, cleans=cleans))
        self._postponed, self._tidied = 0, writes
        if cleans or self._clean_at is None:
            self._clean_at = _now() + kept_s if left > _VERSIONS else None
        self._wake_for_cleaning()

    def _wake_for_cleaning(self) -> None:
        if self._clean_at is not None:
            self._wake_in(max(0.0, self._clean_at - _now()))

    async def _index_vectors(self) -> None:
        """Only one server does this; another's commits could make it fail."""
        if not self._is_worth_a_scan():
            return
        scanned = (self._writes, _now())
        if await asyncio.to_thread(self._collection.read, self._without_vector_index) is not None:
            async with self._alone() as lock:
                if lock is None:
                    self._wake_in(_RETRY_S)
                elif table := await asyncio.to_thread(self._collection.read, self._without_vector_index):
                    await index_vectors(table, lock)
        self._scanned = scanned

    def _without_vector_index(self, table: LanceTable, state: TableState) -> LanceTable | None:
        return table if state.identity and wants_vector_index(table, self._views) else None

    def _is_worth_a_scan(self) -> bool:
        """Reading all rows slows down searches: only after a write, and now and then for other servers' writes."""
        writes, at = self._scanned
        return writes != self._writes or self._urgent.is_set() or _now() - at >= _RETRY_S

    async def _write(self, work: Callable[[LanceTable, TableState], T]) -> T:
        return await self._writer.run(lambda: self._collection.write(work))

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[FollowingLock | None]:
        """The lock; None if another server holds it."""
        lock = self._collection.following_lock()
        try:
            yield lock if await asyncio.to_thread(lock.take) else None
        finally:
            await asyncio.to_thread(lock.release_lock)

    def _progressed(self, words: str) -> None:
        self._progress = words


def _now() -> float:
    return asyncio.get_running_loop().time()


def _tidied(table: LanceTable, rows_behind: int, kept_s: float, *, cleans: bool) -> int:
    """Tidies the table. Returns how many of its states are left on disk."""
    if cleans or table.fragments() > _FRAGMENTS or table.behind("text") > rows_behind:
        table.optimise(kept_s)
    return table.versions()


def _filled(
    made: Sequence[tuple[dict[str, Any], Any]], identity: EmbedderIdentity
) -> Callable[[LanceTable, TableState], None]:
    """Writes vectors into rows that still lack one, if the table still has vectors of that embedder."""

    def work(table: LanceTable, state: TableState) -> None:
        if state.identity == identity:
            rows, vectors = [row for row, _ in made], [vector for _, vector in made]
            table.exchange(as_table(rows, vectors, identity.dimension), where="target.vector IS NULL")

    return work
