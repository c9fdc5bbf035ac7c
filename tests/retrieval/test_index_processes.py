"""Real processes on one index: killed midway, or writing concurrently."""

import asyncio
import contextlib
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from onyx_jupyter.retrieval.text_index import LanceTextIndex
from tests.retrieval.index_writer import SHARED, version
from tests.retrieval.sources import EVERYTHING, open_index, source
from tests.waiting import LIMIT_S

ROOT = Path(__file__).parents[2]
KILLS = 4
ROUNDS = 20


@contextlib.asynccontextmanager
async def writer(folder: Path, name: str, rounds: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that writes as soon as it is told to by a line; it is gone at the end."""
    command = [sys.executable, "-m", "tests.retrieval.index_writer", str(folder), name, str(rounds)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=pipe, stdout=pipe)
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def begin(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.write(b"\n")


async def chunks(index: LanceTextIndex) -> dict[str, list[str]]:
    """Path → texts of all that is indexed."""
    texts: dict[str, list[str]] = {}
    for one in (await index.candidates("round mine", 10_000, EVERYTHING))[0]:
        texts.setdefault(one.path, []).append(one.chunk.text)
    return {path: sorted(found) for path, found in texts.items()}


async def test_killed_writer_leaves_each_source_old_or_new(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    checksums = {source.checksum: source for number in range(2_000) for source in version(number)}
    for kill in range(KILLS):
        async with writer(folder, f"killed {kill}", 2_000) as process:
            begin(process)
            before = open_index(folder)
            async with asyncio.timeout(LIMIT_S):
                while not any(path.startswith(f"killed {kill}/") for _, path in await before.checksums()):
                    pass
            await asyncio.sleep(random.Random(kill).random() / 10)  # anywhere within a round
            process.kill()
            await process.wait()
        await before.close()
        index = open_index(folder)
        there = await chunks(index)
        for (_, path), checksum in (await index.checksums()).items():
            if path in SHARED:
                assert there[path] == sorted(chunk.text for chunk in checksums[checksum].chunks)
        assert set(SHARED) <= there.keys()
        await index.put([source("after.md", f"round {kill} is over")])
        assert (await chunks(index))["after.md"] == [f"round {kill} is over"]
        await index.close()
    assert not (folder / "damaged").exists()


async def test_concurrent_processes_lose_and_duplicate_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    index = open_index(folder)
    async with asyncio.timeout(LIMIT_S), writer(folder, "one", ROUNDS) as one, writer(folder, "two", ROUNDS) as two:
        begin(one)
        begin(two)
        while one.returncode is None or two.returncode is None:
            for path, texts in (await chunks(index)).items():
                assert len(set(texts)) == len(texts)
                if path in SHARED:
                    assert len({text.partition(" of ")[0] for text in texts}) == 1
        assert (one.returncode, two.returncode) == (0, 0)
    there = await chunks(index)
    assert there.keys() == {*SHARED, f"one/{ROUNDS - 1}.md", f"two/{ROUNDS - 1}.md"}
    last = {source.path: sorted(chunk.text for chunk in source.chunks) for source in version(ROUNDS - 1)}
    assert {path: there[path] for path in SHARED} == last
    assert not (folder / "damaged").exists()
    await index.close()


async def test_in_memory_vectors_follow_other_processes(tmp_path: Path) -> None:
    index = open_index(tmp_path / "index")
    await index.put([*version(9), source("mine.md", "mine alone")])
    assert len((await chunks(index))[SHARED[0]]) == 10
    async with asyncio.timeout(LIMIT_S), writer(tmp_path / "index", "other", 1) as process:
        begin(process)
        assert await process.wait() == 0
    last = {source.path: [chunk.text for chunk in source.chunks] for source in version(0)}
    assert await chunks(index) == {**last, "other/0.md": ["mine 0"], "mine.md": ["mine alone"]}
    await index.close()


async def test_text_written_by_another_process_is_found_immediately(tmp_path: Path) -> None:
    mine, other = open_index(tmp_path / "index"), open_index(tmp_path / "index")
    assert await chunks(mine) == {}
    await other.put([source("a.md", "mine too")])
    assert await chunks(mine) == {"a.md": ["mine too"]}
    await mine.remove([("main", "a.md")])
    assert await chunks(other) == {}
    await mine.close()
    await other.close()
