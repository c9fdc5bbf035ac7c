"""The knowledge of one person as a server has it, on folders of its own, with an index that a test can look into."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from onyx_jupyter.clock import IdSource
from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.files.walk import walk
from onyx_jupyter.ingest.document_chunking import chunking_fingerprint
from onyx_jupyter.ingest.document_reader import limit_s
from onyx_jupyter.ingest.knowledge import DocumentKnowledge, FolderAccess
from onyx_jupyter.ingest.readers import READERS_VERSION
from onyx_jupyter.ingest.text_cache import DocumentTexts
from onyx_jupyter.ingest.web_pages import Fetched
from onyx_jupyter.protocols.knowledge import KnowledgeItem
from onyx_jupyter.protocols.retrieval import Candidate, Found, SearchFilter, Source
from onyx_jupyter.retrieval.search import HybridSearch
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.waiting import until


class CountingIndex(LanceTextIndex):
    """`put_names` are those of all sources that were put; `held` lets no put through until it is set.

    `most_at_once` puts were under way together. While `is_broken` nothing can be put, while `is_away` nothing can be
    searched.
    """

    def __init__(self, folder: Path, embeddings: FakeEmbeddings) -> None:
        chunking = chunking_fingerprint(READERS_VERSION)
        super().__init__(folder, "document", embeddings, chunking)
        self.put_names: list[str] = []
        self.held = asyncio.Event()
        self.held.set()
        self.puts_under_way = 0
        self.most_at_once = 0
        self.is_broken = False
        self.is_away = False

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        if self.is_away:
            raise IndexUnavailable("The index cannot be read.")
        return await super().candidates(query, count, only)

    async def put(self, sources: Sequence[Source]) -> None:
        self.puts_under_way += 1
        self.most_at_once = max(self.most_at_once, self.puts_under_way)
        try:
            await self.held.wait()
            if self.is_broken:
                raise IndexUnavailable("The index cannot be written.")
            await super().put(sources)
        finally:
            self.puts_under_way -= 1
        self.put_names += [Path(source.path).name for source in sources]


class Desk:
    """`root` is the server's folder; `pages` are those of the web; `news` is all that was told.

    Every agent has a workspace of its own below `home`; `memory` are the files that are memory. A document may take
    `reading_limit_s` of its size to be read.
    """

    def __init__(
        self,
        folder: Path,
        root: Path | None = None,
        *,
        embeddings: FakeEmbeddings | None = None,
        reading_limit_s: Callable[[int], float] = limit_s,
    ) -> None:
        self.root = root or folder / "root"
        self.root.mkdir(exist_ok=True)
        self.home = folder / "home"
        self.clock = FakeClock()
        self.embeddings = embeddings or FakeEmbeddings(FakeEmbedder())
        self.index = CountingIndex(self.home / "index", self.embeddings)
        self.memory: set[Path] = set()
        self.pages: dict[str, Fetched] = {}
        self.news: list[KnowledgeItem | None] = []
        self.guard = PathGuard(self.root, self.home / "workspace", private=self.home)
        around = FolderAccess(
            guard=self._guard,
            is_memory=lambda real: real in self.memory,
            shown=lambda real: real.relative_to(self.root).as_posix() if real.is_relative_to(self.root) else str(real),
            walk=lambda start, guard: (found.path for found in walk(start, guard)),
            fetch=self._fetch,
            parse_url=lambda url: url,
        )
        search = HybridSearch(self.index, SearchSettings, self.clock, fallback=self._by_words)
        self.knowledge = DocumentKnowledge(
            self.home / "knowledge",
            DocumentTexts(self.home / "index" / "texts"),
            self.index,
            search,
            around,
            self.clock,
            IdSource(self.clock),
            self.news.append,
            reading_limit_s=reading_limit_s,
        )

    def write(self, files: Mapping[str, bytes | str]) -> None:
        for name, content in files.items():
            place = self.root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    async def add(self, where: str = ".", agent_id: str | None = None, *, is_url: bool = False) -> KnowledgeItem:
        """The item once it has been read."""
        item = await self.knowledge.add(where, agent_id, is_url=is_url)
        return await self.finished(item)

    async def finished(self, item: KnowledgeItem) -> KnowledgeItem:
        return await self.knowledge.finished(item.item_id, lambda step: None)

    async def refreshed(self) -> KnowledgeItem:
        (item,) = await self.knowledge.refresh()
        return await self.finished(item)

    async def found(self, query: str, **more) -> list[str]:
        """The paths of what answers, the best first."""
        return list(dict.fromkeys(one.path for one in (await self.knowledge.search(query, **more)).passages))

    async def close(self) -> None:
        await self.knowledge.close()
        await self.index.close()

    async def looked(self) -> None:
        """At what has changed, and all of it was read."""
        self.knowledge.scan(at_once=True)
        await until(lambda: self.knowledge._scan_task.done() and not self.knowledge._tasks)

    def workspace(self, agent_id: str) -> Path:
        return self.home / f"workspace-{agent_id}"

    def _guard(self, agent_id: str | None) -> PathGuard:
        if agent_id is None:
            return self.guard
        return PathGuard(self.root, self.workspace(agent_id), private=self.home)

    async def _by_words(self, query: str, only: SearchFilter, limit: int) -> Sequence[Found]:
        return await self.knowledge.by_words(query, only, limit)

    async def _fetch(self, url: str, max_bytes: int) -> Fetched:
        return self.pages[url]
