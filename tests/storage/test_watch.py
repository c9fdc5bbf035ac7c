import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.storage.watch import FileStamp, FolderWatch, Settling
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import LIMIT_S, until


class Seen:
    """All that a watch told, `begun` how often it began anew."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.begun = 0

    async def follow(self, watch: FolderWatch) -> None:
        async for paths in watch.changes():
            self.begun += not paths
            self.names += sorted(path.name for path in paths)


@asynccontextmanager
async def watching(folders: Callable[[], Sequence[Path]], **options: Any) -> AsyncIterator[Seen]:
    seen = Seen()
    task = asyncio.create_task(seen.follow(FolderWatch(folders, **options)))
    try:
        yield seen
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def told_of(seen: Seen, file: Path) -> None:
    """Writes until it is told: when a system's watch has begun, nobody can say."""
    count = 0

    def wrote() -> bool:
        nonlocal count
        count += 1
        if count % 50 == 1:
            file.write_text(str(count))
        return file.name in seen.names

    await until(wrote)


async def test_changes_are_reported_but_not_in_subfolders(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    async with watching(lambda: [tmp_path]) as seen:
        await told_of(seen, tmp_path / "first.md")
        (tmp_path / "deeper/no.md").write_text("x")
        (tmp_path / "first.md").rename(tmp_path / "second.md")
        await until(lambda: "second.md" in seen.names)
        (tmp_path / "second.md").unlink()
        await told_of(seen, tmp_path / "last.md")
    assert "no.md" not in seen.names


async def test_folder_created_later_is_watched(tmp_path: Path) -> None:
    later = tmp_path / "memory"
    async with watching(lambda: [tmp_path, later]) as seen:
        await told_of(seen, tmp_path / "first.md")
        later.mkdir()
        await until(lambda: seen.begun > 1)
        await told_of(seen, later / "2026-01-01.md")


class Refusing:
    """A system that cannot watch as long as it `refuses`; `asked` says of each watch whether it was to poll."""

    def __init__(self) -> None:
        self.refuses = True
        self.asked: list[bool] = []

    def watch(self, *folders: Path, **options: Any) -> Any:
        from watchfiles import watch

        self.asked.append(options.get("force_polling", False))
        if self.refuses and not self.asked[-1]:
            raise OSError(28, "inotify watch limit reached")
        return watch(*folders, **options | {"poll_delay_ms": 20})


async def test_without_watch_support_files_are_polled(tmp_path: Path) -> None:
    system = Refusing()
    async with watching(lambda: [tmp_path], open_watch=system.watch) as seen:
        await told_of(seen, tmp_path / "first.md")
    assert system.asked == [False, True]


async def test_polling_ends_when_watching_works_again(tmp_path: Path) -> None:
    system = Refusing()
    async with watching(lambda: [tmp_path], open_watch=system.watch, polled_s=0.05) as seen:
        await until(lambda: system.asked[:4] == [False, True, False, True])
        system.refuses = False
        await until(lambda: len(system.asked) > 4 and not system.asked[-1])
        asked = len(system.asked)
        await told_of(seen, tmp_path / "first.md")
    assert len(system.asked) == asked


class Panic(BaseException):
    """As native code raises where it meets something that it never expected."""


@pytest.mark.parametrize("error", [Panic("index out of range"), ValueError("not a folder")])
async def test_ended_watch_is_reported_and_files_are_polled(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def watch(*folders: Path, **options: Any) -> Any:
        from watchfiles import watch

        if not options.get("force_polling", False):
            raise error
        return watch(*folders, **options | {"poll_delay_ms": 20})

    async with watching(lambda: [tmp_path], open_watch=watch) as seen:
        await told_of(seen, tmp_path / "first.md")
    assert [told.getMessage() for told in caplog.records if told.name.endswith("watch")] == [
        f"Folders cannot be watched, so they are checked every second: {told_as(error)}"
    ]


async def test_failed_polling_is_reported_once_and_retried(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onyx_jupyter.storage.watch._RETRY_S", 0.01)
    asked: list[bool] = []

    def watch(*folders: Path, **options: Any) -> Any:
        from watchfiles import watch

        asked.append(options.get("force_polling", False))
        if len(asked) < 4:
            raise Panic("index out of range")
        return watch(*folders, **options | {"poll_delay_ms": 20})

    async with watching(lambda: [tmp_path], open_watch=watch) as seen:
        await told_of(seen, tmp_path / "first.md")
    assert asked == [False, True, True, True]
    assert [told.getMessage() for told in caplog.records if told.name.endswith("watch")] == [
        f"Folders cannot be watched, so they are checked every second: {told_as(Panic('index out of range'))}",
        f"Folders could not be checked; trying again: {told_as(Panic('index out of range'))}",
    ]


def told_as(error: BaseException) -> str:
    return str(error) if isinstance(error, Exception) else f"A thread ended with {type(error).__name__}: {error}"


async def test_folder_vanishing_before_watch_causes_no_polling(tmp_path: Path) -> None:
    folders = [tmp_path, tmp_path / "memory"]
    folders[1].mkdir()
    asked: list[tuple[int, bool]] = []

    def watch(*watched: Path, **options: Any) -> Any:
        from watchfiles import watch

        asked.append((len(watched), options.get("force_polling", False)))
        if len(watched) == 2:
            folders[1].rmdir()
            raise FileNotFoundError(2, "No such file or directory")
        return watch(*watched, **options)

    async with watching(lambda: folders, open_watch=watch) as seen:
        await told_of(seen, tmp_path / "first.md")
    assert asked == [(2, False), (1, False)]


async def test_replaced_folder_is_watched(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    async with watching(lambda: [tmp_path, memory]) as seen:
        await told_of(seen, memory / "before.md")
        for file in memory.iterdir():
            file.unlink()
        memory.rmdir()
        memory.mkdir()
        await told_of(seen, memory / "after.md")


async def test_recreated_folder_is_watched_even_if_it_looks_the_same(tmp_path: Path) -> None:
    watched: list[Path] = []

    def watch(*folders: Path, **options: Any) -> Iterator[set[tuple[int, str]]]:
        watched.extend(folders)
        if len(watched) == 1:
            yield {(3, str(tmp_path))}
        options["stop_event"].wait()

    async with watching(lambda: [tmp_path], open_watch=watch):
        await until(lambda: watched == [tmp_path] * 2)


async def test_nothing_runs_without_watchers(tmp_path: Path) -> None:
    stops: list[threading.Event] = []

    def answer_too_long(*folders: Path, **options: Any) -> Iterator[set[tuple[int, str]]]:
        stops.append(options["stop_event"])
        yield {(1, str(tmp_path / "x.md"))}
        options["stop_event"].wait()

    async with watching(lambda: [tmp_path], open_watch=answer_too_long) as seen:
        await until(lambda: seen.names == ["x.md"])
        assert not stops[0].is_set()
    assert [stop.is_set() for stop in stops] == [True]
    await until(lambda: not [thread for thread in threading.enumerate() if thread.name == "onyx folder watch"])


LEFT_OPEN = """
import asyncio, sys
from pathlib import Path
from onyx_jupyter.storage.watch import FolderWatch

folder = Path(sys.argv[1])
told = asyncio.Event()

async def follow():
    async for paths in FolderWatch(lambda: [folder]).changes():
        if paths:
            told.set()

async def begin():
    following.append(asyncio.create_task(follow()))
    while not told.is_set():
        (folder / "x.md").write_text("x")
        await asyncio.sleep(0.01)
    loop.stop()

following = []
loop = asyncio.new_event_loop()
following.append(loop.create_task(begin()))
loop.run_forever()  # as a server's loop does, which ends no task either
if sys.argv[2] == "closed":
    loop.close()
print("told")
"""


@pytest.mark.parametrize("loop", ["open", "closed"])
def test_process_exits_without_stopping_its_watch(tmp_path: Path, loop: str) -> None:
    command = [sys.executable, "-c", LEFT_OPEN, str(tmp_path), loop]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert (ended.returncode, ended.stdout) == (0, "told\n"), ended.stderr


def test_file_is_complete_after_quiet_period(tmp_path: Path) -> None:
    clock = FakeClock()
    settling, file = Settling(clock, 1.5), tmp_path / "x.md"
    now_ns = int(clock.now().timestamp() * 1e9)
    assert settling.wait_s(file, FileStamp(now_ns, 0, 10)) == 1.5
    clock.advance(1)
    assert settling.wait_s(file, FileStamp(now_ns, 0, 10)) == 0.5
    assert settling.wait_s(file, FileStamp(now_ns, 0, 20)) == 0.5, "its own time counts, whatever its size is by now"
    assert settling.wait_s(file, FileStamp(now_ns + 10**9, 0, 30)) == 1.5
    clock.advance(1.5)
    assert settling.wait_s(file, FileStamp(now_ns + 10**9, 0, 30)) == 0
    assert settling.wait_s(file, FileStamp(now_ns - 10**12, 0, 30)) == 0, "an old one needs no waiting"
    assert settling.wait_s(file, FileStamp(now_ns + 10**18, 0, 30)) == 1.5, "a time to come says nothing"
    clock.advance(1.5)
    assert settling.wait_s(file, FileStamp(now_ns + 10**18, 0, 30)) == 0
    assert settling.wait_s(file, FileStamp(now_ns + 10**18, 0, 0)) == 4.5, "cut to nothing: most often to be filled"


def test_atomically_written_file_is_waited_for_at_most_once(tmp_path: Path) -> None:
    clock = FakeClock()
    settling, file = Settling(clock), tmp_path / "x.md"
    stamp = FileStamp(int(clock.now().timestamp() * 1e9), 0, 10)
    settling.trust(file)
    assert settling.wait_s(file, stamp) == 0
    settling.done(file)
    assert settling.wait_s(file, stamp) == 1.5
