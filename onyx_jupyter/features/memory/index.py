"""Memory search: keeps the index in step with the memory files, and searches by words alone if it cannot be used.

It starts with the first client or the first search, and never blocks a caller.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import IndexUnavailable, OnyxError
from onyx_jupyter.index_process.client import OpenIndex
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.sync import FileProblem, MemorySync, SyncReport
from onyx_jupyter.memory.word_search import found_by_words
from onyx_jupyter.protocols import Found, SearchAnswer, SearchFilter
from onyx_jupyter.retrieval.chunking import NOTE_SIZE, fingerprint
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.storage.watch import QUIET_S, FolderWatch, Settling

log = logging.getLogger(__name__)
COLLECTION = "memory"
SEEN_FILE = "memory_files.json"
BEING_READ = "The memory files are still being read into the index, so words alone were searched."
# Changes that no watch reports (a network drive, a file changed between two looks) are found at the next look.
_LOOK_S = 60.0
# Leaves the first seconds to the page and the first answer; a search does not wait for them.
_FIRST_LOOK_S = 2.0
_ALL_PASSAGES = 1000


@dataclass(frozen=True, slots=True)
class IndexState:
    """`in_step`: the index covers all files; `progress` is (files done, files in total) while some are being read."""

    in_step: bool
    files: int = 0
    chunks: int | None = None
    problems: Sequence[FileProblem] = ()
    problem: str | None = None
    progress: tuple[int, int] | None = None


class MemoryIndex:
    """`memories` returns the files of every agent; `on_news` is called when `state` has changed.

    `folder` is the index folder; the record of the files seen is kept there too.
    """

    def __init__(
        self,
        folder: Path,
        memories: Callable[[], Sequence[MemoryFiles]],
        open_index: OpenIndex,
        settings: Callable[[], SearchSettings],
        clock: Clock,
        on_news: Callable[[], None],
        *,
        quiet_s: float = QUIET_S,
    ) -> None:
        self._memories = memories
        self._on_news = on_news
        self._index = open_index(COLLECTION, chunking=fingerprint(NOTE_SIZE), on_emptied=self._index_was_lost)
        self._sync = MemorySync(
            self._index,
            memories,
            folder / SEEN_FILE,
            clock,
            settling=Settling(clock, quiet_s),
            on_progress=self._progressed,
            on_step=self._in_step,
        )
        self._settings = settings
        self._search = HybridSearch(self._index, settings, clock, fallback=self._by_words)
        self._watch = FolderWatch(lambda: [place for memory in self._memories() for place in memory.folder.folders])
        self._changed = asyncio.Event()
        self._wanted = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self.state = IndexState(in_step=False)

    def start(self, *, at_once: bool = False) -> None:
        """Starts following the files in the background, once; `at_once`: a search is about to come."""
        if at_once:
            self._wanted.set()
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._keep_in_step(), name="onyx memory index"),
                asyncio.create_task(self._follow_folders(), name="onyx memory watch"),
            ]

    @property
    def has_begun(self) -> bool:
        return bool(self._tasks)

    def changed(self, file: Path, *, is_whole: bool) -> None:
        """Called when a file has changed; `is_whole`: it was written atomically, so it can be read at once."""
        if is_whole:
            self._sync.trust(file)
        self._changed.set()

    async def search(
        self, query: str, only: SearchFilter, *, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        """The best passages of the agents in `only`. Raises: StorageError if not even the files can be read."""
        self.start()
        self._wanted.set()
        if self.state.in_step:
            answer = await self._search.search(query, only=only, limit=limit, min_score=min_score)
            if self.state.in_step:  # otherwise this search found the index lost
                return answer
        found = await self._by_words(query, only, limit or self._settings().limit)
        return SearchAnswer(found, self.state.problem or BEING_READ)

    async def indexed(self) -> dict[tuple[str, str], str]:
        """(agent, path) → checksum of the indexed content; empty if the index cannot be used."""
        try:
            return dict(await self._index.checksums()) if self._tasks else {}
        except IndexUnavailable:
            return {}

    async def settled(self) -> None:
        """Returns when no background work is left."""
        await self._index.settled()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._index.close()

    async def _by_words(self, query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        found = [one for memory in self._memories() for one in await _words_in(memory, query, only)]
        return sorted(dict.fromkeys(found), key=lambda one: one.score, reverse=True)[:limit]

    async def _keep_in_step(self) -> None:
        await _set_within(self._wanted, _FIRST_LOOK_S)
        while True:
            self._changed.clear()
            wait_s = await self._look()
            await _set_within(self._changed, _LOOK_S if wait_s is None else min(wait_s, _LOOK_S))

    async def _look(self) -> float | None:
        """Updates the index; returns the seconds until the next look, None if no file waits for one."""
        try:
            report = await self._sync.run()
        except OnyxError as error:
            log.warning("The memory files could not be brought into the index: %s", error)
            self._tell(IndexState(False, self.state.files, self.state.chunks, self.state.problems, str(error)))
            return None
        except Exception:  # fall back to a search without the index
            log.exception("The memory files could not be brought into the index")
            problem = "The index cannot be used: something in Onyx went wrong. The server's log has the details."
            self._tell(IndexState(False, self.state.files, self.state.chunks, self.state.problems, problem))
            return None
        return report.wait_s

    async def _in_step(self, report: SyncReport) -> None:
        in_step = self.state.in_step or not report.missing
        state = IndexState(in_step, report.files, await self._chunks(), tuple(report.problems))
        self._tell(state, even_if_the_same=bool(report.put or report.removed))

    async def _chunks(self) -> int | None:
        with suppress(IndexUnavailable):
            return await self._index.count()
        return None

    async def _follow_folders(self) -> None:
        async for paths in self._watch.changes():
            if not paths or any(path.suffix.lower() in (".md", ".jsonl") for path in paths):
                self._changed.set()

    def _progressed(self, done: int, total: int) -> None:
        state = self.state
        progress = (done, total) if done < total else None
        self._tell(IndexState(state.in_step, state.files, state.chunks, state.problems, state.problem, progress))

    def _index_was_lost(self, why: str) -> None:
        self._tell(IndexState(False, self.state.files, None, self.state.problems, f"{why} Words alone were searched."))
        self._changed.set()

    def _tell(self, state: IndexState, *, even_if_the_same: bool = False) -> None:
        if even_if_the_same or state != self.state:
            self.state = state
            self._on_news()


async def _set_within(event: asyncio.Event, seconds: float) -> None:
    """Returns when the event is set or the time is up."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def _words_in(memory: MemoryFiles, query: str, only: SearchFilter) -> Sequence[Found]:
    if only.agents is not None and memory.agent_id not in only.agents:
        return []
    return found_by_words(await memory.search(query, _ALL_PASSAGES), memory.agent_id, only, _ALL_PASSAGES)
