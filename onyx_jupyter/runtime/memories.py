"""The memory of every agent of one server: its files, their versions, search in them, and who is told of a change.

It puts the parts together, and writes no file itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from onyx_jupyter.clock import Clock
from onyx_jupyter.config.paths import Home
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.overview import FileState, file_states
from onyx_jupyter.memory.word_search import found_by_words
from onyx_jupyter.protocols import EmbedderIdentity, FileVersion, SearchAnswer, SearchFilter
from onyx_jupyter.runtime.configured import Configured
from onyx_jupyter.storage.versions import VersionedFile, VersionStore

ALL_PASSAGES = 1000
Broadcast = Callable[[str, dict[str, object]], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something cannot be searched: a file, or without `path` the index or the embedder."""

    message: str
    path: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryState:
    """How search stands; `progress` is files done and in all, while some are read into the index."""

    searches: Literal["index", "words"]
    files: int
    problems: Sequence[Problem]
    chunks: int | None = None
    embedder: EmbedderIdentity | None = None
    progress: tuple[int, int] | None = None


class Memories:
    """`project` is the server's root; `broadcast` tells every client."""

    def __init__(self, home: Home, project: Path, configured: Configured, broadcast: Broadcast, clock: Clock) -> None:
        self._home = home
        self._project = project
        self._configured = configured
        self._broadcast = broadcast
        self._clock = clock
        self._versions = VersionStore(
            home.versions, clock, max_bytes=lambda: configured.settings.config.memory.max_versions_bytes
        )
        self._loop: asyncio.AbstractEventLoop | None = None

    def files(self, agent_id: str, workspace: Path) -> MemoryFiles:
        """The memory of one agent."""
        return MemoryFiles(
            workspace,
            self._clock,
            agent_id=agent_id,
            shared=self._home.shared,
            versions=self._versions,
            on_change=self._changed_in_thread,
            project=self._project,
        )

    def ready(self) -> None:
        """From now on changes are told."""
        self._loop = asyncio.get_running_loop()

    async def search(
        self,
        query: str,
        agent_id: str | None,
        *,
        limit: int,
        min_score: float | None = None,
        only: SearchFilter | None = None,
    ) -> SearchAnswer:
        """Passages of the agent's memory and of what all share, the best first. Raises: NotFound, StorageError."""
        memory = self._configured.agent(agent_id).memory
        passages = await memory.search(query, ALL_PASSAGES)
        return SearchAnswer(found_by_words(passages, memory.agent_id, only, limit))

    async def states(self, agent_id: str | None) -> Sequence[FileState]:
        """Every memory file that there is, or of which there are versions. Raises: NotFound, StorageError."""
        return await asyncio.to_thread(file_states, self._configured.agent(agent_id).memory, {})

    async def status(self) -> MemoryState:
        """How search stands. Raises: StorageError."""
        return await asyncio.to_thread(self._status)

    def _status(self) -> MemoryState:
        files, problems = set(), []
        for agent_id, workspace in self._configured.workspaces().items():
            for file in self.files(agent_id, workspace).folder.files():
                owner = None if file.is_shared else agent_id
                if (owner, file.path) in files:
                    continue
                files.add((owner, file.path))
                if file.problem is not None:
                    problems.append(Problem(file.problem, file.path, owner))
        return MemoryState(searches="words", files=len(files), problems=problems)

    @asynccontextmanager
    async def noting(self, places: Sequence[Path]) -> AsyncIterator[None]:
        """Around a person's own change of files: the memory files at or below those places keep both their states."""
        before = await asyncio.to_thread(self._note, places, {})
        yield
        await asyncio.to_thread(self._note, places, before)

    def _note(self, places: Sequence[Path], known: Mapping[str, set[str]]) -> dict[str, set[str]]:
        noted = {}
        for agent_id, workspace in self._configured.workspaces().items():
            memory = self.files(agent_id, workspace)
            if not any(memory.folder.concerns(place) for place in places):
                continue
            found = {file.path for file in memory.folder.files() if file.problem is None and _within(file.real, places)}
            for path in sorted(found | known.get(agent_id, set())):
                memory.note_outside_change(path)
            noted[agent_id] = found
        return noted

    def _changed_in_thread(self, file: VersionedFile, version: FileVersion | None) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed, file, version)

    def _changed(self, file: VersionedFile, version: FileVersion | None) -> None:
        told: dict[str, object] = {"path": file.path}
        told |= {"agentId": file.owner} if file.owner else {}
        told |= {"author": version.author, "version": version.number} if version else {}
        self._broadcast("memory.updated", told)


def _within(real: Path, places: Sequence[Path]) -> bool:
    return any(real == place or place in real.parents for place in places)
