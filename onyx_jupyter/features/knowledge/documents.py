"""Assembles the document service from its parts: index, search, folders and the web."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter.agents.agents import AgentParts
from onyx_jupyter.agents.configured import Configured
from onyx_jupyter.clock import Clock, IdSource
from onyx_jupyter.config.paths import Home
from onyx_jupyter.events import to_camel
from onyx_jupyter.files.walk import walk
from onyx_jupyter.index_process.client import OpenIndex
from onyx_jupyter.ingest.document_chunking import chunking_fingerprint
from onyx_jupyter.ingest.knowledge import DocumentKnowledge, FolderAccess
from onyx_jupyter.ingest.readers import READERS_VERSION
from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.ingest.web_pages import Fetched
from onyx_jupyter.memory.folder import MemoryFolder
from onyx_jupyter.operations.dependencies import Key
from onyx_jupyter.protocols import KnowledgeItem
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import search_settings
from onyx_jupyter.security.credential_files import holds_credentials
from onyx_jupyter.security.drive_folders import DriveFolders, browser_path
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.web.client import open_client

COLLECTION = "document"
_ACCEPT = "text/html, application/pdf, text/markdown, text/plain;q=0.9, */*;q=0.5"
_MAX_PROBLEMS = 50
KNOWLEDGE: Key[ServerKnowledge] = Key("knowledge")


class ServerKnowledge:
    """`documents` is the service itself; `broadcast` sends each step to every client."""

    def __init__(
        self,
        home: Home,
        server_root: Path,
        configured: Configured,
        agent: Callable[[str | None], AgentParts],
        drive: DriveFolders | None,
        open_index: OpenIndex,
        broadcast: Callable[[str, dict[str, object]], None],
        clock: Clock,
        ids: IdSource,
    ) -> None:
        self._configured = configured
        self._broadcast = broadcast
        self._index = open_index(
            COLLECTION,
            chunking=chunking_fingerprint(READERS_VERSION),
            on_emptied=lambda why: self.documents.scan(at_once=True),
        )
        search = HybridSearch(
            self._index,
            lambda: search_settings(configured.settings.config),
            clock,
            fallback=lambda query, only, limit: self.documents.by_words(query, only, limit),
        )
        root = server_root.resolve()
        self._shared = home.shared
        self._memory: tuple[Mapping[str, Path], Sequence[MemoryFolder]] = ({}, ())
        around = FolderAccess(
            guard=lambda agent_id: agent(agent_id).paths,
            is_memory=self._is_memory,
            shown=lambda real: browser_path(real, root, drive) or str(real),
            walk=_documents,
            fetch=self._fetch,
            parse_url=lambda url: open_client(self._configured.settings.config.tools.web).guard.parse(url).url,
        )
        texts = DocumentTexts(home.index / "document_texts")
        self.documents = DocumentKnowledge(home.knowledge, texts, self._index, search, around, clock, ids, self._notify)

    async def close(self) -> None:
        await self.documents.close()
        await self._index.close()

    async def _fetch(self, url: str, max_bytes: int) -> Fetched:
        client = open_client(self._configured.settings.config.tools.web)
        answer = await client.request("GET", url, headers={"accept": _ACCEPT}, max_bytes=max_bytes)
        body = answer.text().encode() if answer.charset and answer.media_type != "text/html" else answer.body
        return Fetched(answer.url, answer.status, answer.media_type, body, answer.truncated)

    def _is_memory(self, real: Path) -> bool:
        """Whether it is a memory file of any agent, or a folder that contains only memory files."""
        workspaces = self._configured.workspaces()
        if self._memory[0] != workspaces:
            self._memory = (workspaces, [MemoryFolder(place, self._shared) for place in workspaces.values()])
        return any(
            folder.name_of(real) is not None or (real in folder.folders and real != folder.workspace)
            for folder in self._memory[1]
        )

    def _notify(self, item: KnowledgeItem | None) -> None:
        if item is None:
            self._broadcast("knowledge.updated", {})
        else:
            self._broadcast("knowledge.progress", item_data(item))


def item_data(item: KnowledgeItem) -> dict[str, Any]:
    """An item in wire format, with the first few of its problems."""
    names = ("item_id", "kind", "path", "title", "added_at", "state", "done", "total", "chunks")
    data = {to_camel(name): getattr(item, name) for name in names}
    problems = [{"path": one.path, "message": one.message} for one in item.problems[:_MAX_PROBLEMS]]
    told = {**data, "problemCount": len(item.problems), "problems": problems}
    return told | ({"problem": item.problem} if item.problem else {})


def _documents(folder: Path, guard: PathGuard) -> Iterator[Path]:
    """Skips credential files: documents can be found in every conversation, and the user did not name these."""
    return (found.path for found in walk(folder, guard) if not holds_credentials("", found.path))
