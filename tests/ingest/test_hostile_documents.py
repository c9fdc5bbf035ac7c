"""A document that hangs, crashes or eats memory is reported; it takes neither the others along nor the server."""

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.reading_process import ReadingProcess
from tests.ingest.desk import Desk
from tests.ingest.files import endless_pdf, pdf
from tests.waiting import until

LARGE = 100_000


def short_for_large(size_bytes: int) -> float:
    """The hostile one is the large one here."""
    return 0.5 if size_bytes > LARGE else 60.0


@pytest.fixture
def desk(tmp_path: Path, jp_asyncio_loop):
    desk = Desk(tmp_path)
    yield desk
    jp_asyncio_loop.run_until_complete(desk.close())
    assert children() == []


@pytest.fixture
def process():
    process = ReadingProcess()
    yield process
    process.close()
    assert children() == []


def children() -> list[psutil.Process]:
    found = psutil.Process().children(recursive=True)
    return [child for child in found if "reading_child" in " ".join(child.cmdline())]


def is_busy(child: psutil.Process) -> bool:
    """Whether it reads something that takes long: its start alone does not."""
    return sum(child.cpu_times()[:2]) > 1


async def test_a_pdf_that_takes_too_long_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path, reading_limit_s=short_for_large)
    desk.write({"a.pdf": pdf("Anemones"), "b.pdf": endless_pdf(), "c.pdf": pdf("Clams")})
    item = await desk.add()
    (problem,) = item.problems
    assert (item.state, item.done, problem.path) == ("done", 3, "b.pdf")
    assert problem.message.startswith("It takes longer than")
    assert "save it anew or in parts" in problem.message
    assert (await desk.found("Anemones"), await desk.found("Clams")) == (["a.pdf"], ["c.pdf"])
    await desk.close()
    assert children() == []


async def test_a_document_that_hangs_keeps_another_one_not_waiting(desk: Desk) -> None:
    desk.write({"hostile.pdf": endless_pdf(), "a.md": "Anemones"})
    hostile = await desk.knowledge.add("hostile.pdf", None, is_url=False)
    await until(lambda: any(map(is_busy, children())))
    assert (await desk.add("a.md")).state == "done"
    assert await desk.found("Anemones") == ["a.md"]
    assert (await desk.knowledge.stop(hostile.item_id)).state == "stopped"
    assert children() == []


async def test_two_documents_are_read_at_once_and_no_third(desk: Desk) -> None:
    names = [f"{number}.md" for number in range(8)]
    desk.write(dict.fromkeys(names, "Anemones"))
    desk.index.held.clear()
    for name in names:
        await desk.knowledge.add(name, None, is_url=False)
    await until(lambda: desk.index.puts_under_way == 2)
    states = [item.state for item in await desk.knowledge.items()]
    assert states == ["reading", "reading", *["waiting"] * 6]
    desk.index.held.set()
    for item in await desk.knowledge.items():
        assert (await desk.finished(item)).state == "done"
    assert desk.index.most_at_once == 2


async def test_the_server_ends_while_a_hostile_document_is_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    threads = set(threading.enumerate())
    desk.write({"hostile.pdf": endless_pdf()})
    await desk.knowledge.add("hostile.pdf", None, is_url=False)
    await until(lambda: any(map(is_busy, children())))
    await desk.close()
    assert children() == []
    timers = [one for one in threading.enumerate() if isinstance(one, threading.Timer) and one not in threads]
    assert timers == []


async def test_a_document_that_breaks_its_reader_is_reported_and_the_next_one_is_read(process: ReadingProcess) -> None:
    reading = asyncio.create_task(asyncio.to_thread(process.read, "a.pdf", "A", endless_pdf()))
    await until(lambda: any(map(is_busy, children())))
    children()[0].kill()
    with pytest.raises(DocumentUnreadable, match="broke the program that reads it"):
        await reading
    document = await asyncio.to_thread(process.read, "b.pdf", "B", pdf("Barnacles"))
    assert [chunk.text for chunk in document.chunks] == ["Barnacles"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system bounds no process's memory")
def test_a_document_that_eats_memory_is_reported() -> None:
    code = """
import onyx_jupyter.ingest.reading_child as child
child.MAX_MEMORY_BYTES = 400_000_000
child._bound_memory()
print(child.read("a.ipynb", "A", b"[" + b"{}," * 8_000_000 + b"{}]"))
"""
    ended = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "takes more memory to read than a document may" in ended.stdout


def test_keys_of_providers_stay_with_the_server(process: ReadingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    process.read("a.md", "A", b"Anemones")
    (child,) = children()
    assert "OPENAI_API_KEY" not in child.environ()
    assert set(child.environ()) <= set(os.environ)


def test_after_the_end_nothing_is_started_any_more(process: ReadingProcess) -> None:
    process.kill()
    with pytest.raises(OSError, match="ended"):
        process.read("a.md", "A", b"Anemones")
    assert children() == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm that ends a busy process there")
def test_a_reader_whose_server_was_killed_ends_by_itself() -> None:
    command = [sys.executable, "-P", "-m", "onyx_jupyter.ingest.reading_child"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    data = endless_pdf()
    header = f'{{"name": "a.pdf", "title": "A", "bytes": {len(data)}, "limitS": 0}}\n'
    with child:
        assert child.stdin is not None
        child.stdin.write(header.encode() + data)
        child.stdin.close()  # as the end of a server does
        try:
            assert child.wait(timeout=60) < 0
        finally:
            child.kill()
