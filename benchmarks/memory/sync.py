"""What it costs to keep the index in step: a look at unchanged files, the first indexing, memory."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import psutil

from benchmarks.figures import Figure, Group
from onyx_jupyter.clock import SystemClock
from onyx_jupyter.features.memory.index import MemoryIndex
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.sync import MemorySync
from onyx_jupyter.protocols.retrieval import Chunk, SearchFilter, Source
from onyx_jupyter.providers.embedders.choice import EmbedderChoice
from onyx_jupyter.providers.embedders.local import LocalEmbedder
from onyx_jupyter.retrieval.settings import SearchSettings
from onyx_jupyter.retrieval.text_index import LanceTextIndex
from onyx_jupyter.storage.vector_cache import LanceVectorCache
from onyx_jupyter.storage.watch import QUIET_S
from onyx_jupyter.testing.fake_embedder import FakeEmbedder, FakeEmbeddings

ROUNDS = 3
LOOKS = 9
FILES = 1_000
CHUNKS = 256
LIMIT_S = 0.3
# Within 15 % of the embedder's own throughput.
LIMIT_RATIO = 1 / 0.85
LIMIT_AGAIN_S = 2.0
FILES_BESIDE = 100
REST_S = 2.0
CHANGES = 7
SOURCES_A_PUT = 16
CHUNKS_A_SOURCE = 8
WORDS = ("survey", "river", "station", "rain", "first", "week", "spring", "none", "second", "one", "of", "the", "in")
METHOD = (
    f"{FILES:,} memory files of two sections, all in the index, none changed for days: from asking to knowing that all "
    f"is in step, {LOOKS} looks. A changed file: one of {FILES_BESIDE} is saved anew, {CHANGES} times; from the save, "
    "as another program does it, to a search that finds the new words, with the folder watched, the quiet time that a "
    "file must have had before it is read, and the embedded embedder. "
    f"First indexing: {CHUNKS} chunks of 60 words, {CHUNKS_A_SOURCE} a source and "
    f"{SOURCES_A_PUT} sources at a time, by the embedded embedder, with the embedding cache, into an empty index; "
    "beside it the embedder alone with the same texts, in the same process, in turn. Memory is what loading LanceDB "
    "and Arrow and indexing and searching 20,000 chunks (fake vectors) adds to a new process's resident memory, and "
    "what is left of that when nobody has searched for long (two seconds here)."
)


def measure() -> Group:
    looks, ratios, chunks_per_s = asyncio.run(_measure())
    with tempfile.TemporaryDirectory() as name:
        found_again = asyncio.run(_found_again(Path(name)))
    memory = [_memory() for _ in range(ROUNDS)]
    return Group(
        "Keeping the index in step",
        METHOD,
        [
            Figure(f"{FILES:,} unchanged files", looks, "s", LIMIT_S, digits=3),
            Figure("a changed file found again", found_again, "s", LIMIT_AGAIN_S),
            Figure("  of it the quiet time that is waited for", [QUIET_S], "s", digits=1),
            Figure("first indexing ÷ the embedder alone", ratios, "×", LIMIT_RATIO),
            Figure("  chunks of 60 words", chunks_per_s, "a second", digits=0),
            Figure("memory that the index takes", [one["index_mb"] for one in memory], "MB", digits=0),
            Figure("  of it LanceDB and Arrow, loaded", [one["loaded_mb"] for one in memory], "MB", digits=0),
            Figure("  when nobody has searched for long", [one["rested_mb"] for one in memory], "MB", digits=0),
        ],
    )


async def _measure() -> tuple[list[float], list[float], list[float]]:
    ratios, chunks_per_s = [], []
    with tempfile.TemporaryDirectory() as name:
        looks = await _looks(Path(name))
    for round_number in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            alone_s, indexed_s = await _first_indexing(Path(name), round_number)
        ratios.append(indexed_s / alone_s)
        chunks_per_s.append(CHUNKS / indexed_s)
    return looks, ratios, chunks_per_s


async def _looks(home: Path) -> list[float]:
    workspace, clock = home / "workspace", SystemClock()
    days = workspace / "memory"
    days.mkdir(parents=True)
    for number in range(FILES):
        file = days / f"note-{number}.md"
        file.write_text(f"# Note {number}\n\n{_text(number)}\n\n## More\n\n{_text(number + 1)}\n", encoding="utf-8")
        os.utime(file, (time.time() - 1e6, time.time() - 1e6))
    index = LanceTextIndex(home / "index", "memory", FakeEmbeddings(FakeEmbedder(dimension=384)), "bench")
    sync = MemorySync(index, lambda: [MemoryFiles(workspace, clock)], home / "index" / "seen.json", clock)
    report = await sync.run()
    while report.wait_s is not None:
        await asyncio.sleep(report.wait_s)
        report = await sync.run()
    await index.settled()
    taken = []
    for _ in range(LOOKS):
        began = time.perf_counter()
        report = await sync.run()
        taken.append(time.perf_counter() - began)
        if report.files < FILES or report.put or report.removed:
            raise RuntimeError(f"{report.files} files, {len(report.put)} put, {len(report.removed)} removed")
    await index.close()
    return taken


async def _found_again(home: Path) -> list[float]:
    """Seconds from the save to the search that finds it."""
    workspace, clock, news = home / "workspace", SystemClock(), asyncio.Event()
    days = workspace / "memory"
    days.mkdir(parents=True)
    for number in range(FILES_BESIDE):
        (days / f"note-{number}.md").write_text(f"# Note {number}\n\n{_text(number)}\n", encoding="utf-8")
    choice = EmbedderChoice([LocalEmbedder(clock)], clock=clock, redact=str, cache=LanceVectorCache(home / "index"))
    open_index = partial(LanceTextIndex, home / "index", embeddings=choice)
    memory = MemoryIndex(
        home / "index", lambda: [MemoryFiles(workspace, clock)], open_index, SearchSettings, clock, news.set
    )

    async def finds(words: str) -> bool:
        found = (await memory.search(words, SearchFilter())).found
        return any(words in one.snippet for one in found)

    memory.start()
    while not memory.state.is_synced:
        await _told(news)
    await memory.settled()
    taken = []
    for number in range(CHANGES):
        words = f"zebra crossing {number}"
        began = time.perf_counter()
        with (days / f"note-{number}.md").open("a", encoding="utf-8") as file:
            file.write(f"\nThe {words} is new.\n")
        while not await finds(words):
            await _told(news)
        taken.append(time.perf_counter() - began)
    await memory.close()
    await choice.close()
    return taken


async def _told(news: asyncio.Event) -> None:
    """Returns when the index has changed."""
    async with asyncio.timeout(60):
        await news.wait()
    news.clear()


async def _first_indexing(home: Path, round_number: int) -> tuple[float, float]:
    """The seconds of the embedder alone, and of the whole."""
    clock = SystemClock()
    local = LocalEmbedder(clock)
    cache = LanceVectorCache(home / "index")
    choice = EmbedderChoice([local], clock=clock, redact=str, cache=cache)
    index = LanceTextIndex(home / "index", "memory", choice, "bench")
    await index.put([Source("memory", "", "warm.md", "1", [Chunk("warm", 1, 1)])])
    texts = [_text(round_number * CHUNKS + number) for number in range(CHUNKS)]
    began = time.perf_counter()
    await local.embed(texts, "passage")
    alone_s = time.perf_counter() - began
    began = time.perf_counter()
    for start in range(0, CHUNKS, SOURCES_A_PUT * CHUNKS_A_SOURCE):
        await index.put([_source(texts, first) for first in range(start, CHUNKS, CHUNKS_A_SOURCE)[:SOURCES_A_PUT]])
    indexed_s = time.perf_counter() - began
    await index.close()
    await choice.close()
    return alone_s, indexed_s


def _source(texts: Sequence[str], first: int) -> Source:
    chunks = [Chunk(text, 1, 1) for text in texts[first : first + CHUNKS_A_SOURCE]]
    return Source("memory", "main", f"{first}.md", "1", chunks)


def _text(number: int) -> str:
    """Sixty words, other ones for each number."""
    return " ".join(f"{WORDS[(number + place) % len(WORDS)]} {number * 7 + place}" for place in range(30))


def _memory() -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.memory.sync"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def _grown() -> dict[str, float]:
    """Resident memory that a process gains with LanceDB loaded, after indexing and searching, and when that is over."""
    import numpy as np

    np.zeros(1)
    resident = psutil.Process().memory_info
    before = resident().rss
    with tempfile.TemporaryDirectory() as name:
        embeddings = FakeEmbeddings(FakeEmbedder(dimension=384))
        index = LanceTextIndex(Path(name), "memory", embeddings, "bench", rest_s=REST_S)
        await index.checksums()
        loaded = resident().rss
        for start in range(0, 20_000, 1_000):
            chunks = [Chunk(_text(number), 1, 1) for number in range(start, start + 1_000)]
            await index.put([Source("memory", "main", f"{start}.md", "1", chunks)])
        await index.settled()
        for number in range(50):
            await index.candidates(_text(number), 24, SearchFilter())
        after = resident().rss
        await asyncio.sleep(2 * REST_S)
        rested = resident().rss
        await index.close()
    taken = {"loaded_mb": loaded, "index_mb": after, "rested_mb": rested}
    return {name: (size - before) / 1e6 for name, size in taken.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_grown())))
