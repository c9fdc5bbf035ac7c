"""What an index needs in the background: missing vectors, another embedder's vectors, tidying. It searches nothing.

One task does it, woken by what is written and asked. Where it was ended, it goes on at the next call or the next start.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.protocols.retrieval import EmbedderIdentity
from onyx_jupyter.retrieval.index_vectors import BATCH, IndexVectors
from onyx_jupyter.storage.index_filter import among
from onyx_jupyter.storage.index_rows import as_table, embedded_text
from onyx_jupyter.storage.index_schema import chunk_schema
from onyx_jupyter.storage.lance import VECTORS_BEFORE_INDEX

if TYPE_CHECKING:
    from onyx_jupyter.storage.lance import LanceTable
    from onyx_jupyter.storage.lance_collection import LanceCollection, TableState

# Without a write for so long, the index is tidied up.
IDLE_S = 5.0
# For so long an embedder has to stay before an index that holds another one's vectors changes over to it: one that is
# away for a moment is no reason to embed everything.
STEADY_S = 60.0
_LOOK_S = 5.0
_AGAIN_S = 60.0
_FRAGMENTS = 20
_ROWS_BEHIND = 1_000
_POSTPONED = 5
_COPIED_ROWS = 256
_MISSING = "vector IS NULL AND NOT blank"
_log = logging.getLogger(__name__)


class IndexUpkeep:
    """The background of one index; `note` is what is under way, for who searches meanwhile."""

    def __init__(self, collection: LanceCollection, vectors: IndexVectors, *, idle_s: float, steady_s: float) -> None:
        self._collection = collection
        self._vectors = vectors
        self._idle_s = idle_s
        self._steady_s = steady_s
        self._task: asyncio.Task[None] | None = None
        self._hurry = asyncio.Event()
        self._writes = 0
        self._tidied = -1  # what was left before the start
        self._postponed = 0
        self._again = False
        self._looked_at = float("-inf")
        self._failed_at = float("-inf")
        self._progress: str | None = None
        self._missing = 0

    @property
    def note(self) -> str | None:
        """For its person; None where the index is whole."""
        if self._progress:
            return self._progress
        return f"{self._missing} passages are found by words alone so far." if self._missing else None

    def wrote(self) -> None:
        """Something was written: it may lack vectors, and is tidied up later."""
        self._writes += 1
        self._wake()

    def looked(self) -> None:
        """Something was asked: the embedder may have changed, or be back."""
        now = asyncio.get_running_loop().time()
        if now - self._looked_at >= _LOOK_S:
            self._wake()

    async def settled(self) -> None:
        """Does at once what would wait for a quiet moment."""
        self._failed_at = float("-inf")
        self._wake()
        self._hurry.set()
        try:
            while self._task is not None and not self._task.done():
                await asyncio.wait([self._task])
        finally:
            self._hurry.clear()

    async def close(self) -> None:
        """Ends the task."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def _wake(self) -> None:
        self._again = True
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._again:
            self._again = False
            self._looked_at = asyncio.get_running_loop().time()
            try:
                await self._change_over()
                await self._fill()
                await self._tidy()
            except (IndexUnavailable, EmbeddingError) as error:
                self._failed_at = asyncio.get_running_loop().time()
                _log.warning("The index could not be brought up to date, and is tried again later: %s", error)
            except Exception:
                _log.exception("The upkeep of an index failed.")
                self._failed_at = asyncio.get_running_loop().time()
            finally:
                self._progress = None

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    def _may_embed(self) -> bool:
        return asyncio.get_running_loop().time() - self._failed_at >= _AGAIN_S

    async def _change_over(self) -> None:
        """To the embedder of now, where the serving table holds another one's vectors or none."""
        identity = await self._vectors.current()
        state = await asyncio.to_thread(self._collection.state)
        if identity is None or identity == state.serving.identity:
            self._collection.identity = state.serving.identity if identity is None else identity
            return
        first = self._collection.identity == identity
        self._collection.identity = identity
        if not first and state.serving.identity is not None:
            await self._pause(self._steady_s)
            if await self._vectors.current() != identity:
                return
        if self._may_embed():
            with self._collection.following_lock() as mine:
                if mine:
                    await self._follow(identity)

    async def _follow(self, identity: EmbedderIdentity) -> None:
        following = await asyncio.to_thread(self._collection.begin_following)
        _log.info("The index is being made for the embedder %s/%s.", identity.provider, identity.model)
        while True:
            todo, gone = await asyncio.to_thread(self._differences, following)
            if gone:
                table = self._collection.table(following)
                await asyncio.to_thread(table.delete, among("source", gone))
            if not todo and not gone:
                table = self._collection.table(following)
                await asyncio.to_thread(table.optimise)
                if await asyncio.to_thread(_wants_vector_index, table):
                    await _in_a_thread_of_its_own(table.index_vectors)
                if await asyncio.to_thread(self._finish, following):
                    return
                continue
            await self._copy(todo, following, identity)

    def _differences(self, following: TableState) -> tuple[dict[str, int], set[str]]:
        """Sources that still have to be copied, with the number of their rows, and those that are gone."""
        serving = self._collection.read(lambda table, _: _versions(table))
        copied = _versions(self._collection.table(following))
        todo = {source: version[2] for source, version in serving.items() if copied.get(source) != version}
        return todo, copied.keys() - serving.keys()

    async def _copy(self, todo: Mapping[str, int], following: TableState, identity: EmbedderIdentity) -> None:
        done, total = 0, sum(todo.values())
        for sources in _batches(todo):
            self._progress = f"The index is being made for another embedder ({done} of {total} passages)."
            where = among("source", sources)
            rows = await asyncio.to_thread(
                self._collection.read, lambda table, _, where=where: _whole_rows(table, where)
            )
            vectors = await self._embedded(rows, identity)
            table = self._collection.table(following)
            await asyncio.to_thread(_replace, table, rows, vectors, identity.dimension, where)
            done += len(rows)

    def _finish(self, following: TableState) -> bool:
        with self._collection.locked():
            if any(self._differences(following)):
                return False
            self._collection.swap(following)
            return True

    async def _fill(self) -> None:
        """Vectors for rows that were put while no embedder answered."""
        state = (await asyncio.to_thread(self._collection.state)).serving
        identity = state.identity
        if identity is None:
            self._missing = 0
            return
        ids = await asyncio.to_thread(
            self._collection.read, lambda table, _: table.rows(["id"], _MISSING)["id"].to_pylist()
        )
        self._missing = len(ids)
        if not ids or not self._may_embed() or await self._vectors.current() != identity:
            return
        for start in range(0, len(ids), BATCH):
            where = among("id", ids[start : start + BATCH])
            rows = await asyncio.to_thread(
                self._collection.read, lambda table, _, where=where: _whole_rows(table, where)
            )
            vectors = await self._embedded(rows, identity)
            made = [(row, vector) for row, vector in zip(rows, vectors, strict=True) if vector is not None]
            if made:
                await asyncio.to_thread(self._collection.write, _filled(made, identity))
            self._missing -= len(made)

    async def _embedded(self, rows: Sequence[dict[str, Any]], identity: EmbedderIdentity) -> Sequence[Any]:
        """Raises: EmbeddingError where not one vector could be made."""
        vectors = await self._vectors.of_passages([embedded_text(row) for row in rows], identity)
        if self._vectors.problem and all(vector is None for vector in vectors):
            raise EmbeddingError(self._vectors.problem)
        return vectors

    async def _tidy(self) -> None:
        """When nobody has written for a moment, or has gone on writing for long."""
        writes = self._writes
        if writes == self._tidied:
            return
        await self._pause(self._idle_s)
        if writes != self._writes and not self._hurry.is_set() and self._postponed < _POSTPONED:
            self._postponed += 1
            return
        self._postponed, self._tidied = 0, writes
        most = 0 if self._hurry.is_set() else _ROWS_BEHIND
        await asyncio.to_thread(self._collection.write, lambda table, _: _tidied(table, most))
        table = await asyncio.to_thread(self._collection.read, lambda table, state: table if state.identity else None)
        if table is not None and await asyncio.to_thread(_wants_vector_index, table):
            await _in_a_thread_of_its_own(table.index_vectors)


