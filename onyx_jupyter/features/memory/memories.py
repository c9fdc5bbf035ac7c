"""The memory of every agent: its files, their versions, memory search, and the broadcast of changes.

It only assembles the parts; they write the files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock
from onyx_jupyter.config.paths import Home
from onyx_jupyter.context.recall import Recall
from onyx_jupyter.errors import EmbeddingError, StorageError
from onyx_jupyter.features.memory.index import MemoryIndex
from onyx_jupyter.features.memory.user_edits import UserEdits
from onyx_jupyter.index_process.client import ProcessIndex
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.memory.fact_store import FactStore
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.kept_versions import MemoryChange
from onyx_jupyter.memory.overview import FileState, file_states
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import EmbedderIdentity, Embeddings, Search, SearchAnswer, SearchFilter
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.settings import search_settings
from onyx_jupyter.storage.versions import VersionStore

MEMORIES: Key[Memories] = Key("memory")
log = logging.getLogger(__name__)
Broadcast = Callable[[str, dict[str, object]], None]
# A known embedder is reported sooner; finding one out may take as long as the timeout of an unresponsive server.
_EMBEDDER_WAIT_S = 0.05
# Sent to the embedder to load it before it is needed.
_FIRST_WORDS = "What is known of it?"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file cannot be searched; without `path`, a general problem: index, embedder or storing versions."""

    message: str
    path: str | None = None
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The state of search; `progress` is (files done, files in total) while some are read into the index.

    `seeks_embedder`: it is still being determined which embedder is available.
    """

    searches: Literal["index", "words"]
    files: int
    problems: Sequence[Problem]
    chunks: int | None = None
    embedder: EmbedderIdentity | None = None
    seeks_embedder: bool = False
    progress: tuple[int, int] | None = None


class Memories:
    """`broadcast` sends an event to every client; `redact` removes secrets from what is embedded.

    `embeddings` and `index_process` are shared by all collections of the index.
    """

    def __init__(
        self,
        home: Home,
        configured: Configured,
        broadcast: Broadcast,
        redact: Callable[[str], str],
        clock: Clock,
        embeddings: Embeddings,
        index_process: IndexProcess,
    ) -> None:
        self._home = home
        self._configured = configured
        self._broadcast = broadcast
        self.clock = clock
        self._versions = VersionStore(
            home.versions,
            clock,
            max_bytes=lambda: configured.settings.config.memory.max_versions_bytes,
            on_grown=lambda: self._in_loop(self._prune_versions),
        )
        self._pruning: asyncio.Task[None] | None = None
        self._own_changes = UserEdits(self._all, lambda: self._in_loop(lambda: broadcast("memory.updated", {})))
        self.embeddings = embeddings
        self._index_process = index_process
        self._index = MemoryIndex(
            home.index,
            self._all,
            partial(ProcessIndex, index_process),
            lambda: search_settings(configured.settings.config),
            clock,
            lambda: broadcast("memory.updated", {}),
        )
        self._redact = redact
        self._facts: dict[str, FactStore] = {}
        self.recall = Recall(self._recalling, lambda: configured.settings.config.memory, redact, configured.templates)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._seeking: asyncio.Task[EmbedderIdentity | None] | None = None

    def files(self, agent_id: str, workspace: Path) -> MemoryFiles:
        """The memory of one agent."""
        return MemoryFiles(
            workspace,
            self.clock,
            agent_id=agent_id,
            shared=self._home.shared,
            versions=self._versions,
            on_change=lambda change: self._in_loop(lambda: self._changed(change)),
        )

    def facts(self, memory: MemoryFiles) -> FactStore:
        """The facts of the agent that this memory belongs to."""
        known = self._facts.get(memory.agent_id)
        if known is None or known.memory is not memory:
            known = self._facts[memory.agent_id] = FactStore(
                memory, self.clock, embeddings=self.embeddings, redact=self._redact
            )
        return known

    def ready(self) -> None:
        """Starts reporting changes."""
        self._loop = asyncio.get_running_loop()

    def start(self, *, at_once: bool = False) -> None:
        """Starts keeping the index in step with the files, in the background; `at_once`: a message is being written."""
        self._index.start(at_once=at_once)

    async def load(self) -> None:
        """Loads the index process and the embedder for the next search. Raises: IndexUnavailable."""
        loading = asyncio.create_task(self._index_process.load(), name="onyx index libraries")
        try:
            identity = await self.embeddings.current()
            if identity is not None and identity.provider == LocalEmbedder.provider:  # any other provider costs money
                with suppress(EmbeddingError):  # the next search reports it
                    await self.embeddings.embed([_FIRST_WORDS], "query", identity=identity)
        finally:
            await loading

    @property
    def is_index_synced(self) -> bool:
        """Whether the index covers all files."""
        return self._index.state.is_synced

    async def close(self) -> None:
        self._loop = None
        if self._pruning is not None:
            await asyncio.wait([self._pruning])
        await self.recall.close()
        if self._seeking is not None:
            self._seeking.cancel()
            await asyncio.wait([self._seeking])
        await self._index.close()

    async def search(
        self,
        query: str,
        agent_id: str | None,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        only: SearchFilter | None = None,
    ) -> SearchAnswer:
        """Passages of the agent's memory and the shared memory, best first. Raises: NotFound, StorageError."""
        agents = frozenset({self._configured.settings.agent(agent_id).id, ""})
        return await self._index.search(
            query, replace(only or SearchFilter(), agents=agents), limit=limit, min_score=min_score
        )

    def searching(self, agent_id: str) -> Search:
        """The search that the agent's tools use."""
        return _AgentSearch(self, agent_id)

    async def states(self, agent_id: str | None) -> Sequence[FileState]:
        """Every memory file that exists or has versions. Raises: NotFound, StorageError."""
        config = self._configured.settings.agent(agent_id)
        memory = self.files(config.id, self._home.workspace(config.id, config.workspace))
        known = await self._index.indexed()
        indexed = {path: checksum for (owner, path), checksum in known.items() if owner in (memory.agent_id, "")}
        return await asyncio.to_thread(file_states, memory, indexed)

    async def status(self) -> MemoryState:
        """The state of search, without waiting; `memory.updated` follows once the embedder is known."""
        embedder, seeks = await self._embedder() if self._index.has_begun else (None, False)
        state = self._index.state
        in_words = (state.problem, self.embeddings.problem)
        return MemoryState(
            searches="index" if self.is_index_synced else "words",
            files=state.files,
            chunks=state.chunks,
            embedder=embedder,
            seeks_embedder=seeks,
            progress=state.progress,
            problems=[
                *(Problem(message) for message in in_words if message),
                *(Problem(found.message, found.path, found.agent_id or None) for found in state.problems),
                *map(Problem, self._own_changes.problems.values()),
            ],
        )

    def noting(self, places: Sequence[Path]) -> AbstractAsyncContextManager[None]:
        """Wraps a user's own file change: memory files at or below these paths are versioned before and after it."""
        return self._own_changes.around(places)

    async def _embedder(self) -> tuple[EmbedderIdentity | None, bool]:
        """The embedder in use, and whether it is still being determined."""
        seeking = self._seeking
        if seeking is None or seeking.done():
            seeking = self._seeking = asyncio.create_task(self.embeddings.current(), name="onyx embedder, for status")
            await asyncio.wait([seeking], timeout=_EMBEDDER_WAIT_S)
            if not seeking.done():
                seeking.add_done_callback(self._sought)
        return (seeking.result(), False) if seeking.done() else (None, True)

    def _sought(self, seeking: asyncio.Task[EmbedderIdentity | None]) -> None:
        if not seeking.cancelled() and seeking.exception() is None:
            self._broadcast("memory.updated", {})

    def _recalling(self, agent_id: str) -> Search | None:
        """Recall is automatic, so it searches only when that is cheap: with an index in step."""
        return self.searching(agent_id) if self.is_index_synced else None

    def _all(self) -> Sequence[MemoryFiles]:
        return [self.files(agent_id, workspace) for agent_id, workspace in self._configured.workspaces().items()]

    def _in_loop(self, do: Callable[[], None]) -> None:
        """Runs `do` in the event loop, from any thread; does nothing before `ready` and after `close`."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(lambda: do() if self._loop is not None else None)

    def _prune_versions(self) -> None:
        if self._pruning is None or self._pruning.done():
            self._pruning = asyncio.create_task(self._prune(), name="onyx thin versions")

    async def _prune(self) -> None:
        try:
            await asyncio.to_thread(self._versions.prune)
        except StorageError as error:  # retried when more has been added
            log.warning("Old versions could not be deleted: %s", error)

    def _changed(self, change: MemoryChange) -> None:
        if change.version is not None:
            self._own_changes.kept(change.file)
        self._index.changed(change.real, is_whole=change.written)
        file, version = change.file, change.version
        told: dict[str, object] = {"path": file.path}
        told |= {"agentId": file.owner} if file.owner else {}
        told |= {"author": version.author, "version": version.number} if version else {}
        self._broadcast("memory.updated", told)


class _AgentSearch:
    """A Search limited to what one agent may read."""

    def __init__(self, memories: Memories, agent_id: str) -> None:
        self._memories = memories
        self._agent_id = agent_id

    async def search(
        self, query: str, *, only: SearchFilter | None = None, limit: int | None = None, min_score: float | None = None
    ) -> SearchAnswer:
        return await self._memories.search(query, self._agent_id, only=only, limit=limit, min_score=min_score)
