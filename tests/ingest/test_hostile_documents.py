"""A document that hangs, crashes or eats memory is reported; it takes neither the others along nor the server."""

import asyncio
import errno
import io
import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, cast

import psutil
import pytest

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document_reader import DocumentReader
from onyx_jupyter.ingest.memory_limit import bound_bytes
from onyx_jupyter.ingest.reader_process import ReaderProcess
from tests.ingest.desk import Desk
from tests.ingest.files import endless_pdf, opened, parquet, pdf, swelling_parquet
from tests.waiting import until

LARGE = 100_000
linux_alone = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system bounds no process's memory")


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
    process = DocumentReader()
    yield process
    process.close()
    assert children() == []


def children() -> list[psutil.Process]:
    found = psutil.Process().children(recursive=True)
    return [child for child in found if "reader_child" in " ".join(child.cmdline())]


def is_busy(child: psutil.Process) -> bool:
    """Whether it reads something that takes long: its start alone does not."""
    return sum(child.cpu_times()[:2]) > 1


async def test_slow_pdf_is_reported_and_others_are_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path, reading_limit_s=short_for_large)
    desk.write({"a.pdf": pdf("Anemones"), "b.pdf": endless_pdf(), "c.pdf": pdf("Clams")})
    item = await desk.add()
    (problem,) = item.problems
    assert (item.state, item.done, problem.path) == ("done", 3, "b.pdf")
    assert problem.message.startswith("It took longer than")
    assert "save it again, or split it" in problem.message
    assert (await desk.found("Anemones"), await desk.found("Clams")) == (["a.pdf"], ["c.pdf"])
    await desk.close()
    assert children() == []


async def test_hanging_document_does_not_delay_another(desk: Desk) -> None:
    desk.write({"hostile.pdf": endless_pdf(), "a.md": "Anemones"})
    hostile = await desk.knowledge.add("hostile.pdf", None, is_url=False)
    await until(lambda: any(map(is_busy, children())))
    assert (await desk.add("a.md")).state == "done"
    assert await desk.found("Anemones") == ["a.md"]
    assert (await desk.knowledge.stop(hostile.item_id)).state == "stopped"
    assert children() == []


async def test_at_most_two_documents_are_read_at_once(desk: Desk) -> None:
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


