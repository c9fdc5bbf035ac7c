"""Another process holds the index lock: only writers wait."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import FileLock

from onyx_jupyter.storage import shared_lock
from tests.retrieval.sources import open_index, source, texts_with
from tests.waiting import LIMIT_S

ROOT = Path(__file__).parents[2]


def lock_of(folder: Path) -> FileLock:
    return FileLock(folder / "memory_chunk.lock", thread_local=False)


async def test_waiting_writers_do_not_block_searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_lock, "LOCK_S", LIMIT_S)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "tea")])
    await index.settled()
    with lock_of(tmp_path / "index"):
        writers = [asyncio.create_task(index.put([source(f"{n}.md", f"tea {n}")])) for n in range(7)]
        await asyncio.sleep(0)
        for _ in range(5):
            assert await texts_with(index, "tea") == {"tea"}
        assert len(await index.checksums()) == 1
        assert not any(writer.done() for writer in writers)
    await asyncio.gather(*writers)
    assert len(await index.checksums()) == 8
    await index.close()


WAITS = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.storage import shared_lock
from tests.retrieval.sources import open_index, source

shared_lock.LOCK_S = 3600
index = open_index(Path(sys.argv[1]))
writers = []

async def begin():
    await index.checksums()
    writers.extend(asyncio.create_task(index.put([source(f"{n}.md", "tea")])) for n in range(3))
    await asyncio.wait(writers, timeout=0.5)
    print([writer.done() for writer in writers], flush=True)

if sys.argv[2] == "cancelled":
    asyncio.run(begin())
else:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(begin())
"""


@pytest.mark.parametrize("writers", ["cancelled", "left alone"])
async def test_process_exits_despite_waiting_writers(tmp_path: Path, writers: str) -> None:
    index = open_index(tmp_path / "index")
    await index.put([source("a.md", "tea")])
    await index.close()
    command = [sys.executable, "-c", WAITS, str(tmp_path / "index"), writers]
    with lock_of(tmp_path / "index"):
        ended = await asyncio.to_thread(
            subprocess.run, command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    assert (ended.returncode, ended.stdout) == (0, "[False, False, False]\n"), ended.stderr
