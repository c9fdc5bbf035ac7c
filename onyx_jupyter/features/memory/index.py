"""Memory search: keeps the index in step with the memory files, and searches by words alone if it cannot be used.

It starts with the first client or the first search, and never blocks a caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from onyx_jupyter.clock import Clock
from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.index_process.client import OpenIndex
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.sync import FileProblem, MemorySync, SyncReport
from onyx_jupyter.memory.word_search import found_by_words
from onyx_jupyter.protocols import Found, SearchAnswer, SearchFilter
from onyx_jupyter.retrieval.chunking import NOTE_SIZE, fingerprint
from onyx_jupyter.retrieval.index_updater import IndexUpdater
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.storage.watch import QUIET_S, FolderWatch, Settling

COLLECTION = "memory"
SEEN_FILE = "memory_files.json"
INDEXING = "The memory files are still being indexed, so only keywords were searched."
# Leaves the first seconds to the page and the first answer.
_FIRST_S = 2.0
_ALL_PASSAGES = 1000


@dataclass(frozen=True, slots=True)
class IndexState:
    """`is_synced`: the index covers all files; `progress` is (files done, files in total) while some are being read."""

    is_synced: bool
    files: int = 0
    chunks: int | None = None
    problems: Sequence[FileProblem] = ()
    problem: str | None = None
    progress: tuple[int, int] | None = None


class MemoryIndex:
    """`memories` returns the files of every agent; `on_state` is called when `state` has changed.

    `folder` is the index folder; the record of the files seen is kept there too.
    """

    def __init__(
        self,
        folder: Path,
        memories: Callable[[], Sequence[MemoryFiles]],
        open_index: OpenIndex,
        settings: Callable[[], SearchSettings],
        clock: Clock,
        on_state: Callable[[], None],
        *,
        quiet_s: float = QUIET_S,
    ) -> None:
        self._memories = memories
        self._on_state = on_state
        self._updater = IndexUpdater("memory files", self._update, first_s=_FIRST_S, on_change=self._fell_behind)
        self._index = open_index(COLLECTION, chunking=fingerprint(NOTE_SIZE), on_emptied=self._lost)
        self._sync = MemorySync(
            self._index,
            memories,
            folder / SEEN_FILE,
            clock,
            settling=Settling(clock, quiet_s),
            on_progress=self._progressed,
            on_step=self._on_synced,
        )
        self._settings = settings
        self._search = HybridSearch(self._index, settings, clock, fallback=self._by_words)
        self._watch = FolderWatch(lambda: [place for memory in self._memories() for place in memory.folder.folders])
        self._watching: asyncio.Task[None] | None = None
        self.state = IndexState(is_synced=False)

    def start(self, *, at_once: bool = False) -> None:
        """Starts following the files in the background, once; `at_once`: a search is about to come."""
        self._updater.want() if at_once else self._updater.start()
        if self._watching is None:
            self._watching = asyncio.create_task(self._follow_folders(), name="onyx memory watch")

    @property
    def has_begun(self) -> bool:
        return self._updater.has_started

    def changed(self, file: Path, *, is_whole: bool) -> None:
        """Called when a file has changed; `is_whole`: it was written atomically, so it can be read at once."""
        if is_whole:
            self._sync.trust(file)
        self._updater.changed()

    async def search(
        self, query: str, only: SearchFilter, *, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        """The best passages of the agents in `only`. Raises: StorageError if not even the files can be read."""
        self.start(at_once=True)
        if self._updater.is_complete:
            asked = self._search.search(query, only=only, limit=limit, min_score=min_score)
            if (answer := await self._updater.ask(asked)) is not None:
                return answer
        found = await self._by_words(query, only, limit or self._settings().limit)
        return SearchAnswer(found, self._updater.problem or INDEXING)

    async def indexed(self) -> dict[tuple[str, str], str]:
        """(agent, path) → checksum of the indexed content; empty if the index cannot be used."""
        try:
            return dict(await self._index.checksums()) if self.has_begun else {}
        except IndexUnavailable:
            return {}

    async def settled(self) -> None:
        """Returns when no background work is left."""
        await self._index.settled()

    async def close(self) -> None:
        await self._updater.close()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        await self._index.close()

    async def _by_words(self, query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        found = [one for memory in self._memories() for one in await _words_in(memory, query, only)]
        return sorted(dict.fromkeys(found), key=lambda one: one.score, reverse=True)[:limit]

    async def _update(self) -> float | None:
        return (await self._sync.run()).wait_s

    async def _on_synced(self, report: SyncReport) -> None:
        is_synced = self._updater.is_complete or not report.missing
        chunks = await self._chunks()
        self._updater.updated(is_complete=is_synced)
        state = IndexState(is_synced, report.files, chunks, tuple(report.problems))
        self._notify(state, force=bool(report.put or report.removed))

    async def _chunks(self) -> int | None:
        with suppress(IndexUnavailable):
            return await self._index.count()
        return None

    async def _follow_folders(self) -> None:
        async for paths in self._watch.changes():
            if not paths or any(path.suffix.lower() in (".md", ".jsonl") for path in paths):
                self._updater.changed()

    def _progressed(self, done: int, total: int) -> None:
        self._notify(replace(self.state, progress=(done, total) if done < total else None))

    def _lost(self, why: str) -> None:
        self.state = replace(self.state, chunks=None)
        self._updater.lost(why)

    def _fell_behind(self) -> None:
        self._notify(
            replace(self.state, is_synced=self._updater.is_complete, problem=self._updater.problem, progress=None)
        )

    def _notify(self, state: IndexState, *, force: bool = False) -> None:
        if force or state != self.state:
            self.state = state
            self._on_state()


async def _words_in(memory: MemoryFiles, query: str, only: SearchFilter) -> Sequence[Found]:
    if only.agents is not None and memory.agent_id not in only.agents:
        return []
    return found_by_words(await memory.search(query, _ALL_PASSAGES), memory.agent_id, only, _ALL_PASSAGES)