async def test_server_exits_while_hostile_document_is_read(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    threads = set(threading.enumerate())
    desk.write({"hostile.pdf": endless_pdf()})
    await desk.knowledge.add("hostile.pdf", None, is_url=False)
    await until(lambda: any(map(is_busy, children())))
    await desk.close()
    assert children() == []
    timers = [one for one in threading.enumerate() if isinstance(one, threading.Timer) and one not in threads]
    assert timers == []


async def test_crashed_reader_is_reported_and_next_document_is_read(
    process: DocumentReader, caplog: pytest.LogCaptureFixture
) -> None:
    reading = asyncio.create_task(asyncio.to_thread(read, process, "a.pdf", endless_pdf()))
    await until(lambda: any(map(is_busy, children())))
    children()[0].send_signal(signal.SIGSEGV)
    with pytest.raises(DocumentUnreadable, match="crashed the reader"):
        await reading
    assert "a.pdf stopped the document reader: exit -11" in caplog.text
    assert "Fatal Python error: Segmentation fault" in caplog.text
    assert await asyncio.to_thread(read, process, "b.pdf", pdf("Barnacles")) == ["Barnacles"]


@linux_alone
async def test_table_exhausting_memory_is_reported_without_affecting_server(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_LIMIT", "1000000000")
    desk.write({"a.parquet": swelling_parquet(), "b.parquet": parquet({"town": ["Cuxhaven"]}), "c.md": "Clams"})
    before = forget_peak_bytes()
    item = await desk.add()
    (problem,) = item.problems
    assert (item.state, item.done, problem.path) == ("done", 3, "a.parquet")
    assert problem.message.startswith("It takes more memory to read than a document may use here, which is 512 MB.")
    assert "Split it and add the parts" in problem.message
    assert peak_bytes() - before < 200_000_000
    assert (await desk.found("Cuxhaven"), await desk.found("Clams")) == (["b.parquet"], ["c.md"])


@linux_alone
def test_document_exhausting_memory_is_reported_and_next_one_read(
    process: DocumentReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_LIMIT", "1000000000")
    with pytest.raises(DocumentUnreadable, match="more memory to read than a document may use here, which is 512 MB"):
        read(process, "a.ipynb", b"[" + b"{}," * 8_000_000 + b"{}]")
    assert children() == []  # what it still holds is the next one's
    assert read(process, "b.pdf", pdf("Barnacles")) == ["Barnacles"]


def test_document_is_not_blamed_for_memory_of_earlier_ones() -> None:
    started: list[ReaderProcess] = []

    class SoonFull(ReaderProcess):
        """Of the first of them the second document is one too many; it has been read to its end by then."""

        def ask(self, header: Mapping[str, Any], file: BinaryIO, limit_s: float) -> dict[str, Any] | None:
            answer = super().ask(header, file, limit_s)
            return {"exceeded": "Too much."} if self is started[0] and header["name"] == "b.md" else answer

    process = DocumentReader(start=listed(SoonFull, started))
    assert read(process, "a.md", b"Anemones") == ["Anemones"]
    assert read(process, "b.md", b"Barnacles") == ["Barnacles"]
    assert (len(started), len(children())) == (2, 1)
    process.close()
    assert children() == []


def test_document_too_large_by_itself_is_retried_at_most_once() -> None:
    started: list[ReaderProcess] = []

    class Full(ReaderProcess):
        def ask(self, header: Mapping[str, Any], file: BinaryIO, limit_s: float) -> dict[str, Any] | None:
            answer = super().ask(header, file, limit_s)
            return {"exceeded": "Too much."} if header["name"] == "large.md" else answer

    process = DocumentReader(start=listed(Full, started))
    with pytest.raises(DocumentUnreadable, match="Too much"):
        read(process, "large.md", b"Anemones")
    assert (len(started), children()) == (1, [])
    assert read(process, "a.md", b"Anemones") == ["Anemones"]
    with pytest.raises(DocumentUnreadable, match="Too much"):
        read(process, "large.md", b"Anemones")
    assert (len(started), children()) == (3, [])


@linux_alone
def test_reader_gets_a_quarter_of_container_memory_and_is_first_oom_victim(
    process: DocumentReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEM_LIMIT", "2400000000")
    read(process, "a.md", b"Anemones")
    (child,) = children()
    assert child.rlimit(psutil.RLIMIT_DATA) == (bound_bytes(), bound_bytes())
    assert bound_bytes() <= 600_000_000
    assert Path(f"/proc/{child.pid}/oom_score_adj").read_text().strip() == "1000"


def test_reader_starts_same_python_without_keys(process: DocumentReader, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = {
        "OPENAI_API_KEY",
        "JUPYTERHUB_API_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "PGPASSWORD",
        "ONYX_PROVIDERS__A__APIKEY",
        "DATABASE_URL",
        "SMTP_PASS",
        "MYSQL_PWD",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SSH_AUTH_SOCK",
        "PYTHON_KEYRING_TOKEN",
        "NIX_CONFIG",
        "LD_SDK_KEY",
        "PATHOLOGY_LAB_LOGIN",
    }
    needed = {"PYTHONUSERBASE", "LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "LC_CTYPE", "LANG", "TMPDIR"}
    needed |= {"APPDATA", "USERPROFILE", "VIRTUAL_ENV", "CONDA_PREFIX", "NIX_LD", "MEM_LIMIT", "HOME"}
    for name in secrets | needed | {"ONYX_HOME"}:
        monkeypatch.setenv(name, "word-with-dashes")
    read(process, "a.md", b"Anemones")
    (child,) = children()
    given = set(child.environ())
    assert needed <= given
    assert not given & (secrets | {"ONYX_HOME"})


async def test_documents_are_not_blamed_if_no_reader_starts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    desk.write({"a.md": "Anemones", "b.md": "Barnacles"})
    with monkeypatch.context() as broken:
        broken.setenv("PYTHONHOME", str(desk.root))
        item = await desk.add()
    assert (item.state, list(item.problems)) == ("failed", [])
    assert item.problem is not None
    assert item.problem.startswith("The document reader could not be started: ModuleNotFoundError")
    assert "failed to get the Python codec of the filesystem encoding" in caplog.text
    assert (await desk.refreshed()).state == "done"
    assert await desk.found("Barnacles") == ["b.md"]


def test_reader_that_exited_while_idle_is_not_a_documents_fault(process: DocumentReader) -> None:
    read(process, "a.md", b"Anemones")
    (child,) = children()
    child.kill()
    child.wait()
    assert read(process, "b.md", b"Barnacles") == ["Barnacles"]


def test_timeout_coinciding_with_answer_does_not_affect_next_document() -> None:
    class LastMinuteReader(ReaderProcess):
        def ask(self, header: Mapping[str, Any], file: BinaryIO, limit_s: float) -> dict[str, Any] | None:
            answer = super().ask(header, file, limit_s)
            self.is_late = True  # the timer's thread is about to end it
            return answer

    process = DocumentReader(start=LastMinuteReader)
    assert read(process, "a.md", b"Anemones") == ["Anemones"]
    first = children()
    assert read(process, "b.md", b"Barnacles") == ["Barnacles"]
    assert children() != first
    process.close()
    assert children() == []


async def test_close_does_not_wait_for_start() -> None:
    asked, goes_on = threading.Event(), threading.Event()

    def slow() -> ReaderProcess:
        asked.set()
        goes_on.wait()
        return ReaderProcess()

    process = DocumentReader(start=slow)
    reading = asyncio.create_task(asyncio.to_thread(read, process, "a.md", b"Anemones"))
    await until(asked.is_set)
    process.kill()
    goes_on.set()
    with pytest.raises(OSError, match="Reading was stopped"):
        await reading
    process.close()
    assert children() == []


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be given open there")
def test_opened_file_is_read_even_if_replaced(process: DocumentReader, tmp_path: Path) -> None:
    place, private = tmp_path / "a.md", tmp_path / "private.md"
    place.write_text("Anemones")
    private.write_text("Secrets")
    with place.open("rb") as file:
        place.unlink()
        place.symlink_to(private)
        assert [chunk.text for chunk in process.read("a.md", "A", file).chunks] == ["Anemones"]


class DeadPipe(io.BufferedWriter):
    """Of a process that has ended, as Windows tells of it."""

    def write(self, data: Any, /) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")


def test_files_are_read_by_path_where_descriptors_cannot_be_passed(tmp_path: Path) -> None:
    readers: list[ReaderProcess] = []

    def start() -> ReaderProcess:
        readers.append(ReaderProcess(gives_files=False))
        return readers[-1]

    process = DocumentReader(start=start)
    place = tmp_path / "a.md"
    place.write_text("Anemones")
    with place.open("rb") as file:
        assert [chunk.text for chunk in process.read("a.md", "A", file).chunks] == ["Anemones"]
        stdin = cast(io.BufferedWriter, readers[0]._process.stdin)
        readers[0]._process.stdin = DeadPipe(stdin.detach())
        with pytest.raises(DocumentUnreadable, match="crashed the reader"):
            process.read("a.md", "A", file)
        place.rename(tmp_path / "b.md")
        with pytest.raises(OSError, match="No such file"):
            process.read("a.md", "A", file)
    assert len(readers) == 2
    process.close()
    assert children() == []


def test_nothing_starts_after_close(process: DocumentReader) -> None:
    process.kill()
    with pytest.raises(OSError, match="stopped"):
        read(process, "a.md", b"Anemones")
    assert children() == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm that ends a busy process there")
def test_reader_of_killed_server_exits(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "onyx_jupyter.ingest.reader_child"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    place = tmp_path / "a.pdf"
    place.write_bytes(endless_pdf())
    header = {"name": "a.pdf", "title": "A", "path": str(place), "limitS": 0}
    with child:
        assert child.stdin is not None
        child.stdin.write(json.dumps(header).encode() + b"\n")
        child.stdin.close()  # as the end of a server does
        try:
            assert child.wait(timeout=60) < 0
        finally:
            child.kill()


def listed(kind: Callable[[], ReaderProcess], started: list[ReaderProcess]) -> Callable[[], ReaderProcess]:
    """Starts one, and keeps it in that list."""

    def start() -> ReaderProcess:
        started.append(kind())
        return started[-1]

    return start


def read(process: DocumentReader, name: str, data: bytes) -> list[str]:
    """The texts of its passages."""
    with opened(data) as file:
        return [chunk.text for chunk in process.read(name, "A", file).chunks]


def forget_peak_bytes() -> int:
    """What this process takes now, which is the peak from here on. Source: proc_pid_clear_refs(5)."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024
