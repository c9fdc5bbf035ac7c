"""Search over the memory files as a server has it: it answers whatever becomes of the index, and heals by itself."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.features.memory.index import INDEXING, MemoryIndex
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.protocols import Found, SearchAnswer, SearchFilter
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.waiting import until

LONG_AGO = 1_700_000_000


class Library:
    """One agent's files and the search over them; `told` counts how often something new was told."""

    def __init__(self, folder: Path, agents: Sequence[str] = ("main",)) -> None:
        self.folder = folder
        clock = SystemClock()
        self.memories = [
            MemoryFiles(
                folder / agent,
                clock,
                agent_id=agent,
                shared=folder / "shared",
                versions=VersionStore(folder / "versions", clock),
                on_change=lambda change: self.index.changed(change.real, is_whole=change.written),
            )
            for agent in agents
        ]
        self.told = 0
        self.embeddings = FakeEmbeddings(FakeEmbedder())
        self.index = self.opened()

    def opened(self) -> MemoryIndex:
        return MemoryIndex(
            self.folder / "index",
            lambda: self.memories,
            partial(LanceTextIndex, self.folder / "index", embeddings=self.embeddings),
            SearchSettings,
            SystemClock(),
            self._tell,
            quiet_s=0.05,
        )

    def write(self, path: str, text: str, agent: str = "main") -> Path:
        file = self.folder / (path if path.startswith("shared/") else f"{agent}/{path}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (LONG_AGO, LONG_AGO))
        return file

    async def search(self, query: str, agent: str = "main") -> SearchAnswer:
        return await self.index.search(query, SearchFilter(agents=frozenset({agent, ""})))

    async def found(self, query: str, agent: str = "main") -> list[str]:
        return [f"{found.path}:{found.start_line}" for found in (await self.search(query, agent)).found]

    async def once(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Returns as soon as it holds: asked anew whenever something is told."""
        while True:
            before = self.told
            if await holds():
                return
            await until(lambda before=before: self.told > before)

    async def is_synced(self) -> None:
        self.index.start()
        await self.search("anything")
        await until(lambda: self.index.state.is_synced)

    def _tell(self) -> None:
        self.told += 1


@asynccontextmanager
async def library_in(folder: Path, agents: Sequence[str] = ("main",)) -> AsyncIterator[Library]:
    library = Library(folder, agents)
    try:
        yield library
    finally:
        await library.index.close()


async def test_before_indexing_words_match_and_afterwards_meaning_too(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        library.embeddings.embedder = FakeEmbedder(alike={"beverage": "tea"})
        library.write("MEMORY.md", "# Memory\n\nAda drinks tea\n")
        first = await library.search("tea")
        assert [found.path for found in first.found] == ["MEMORY.md"]
        assert first.note == INDEXING
        assert await library.found("beverage") == []
        await library.is_synced()
        assert await library.found("beverage") == ["MEMORY.md:1"]
        assert (await library.search("tea")).note is None
        assert (library.index.state.files, library.index.state.chunks) == (1, 1)


async def test_word_search_returns_no_more_than_limit(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        for day in range(1, 21):
            library.write(f"memory/2026-01-{day:02}.md", f"Ada drank {day} cups of tea")
        first = await library.search("tea")
        assert first.note == INDEXING
        assert len(first.found) == SearchSettings().limit


async def test_manual_edit_is_found_and_deleted_text_is_not(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        library.write("MEMORY.md", "The telescope is blue")
        library.write("USER.md", "Ada owns a telescope")
        await library.is_synced()
        await until(lambda: library.memories[0].kept.counts().keys() >= {"MEMORY.md", "USER.md"})
        (tmp_path / "main/MEMORY.md").write_text("The telescope is green")
        await library.once(lambda: said(library, "telescope", "green"))
        (tmp_path / "main/USER.md").unlink()
        await library.once(lambda: gone(library, "telescope", "USER.md"))
        history = await library.memories[0].versions("MEMORY.md")
        assert [version.author for version in history] == ["user", "user"]


async def test_own_writes_are_found_immediately_and_attributed(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        library.write("MEMORY.md", "Nothing yet")
        await library.is_synced()
        await library.memories[0].write("- The telescope arrived", "MEMORY.md#Facts")
        await library.once(lambda: said(library, "telescope", "arrived"))
        authors = [version.author for version in await library.memories[0].versions("MEMORY.md")]
        assert authors == ["user", "agent"]


async def test_index_deleted_while_in_use_is_rebuilt(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        for number in range(20):
            library.write(f"memory/2026-01-{number + 1:02}.md", f"Day {number}: the telescope saw star {number}")
        await library.is_synced()
        before = (await library.search("which star did the telescope see")).found
        shutil.rmtree(tmp_path / "index")
        during = await library.search("telescope")
        assert len(during.found) > 0, "words answer meanwhile"
        await library.once(lambda: same(library, "which star did the telescope see", before))
        await library.index.close()
        shutil.rmtree(tmp_path / "index")
        library.index = library.opened()
        await library.is_synced()
        assert (await library.search("which star did the telescope see")).found == before, "nor does a restart matter"


async def test_without_index_word_search_answers_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where the folder should be")
    async with library_in(tmp_path) as library:
        library.write("MEMORY.md", "The telescope is blue")
        await library.search("telescope")
        await until(lambda: library.index.state.problem)
        answer = await library.search("telescope")
        assert [found.path for found in answer.found] == ["MEMORY.md"]
        assert answer.note == library.index.state.problem
        assert "Could not" in (answer.note or "")
        assert (tmp_path / "main/MEMORY.md").read_text() == "The telescope is blue"
        (tmp_path / "index").unlink()
        library.index.changed(tmp_path / "main/MEMORY.md", is_whole=True)
        await until(lambda: library.index.state.is_synced)
        assert (await library.search("telescope")).note is None


async def test_up_to_date_index_is_searched_before_embedder_is_known(tmp_path: Path) -> None:
    async with library_in(tmp_path) as library:
        library.write("MEMORY.md", "Ada drinks tea")
        await library.is_synced()
        await library.index.close()
        known = library.embeddings.current
        library.embeddings.current = lambda: asyncio.Event().wait()  # type: ignore[method-assign,assignment]
        library.index = library.opened()
        await library.is_synced()
        assert await library.found("tea") == ["MEMORY.md:1"]
        assert [path for _, path in await library.index.indexed()] == ["MEMORY.md"]
        library.embeddings.current = known  # type: ignore[method-assign]


async def test_agent_finds_own_and_shared_files_but_no_other_agents(tmp_path: Path) -> None:
    async with library_in(tmp_path, ("ada", "bob")) as library:
        library.write("MEMORY.md", "ada has a telescope", "ada")
        library.write("MEMORY.md", "bob has a telescope", "bob")
        library.write("shared/all.md", "all have a telescope")
        for _ in ("by words", "by the index"):
            for agent in ("ada", "bob"):
                found = (await library.search("telescope", agent)).found
                assert {(one.agent, one.path) for one in found} == {(agent, "MEMORY.md"), ("", "shared/all.md")}
            await library.is_synced()


async def test_two_servers_on_one_home_find_the_same(tmp_path: Path) -> None:
    async with library_in(tmp_path) as one, library_in(tmp_path) as other:
        for number in range(5):
            one.write(f"memory/2026-01-0{number + 1}.md", f"The telescope saw star {number}")
        await asyncio.gather(one.is_synced(), other.is_synced())
        assert await one.found("star 3") == await other.found("star 3")
        await one.memories[0].write("- Comet Halley", "MEMORY.md")
        await other.once(lambda: said(other, "comet", "Halley"))
        assert await one.index.indexed() == await other.index.indexed()


async def said(library: Library, query: str, words: str) -> bool:
    return any(words in found.snippet for found in (await library.search(query)).found)


async def gone(library: Library, query: str, path: str) -> bool:
    return all(found.path != path for found in (await library.search(query)).found)


async def same(library: Library, query: str, before: Sequence[Found]) -> bool:
    return library.index.state.is_synced and list((await library.search(query)).found) == list(before)
