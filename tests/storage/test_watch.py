import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from onyx_jupyter.storage.watch import FolderWatch, Settling, Stamp
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import until


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


async def test_changes_are_told_and_what_lies_deeper_is_not(tmp_path: Path) -> None:
    (tmp_path / "deeper").mkdir()
    async with watching(lambda: [tmp_path]) as seen:
        await told_of(seen, tmp_path / "first.md")
        (tmp_path / "deeper/no.md").write_text("x")
        (tmp_path / "first.md").rename(tmp_path / "second.md")
        await until(lambda: "second.md" in seen.names)
        (tmp_path / "second.md").unlink()
        await told_of(seen, tmp_path / "last.md")
    assert "no.md" not in seen.names


async def test_a_folder_that_comes_later_is_watched_from_then_on(tmp_path: Path) -> None:
    later = tmp_path / "memory"
    async with watching(lambda: [tmp_path, later]) as seen:
        await told_of(seen, tmp_path / "first.md")
        later.mkdir()
        await until(lambda: seen.begun > 1)
        await told_of(seen, later / "2026-01-01.md")


async def test_where_the_system_refuses_to_watch_files_are_looked_at(tmp_path: Path) -> None:
    from watchfiles import awatch

    asked: list[bool] = []

    def refusing(*folders: Path, **options: Any) -> Any:
        asked.append(options.get("force_polling", False))
        if not asked[-1]:
            raise OSError(28, "inotify watch limit reached")
        return awatch(*folders, **options | {"poll_delay_ms": 20})

    async with watching(lambda: [tmp_path], open_watch=refusing) as seen:
        await told_of(seen, tmp_path / "first.md")
    assert asked == [False, True]


async def test_nothing_goes_on_when_nobody_watches_any_more(tmp_path: Path) -> None:
    stops: list[asyncio.Event] = []

    async def endless(*folders: Path, **options: Any) -> AsyncIterator[set[tuple[int, str]]]:
        stops.append(options["stop_event"])
        yield {(1, str(tmp_path / "x.md"))}
        await asyncio.Event().wait()

    async with watching(lambda: [tmp_path], open_watch=endless) as seen:
        await until(lambda: seen.names == ["x.md"])
        assert not stops[0].is_set()
    assert [stop.is_set() for stop in stops] == [True]


def test_a_file_is_whole_when_it_has_been_left_in_peace(tmp_path: Path) -> None:
    clock = FakeClock()
    settling, file = Settling(clock, 1.5), tmp_path / "x.md"
    now_ns = int(clock.now().timestamp() * 1e9)
    assert settling.wait_s(file, Stamp(now_ns, 0, 10)) == 1.5
    clock.advance(1)
    assert settling.wait_s(file, Stamp(now_ns, 0, 10)) == 0.5
    assert settling.wait_s(file, Stamp(now_ns, 0, 20)) == 0.5, "its own time counts, whatever its size is by now"
    assert settling.wait_s(file, Stamp(now_ns + 10**9, 0, 30)) == 1.5
    clock.advance(1.5)
    assert settling.wait_s(file, Stamp(now_ns + 10**9, 0, 30)) == 0
    assert settling.wait_s(file, Stamp(now_ns - 10**12, 0, 30)) == 0, "an old one needs no waiting"
    assert settling.wait_s(file, Stamp(now_ns + 10**18, 0, 30)) == 1.5, "a time to come says nothing"
    clock.advance(1.5)
    assert settling.wait_s(file, Stamp(now_ns + 10**18, 0, 30)) == 0
    assert settling.wait_s(file, Stamp(now_ns + 10**18, 0, 0)) == 4.5, "cut to nothing: most often to be filled"


def test_a_file_written_as_a_whole_is_waited_for_no_more_than_once(tmp_path: Path) -> None:
    clock = FakeClock()
    settling, file = Settling(clock), tmp_path / "x.md"
    stamp = Stamp(int(clock.now().timestamp() * 1e9), 0, 10)
    settling.trust(file)
    assert settling.wait_s(file, stamp) == 0
    settling.done(file)
    assert settling.wait_s(file, stamp) == 1.5