def _tidied(table: LanceTable, rows_behind: int) -> None:
    if table.fragments() > _FRAGMENTS or table.behind("text") > rows_behind:
        table.optimise()


def _wants_vector_index(table: LanceTable) -> bool:
    return table.count("vector IS NOT NULL") > VECTORS_BEFORE_INDEX and not table.has_vector_index()


def _versions(table: LanceTable) -> dict[str, tuple[str, str, int]]:
    """Source → checksum, chunking and number of rows."""
    rows = table.rows(["source", "checksum", "chunking"]).to_pydict()
    counts = Counter(zip(rows["source"], rows["checksum"], rows["chunking"], strict=True))
    return {source: (checksum, chunking, count) for (source, checksum, chunking), count in counts.items()}


def _whole_rows(table: LanceTable, where: str) -> list[dict[str, Any]]:
    names = chunk_schema(None).names
    rows: list[dict[str, Any]] = table.rows(names, where).to_pylist()
    return rows


def _batches(sources: Mapping[str, int]) -> Iterator[list[str]]:
    """Sources of a few batches of rows together."""
    batch: list[str] = []
    rows = 0
    for source, count in sources.items():
        batch.append(source)
        rows += count
        if rows >= _COPIED_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _replace(
    table: LanceTable, rows: Sequence[dict[str, Any]], vectors: Sequence[Any], dimension: int, where: str
) -> None:
    table.replace(as_table(rows, vectors, dimension), where)


def _filled(
    made: Sequence[tuple[dict[str, Any], Any]], identity: EmbedderIdentity
) -> Callable[[LanceTable, TableState], None]:
    """Writes vectors into the rows that still lack one, if the table still holds vectors of that identity."""

    def work(table: LanceTable, state: TableState) -> None:
        if state.identity == identity:
            rows, vectors = [row for row, _ in made], [vector for _, vector in made]
            table.exchange(as_table(rows, vectors, identity.dimension), where="target.vector IS NULL")

    return work


async def _in_a_thread_of_its_own(work: Callable[[], None]) -> None:
    """Of a thread that the end of the process does not wait for: the work takes long, and nothing is lost with it."""
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    def run() -> None:
        outcome: BaseException | None = None
        try:
            work()
        except Exception as error:
            outcome = error
        with suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(_settle, done, outcome)

    threading.Thread(target=run, name="onyx-vector-index", daemon=True).start()
    await done


def _settle(future: asyncio.Future[None], error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
