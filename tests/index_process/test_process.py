"""The process that holds the index: what it answers, and that nothing depends on its life."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil
import pytest

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.errors import EmbeddingError, IndexUnavailable
from onyx_jupyter.features.memory.index import MemoryIndex
from onyx_jupyter.index_process.client import ProcessEmbedder, ProcessIndex, ProcessVectorCache
from onyx_jupyter.index_process.left_out_libraries import CHECKED_VERSION
from onyx_jupyter.index_process.process import IndexProcess
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.protocols.retrieval import Chunk, EmbedderIdentity, Embeddings, SearchFilter, Source
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings
from tests.waiting import until

if TYPE_CHECKING:
    from onyx_jupyter.protocols.retrieval import Vectors

LONG_S = 600.0
EVERYTHING = SearchFilter()
HALF = "\ud83d"
TEA = Source(
    "memory", "main", f"te{HALF}a.md", "c1", [Chunk("green tea", 1, 2, "Tea", parent=(1, 9))], date(2026, 1, 2)
)
ROAD = Source("shared", "", "road.md", "c2", [Chunk("the long road", 3, 3, before="before it")])


class Held(FakeEmbeddings):
    """Embeddings of which those for `purpose` wait until they are `released`; `asked` is set when one waits."""

    def __init__(self) -> None:
        super().__init__(FakeEmbedder())
        self.purpose: str | None = None
        self.asked, self.released = asyncio.Event(), asyncio.Event()

    async def embed(
        self, texts: Sequence[str], purpose: Literal["passage", "query"], *, identity: EmbedderIdentity
    ) -> "Vectors":
        if purpose == self.purpose:
            self.asked.set()
            await self.released.wait()
        return await super().embed(texts, purpose, identity=identity)


@asynccontextmanager
async def opened(
    folder: Path, embeddings: Embeddings, idle_s: float = LONG_S
) -> AsyncIterator[tuple[IndexProcess, ProcessIndex]]:
    process = IndexProcess(folder, SystemClock(), lambda: idle_s)
    process.answer_with(embeddings)
    try:
        yield process, ProcessIndex(process, "memory", chunking="400/80")
    finally:
        await process.close()


def kill(process: IndexProcess) -> int:
    assert process.process_id is not None
    os.kill(process.process_id, signal.SIGKILL)
    return process.process_id


async def found(index: ProcessIndex, query: str) -> list[tuple[str, str]]:
    return [(one.path, one.chunk.text) for one in (await index.candidates(query, 5, EVERYTHING))[0]]


async def test_put_text_is_found_unchanged_by_words_and_meaning(tmp_path: Path) -> None:
    embeddings = FakeEmbeddings(FakeEmbedder(alike={"infusion": "tea"}))
    async with opened(tmp_path / "index", embeddings) as (_, index):
        await index.put([TEA, ROAD])
        assert await index.checksums() == {("main", TEA.path): "c1", ("", "road.md"): "c2"}
        assert await index.checksums("") == {("", "road.md"): "c2"}
        candidates, note = await index.candidates("infusion", 5, SearchFilter(agents=frozenset({"main"})))
        assert ([(one.path, one.chunk, one.day, one.words) for one in candidates], note) == (
            [(TEA.path, TEA.chunks[0], TEA.day, None)],
            None,
        )
        assert candidates[0].similarity is not None
        assert candidates[0].similarity > 0.5
        assert await index.count() == 2
        await index.remove([("", "road.md")])
        assert await index.checksums() == {("main", TEA.path): "c1"}


async def test_embedded_embedder_yields_same_vectors_in_process_and_they_are_cached(tmp_path: Path) -> None:
    here = LocalEmbedder(SystemClock())
    async with opened(tmp_path / "index", FakeEmbeddings()) as (process, _):
        embedder = ProcessEmbedder(process, here, 1, LONG_S)
        assert await embedder.open() is embedder
        made = await embedder.embed(["green tea", "the long road"], "passage")
        assert not here.loaded
        expected = await here.embed(["green tea", "the long road"], "passage")
        assert made.shape == expected.shape
        assert abs(made - expected).max() < 1e-5
        cache = ProcessVectorCache(process)
        await cache.put({"one": made[0]})
        assert (await cache.get(["one", "other"]))["one"].tobytes() == made[0].tobytes()
    await here.close()


async def test_killed_process_falls_back_to_word_search_and_restarts(
    tmp_path: Path,
) -> None:
    embeddings, clock, news = Held(), SystemClock(), asyncio.Event()
    files = tmp_path / "main"
    files.mkdir()
    (files / "MEMORY.md").write_text("# Tea\n\nGreen tea is steeped for two minutes.\n")
    os.utime(files / "MEMORY.md", (1_700_000_000, 1_700_000_000))
    memory = MemoryFiles(files, clock, agent_id="main", versions=VersionStore(tmp_path / "versions", clock))
    async with opened(tmp_path / "index", embeddings) as (process, _):
        index = MemoryIndex(
            tmp_path,
            lambda: [memory],
            lambda collection, *, chunking, on_emptied: ProcessIndex(
                process, collection, chunking=chunking, on_emptied=on_emptied
            ),
            SearchSettings,
            clock,
            news.set,
        )
        index.start(at_once=True)
        await until(lambda: index.state.is_synced)
        embeddings.purpose = "query"
        searching = asyncio.create_task(index.search("steeped tea", EVERYTHING))
        await embeddings.asked.wait()
        killed = kill(process)
        answer = await searching
        assert [one.path for one in answer.found] == ["MEMORY.md"]
        assert answer.note is not None
        assert "by keyword only" in answer.note
        embeddings.purpose = None
        answer = await index.search("steeped tea", EVERYTHING)
        assert [(one.path, one.vector_score is not None) for one in answer.found] == [("MEMORY.md", True)]
        assert answer.note is None
        assert process.process_id not in (None, killed)
        await index.close()


async def test_put_interrupted_by_kill_is_retried_in_next_process(tmp_path: Path) -> None:
    embeddings = Held()
    embeddings.purpose = "passage"
    async with opened(tmp_path / "index", embeddings) as (process, index):
        putting = asyncio.create_task(index.put([TEA, ROAD]))
        await embeddings.asked.wait()
        kill(process)
        embeddings.released.set()
        await putting
        assert await found(index, "road") == [("road.md", "the long road"), (TEA.path, "green tea")]


async def test_crashing_process_does_not_loop_endlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onyx_jupyter.index_process.process._CHILD", "no_such_module")
    async with opened(tmp_path / "index", FakeEmbeddings()) as (process, index):
        with pytest.raises(IndexUnavailable, match="keeps stopping"):
            await index.count()
        with pytest.raises(EmbeddingError, match="keeps stopping"):
            await ProcessEmbedder(process, LocalEmbedder(SystemClock()), 1, LONG_S).embed(["tea"], "query")


async def test_idle_process_exits_and_next_search_restarts_it(tmp_path: Path) -> None:
    async with opened(tmp_path / "index", FakeEmbeddings(FakeEmbedder()), idle_s=1.0) as (process, index):
        await index.put([TEA])
        known = await index.checksums()
        first = process.process_id
        assert first is not None
        await until(lambda: not process.is_running)
        await until(lambda: not psutil.pid_exists(first))
        assert (await index.checksums(), await index.checksums()) == (known, {("main", TEA.path): "c1"})
        assert process.process_id is None, "looking at the files starts none"
        assert await found(index, "tea") == [(TEA.path, "green tea")]
        assert process.process_id not in (None, first)


async def test_close_ends_process_even_while_busy(tmp_path: Path) -> None:
    embeddings = Held()
    embeddings.purpose = "passage"
    async with opened(tmp_path / "index", embeddings) as (process, index):
        putting = asyncio.create_task(index.put([TEA]))
        await embeddings.asked.wait()
        process_id = process.process_id
        assert process_id is not None
    with pytest.raises(IndexUnavailable):
        await putting
    assert not psutil.pid_exists(process_id)
    with pytest.raises(IndexUnavailable, match="The server is shutting down"):
        await index.count()


SERVER = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.index_process.process import IndexProcess

async def main():
    process = IndexProcess(Path(sys.argv[1]), SystemClock(), lambda: 600.0)
    await process.load()
    print(process.process_id, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_killed_server_leaves_no_process(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVER, str(tmp_path / "index"), stdout=pipe)
    try:
        assert server.stdout is not None
        child = psutil.Process(int(await server.stdout.readline()))
        assert "onyx_jupyter.index_process.child" in child.cmdline()
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.kill()
        await server.wait()
    await until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_installed_lancedb_version_is_a_tested_one() -> None:
    assert version("lancedb").startswith(CHECKED_VERSION), "left_out_libraries: does it still need names alone?"


async def test_cancelling_during_start_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    spawn, spawning = IndexProcess._spawn, threading.Event()

    def slow(process: IndexProcess) -> subprocess.Popen[bytes]:
        spawning.set()
        time.sleep(0.2)  # so long a busy machine may take
        started.append(spawn(process))
        return started[0]

    monkeypatch.setattr(IndexProcess, "_spawn", slow)
    async with opened(tmp_path, FakeEmbeddings(FakeEmbedder())) as (_, index):
        asked = asyncio.create_task(index.count())
        await asyncio.to_thread(spawning.wait)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
    (process,) = started
    assert process.returncode is not None, "it has ended, and was waited for"
    assert process.stdin is not None
    assert process.stdin.closed
