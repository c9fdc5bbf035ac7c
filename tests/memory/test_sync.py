import asyncio
import errno
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from onyx_jupyter.errors import IndexUnavailable
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.overview import file_states
from onyx_jupyter.memory.sync import ABSENT_DAYS, MemorySync
from onyx_jupyter.protocols import Candidate, SearchFilter, Source
from onyx_jupyter.storage.versions import VersionedFile, VersionStore
from onyx_jupyter.storage.watch import Settling
from onyx_jupyter.testing.fake_clock import FakeClock

LONG_AGO = 1_700_000_000
NOW = 1_767_225_600  # FakeClock's beginning


class Shelf:
    """A TextIndex that only remembers; `calls` says what was put and removed. While `failure` is set, it fails."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str, str], Source] = {}
        self.calls: list[tuple[str, list[str]]] = []
        self.failure: IndexUnavailable | None = None

    async def checksums(self, agent: str | None = None) -> Mapping[tuple[str, str], str]:
        if self.failure is not None:
            raise self.failure
        return {name: source.checksum for name, source in self.sources.items()}

    async def put(self, sources: Sequence[Source]) -> None:
        self.calls.append(("put", [source.path for source in sources]))
        self.sources |= {(source.agent, source.path): source for source in sources}

    async def remove(self, names: Sequence[tuple[str, str]]) -> None:
        if names:
            self.calls.append(("remove", [path for _, path in names]))
        for name in names:
            del self.sources[name]

    async def candidates(self, query: str, count: int, only: SearchFilter) -> tuple[Sequence[Candidate], str | None]:
        raise NotImplementedError

    def text(self, path: str, agent: str = "main") -> str:
        return "\n".join(chunk.text for chunk in self.sources[agent, path].chunks)


class Desk:
    """A home with one agent or more, its index and what keeps it in step; `restarted` is another server's."""

    def __init__(self, folder: Path, agents: Sequence[str] = ("main",)) -> None:
        self.clock = FakeClock()
        self.folder = folder
        self.shelf = Shelf()
        self.versions = VersionStore(folder / "versions", self.clock)
        self.memories = [
            MemoryFiles(folder / agent, self.clock, agent_id=agent, shared=folder / "shared", versions=self.versions)
            for agent in agents
        ]
        for agent in agents:
            (folder / agent / "memory").mkdir(parents=True)
        (folder / "shared").mkdir()
        self.progress: list[tuple[int, int]] = []
        self.sync = self.restarted()

    def restarted(self) -> MemorySync:
        return MemorySync(
            self.shelf,
            lambda: self.memories,
            self.folder / "index" / "seen.json",
            self.clock,
            settling=Settling(self.clock, 1.5),
            on_progress=lambda done, total: self.progress.append((done, total)),
        )

    def write(self, path: str, text: str | bytes, *, at: float = LONG_AGO, agent: str = "main") -> Path:
        file = self.folder / (path if path.startswith("shared/") else f"{agent}/{path}")
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        os.utime(file, (at, at))
        return file


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_existing_files_are_indexed_with_date_and_owner(desk: Desk) -> None:
    desk.write("MEMORY.md", "# Memory\n\n- likes tea\n")
    desk.write("memory/2026-01-05.md", "# 2026-01-05\n\nRained.\n")
    desk.write("shared/user-profile.md", "Ada\n")
    desk.write("notes.txt", "no memory")
    report = await desk.sync.run()
    assert (report.files, list(report.problems), report.wait_s) == (3, [], None)
    assert {name: (s.kind, str(s.day)) for name, s in desk.shelf.sources.items()} == {
        ("main", "MEMORY.md"): ("memory", "None"),
        ("main", "memory/2026-01-05.md"): ("memory", "2026-01-05"),
        ("", "shared/user-profile.md"): ("shared", "None"),
    }
    assert "likes tea" in desk.shelf.text("MEMORY.md")
    assert [(v.author, v.number) for v in desk.versions.history(VersionedFile("main", "MEMORY.md"))] == [("user", 1)]
    assert desk.progress == [(0, 3), (3, 3)]


async def test_notes_of_removed_agent_leave_index_later_and_stay_on_disk(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ("ada", "bob"))
    noted = [desk.write("MEMORY.md", f"{agent} was here", agent=agent) for agent in ("ada", "bob")]
    await desk.sync.run()
    ada, bob = desk.memories
    desk.memories = [ada]
    for sync in (desk.sync, desk.restarted()):
        desk.clock.advance(ABSENT_DAYS * 86_400 / 3)
        assert not (await sync.run()).removed, "it may be another server's"
    desk.memories = [ada, bob]
    await sync.run()
    desk.memories = [ada]
    for _ in range(3):
        assert not (await sync.run()).removed
        desk.clock.advance(ABSENT_DAYS * 86_400 / 3)
    restarted = desk.restarted()
    assert list((await restarted.run()).removed) == [("bob", "MEMORY.md")]
    assert desk.shelf.sources.keys() == {("ada", "MEMORY.md")}
    assert all(file.exists() for file in noted)
    desk.memories = [ada, bob]
    assert list((await restarted.run()).put) == [("bob", "MEMORY.md")]


async def test_passage_context_includes_meaningful_file_name(desk: Desk) -> None:
    for path in ("MEMORY.md", "memory/travel-plans_2026.md", "memory/2026-01-05.md", "shared/user-profile.md"):
        desk.write(path, "## By train\n\nVia Lyon.\n")
    await desk.sync.run()
    assert {path: source.chunks[0].context for (_, path), source in desk.shelf.sources.items()} == {
        "MEMORY.md": "By train",
        "memory/travel-plans_2026.md": "travel plans 2026 · By train",
        "memory/2026-01-05.md": "2026-01-05, 5 January 2026 · By train",
        "shared/user-profile.md": "user profile · By train",
    }


async def test_only_changed_files_are_reread_and_missing_ones_removed(desk: Desk) -> None:
    for name in ("MEMORY.md", "USER.md", "HISTORY.md"):
        desk.write(name, f"{name} says one")
    await desk.sync.run()
    desk.write("USER.md", "USER.md says two", at=LONG_AGO + 60)
    (desk.folder / "main/HISTORY.md").unlink()
    report = await desk.sync.run()
    assert desk.shelf.calls[1:] == [("put", ["USER.md"]), ("remove", ["HISTORY.md"])]
    assert (list(report.put), list(report.removed)) == ([("main", "USER.md")], [("main", "HISTORY.md")])
    assert "two" in desk.shelf.text("USER.md")
    gone = desk.versions.history(VersionedFile("main", "HISTORY.md"))
    assert [version.checksum != "" for version in gone] == [True, False], "what was deleted can be brought back"
    desk.shelf.calls.clear()
    await desk.sync.run()
    assert desk.shelf.calls == []


async def test_change_with_same_size_and_mtime_is_noticed_by_ctime(desk: Desk) -> None:
    desk.write("MEMORY.md", "one")
    await desk.sync.run()
    desk.write("MEMORY.md", "two")
    await desk.sync.run()
    assert desk.shelf.text("MEMORY.md") == "two"


async def test_unchanged_files_are_not_read_after_restart(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("MEMORY.md", "one")
    desk.write("USER.md", "one")
    await desk.sync.run()
    desk.write("USER.md", "two", at=LONG_AGO + 60)
    read: list[str] = []
    whole = MemoryFiles.content_now

    def reading(memory: MemoryFiles, path: str) -> object:
        read.append(path)
        return whole(memory, path)

    monkeypatch.setattr(MemoryFiles, "content_now", reading)
    await desk.restarted().run()
    assert set(read) == {"USER.md"}
    assert desk.shelf.text("USER.md") == "two"


@pytest.mark.parametrize("damage", ["{", "[]", '{"schema_version":1,"files":[["main","MEMORY.md"]]}', '{"files":[]}'])
async def test_sync_state_may_be_lost_or_damaged(desk: Desk, damage: str) -> None:
    desk.write("MEMORY.md", "one")
    await desk.sync.run()
    (desk.folder / "index/seen.json").write_text(damage)
    report = await desk.restarted().run()
    assert (list(report.put), list(report.removed)) == ([], [])


async def test_lost_index_and_stale_checksums_are_refilled(desk: Desk) -> None:
    desk.write("MEMORY.md", "one")
    await desk.sync.run()
    desk.shelf.sources.clear()
    shutil.rmtree(desk.folder / "index")
    assert (await desk.sync.run()).put == [("main", "MEMORY.md")]
    source = desk.shelf.sources["main", "MEMORY.md"]
    desk.shelf.sources["main", "MEMORY.md"] = Source(source.kind, "main", source.path, "", ())
    await desk.sync.run()
    assert desk.shelf.text("MEMORY.md") == "one"


async def test_file_being_written_is_skipped_until_quiet(desk: Desk) -> None:
    desk.write("MEMORY.md", "as it was")
    await desk.sync.run()
    desk.write("MEMORY.md", "half of wh", at=NOW - 0.5)
    report = await desk.sync.run()
    assert report.wait_s == pytest.approx(1.0)
    assert desk.shelf.text("MEMORY.md") == "as it was", "what was known stays"
    desk.clock.advance(1.0)
    desk.write("MEMORY.md", "half of what is written", at=NOW + 1.0)
    assert (await desk.sync.run()).wait_s == pytest.approx(1.5)
    desk.clock.advance(1.5)
    assert (await desk.sync.run()).wait_s is None
    assert desk.shelf.text("MEMORY.md") == "half of what is written"
    history = desk.versions.history(VersionedFile("main", "MEMORY.md"))
    assert [version.size_bytes for version in history] == [9, 23], "the half-written one is no version"


async def test_just_truncated_file_is_waited_for_longer(desk: Desk) -> None:
    desk.write("MEMORY.md", "as it was")
    await desk.sync.run()
    desk.write("MEMORY.md", "", at=NOW - 2)
    assert (await desk.sync.run()).wait_s == pytest.approx(2.5)
    assert desk.shelf.text("MEMORY.md") == "as it was"
    desk.clock.advance(3)
    await desk.sync.run()
    assert desk.shelf.text("MEMORY.md") == ""


async def test_clock_jumping_back_causes_no_long_wait(desk: Desk) -> None:
    desk.write("MEMORY.md", "from the future", at=NOW + 1_000_000)
    assert (await desk.sync.run()).wait_s == pytest.approx(1.5)
    desk.clock.advance(1.5)
    assert (await desk.sync.run()).wait_s is None
    assert desk.shelf.text("MEMORY.md") == "from the future"
    desk.write("MEMORY.md", "from the past", at=1.0)
    await desk.sync.run()
    assert desk.shelf.text("MEMORY.md") == "from the past"


async def test_own_writes_are_read_immediately(desk: Desk) -> None:
    file = desk.write("MEMORY.md", "written whole", at=NOW)
    desk.sync.trust(file)
    assert (await desk.sync.run()).wait_s is None
    assert desk.shelf.text("MEMORY.md") == "written whole"
    desk.write("MEMORY.md", "by hand", at=NOW)
    assert (await desk.sync.run()).wait_s == pytest.approx(1.5), "that was for one reading"


def of_100_megabytes(file: Path) -> None:
    file.touch()
    os.truncate(file, 100 * 1024 * 1024)


def unreadable(desk: Desk) -> Mapping[str, Callable[[Path], object]]:
    return {
        "is not UTF-8 text": lambda file: file.write_bytes(b"caf\xe9"),
        "it contains NUL characters": lambda file: file.write_bytes(b"a\0b"),
        "is too large for a memory file": of_100_megabytes,
        "is too long for a memory file (1,000,000 lines)": lambda file: file.write_bytes(b"\n" * 1_000_000),
        "in a circle": lambda file: file.symlink_to(file.name),
        "is not a regular file": os.mkfifo,
    }


async def test_unreadable_files_are_reported_once_and_others_indexed(desk: Desk) -> None:
    desk.write("MEMORY.md", "readable")
    for number, make in enumerate(unreadable(desk).values()):
        file = desk.folder / f"main/bad{number}.md"
        make(file)
        if not file.is_symlink():
            os.utime(file, (LONG_AGO, LONG_AGO))
    for sync in (desk.sync, desk.sync, desk.restarted()):
        report = await sync.run()
        found = sorted((problem.path, problem.message) for problem in report.problems)
        assert len(found) == 6
        for (_, message), words in zip(found, unreadable(desk), strict=True):
            assert words in message
        assert list(desk.shelf.sources) == [("main", "MEMORY.md")]


async def test_file_becoming_unreadable_is_not_found_until_readable(desk: Desk) -> None:
    desk.write("MEMORY.md", "readable")
    await desk.sync.run()
    desk.write("MEMORY.md", b"\xff\xfe")
    assert [problem.path for problem in (await desk.sync.run()).problems] == ["MEMORY.md"]
    assert desk.shelf.sources == {}
    desk.write("MEMORY.md", "readable")
    assert not (await desk.sync.run()).problems
    assert desk.shelf.text("MEMORY.md") == "readable"


async def test_file_vanishing_during_read_is_no_problem(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = desk.write("MEMORY.md", "one")
    whole = MemoryFiles.content_now

    def vanishing(memory: MemoryFiles, path: str) -> object:
        file.unlink(missing_ok=True)
        return whole(memory, path)

    monkeypatch.setattr(MemoryFiles, "content_now", vanishing)
    report = await desk.sync.run()
    assert (list(report.problems), desk.shelf.sources) == ([], {})


async def test_agents_keep_own_files_and_index_shared_ones_once(tmp_path: Path) -> None:
    desk = Desk(tmp_path, ("ada", "bob"))
    desk.write("MEMORY.md", "of ada", agent="ada")
    desk.write("MEMORY.md", "of bob", agent="bob")
    desk.write("shared/x.md", "of all")
    await desk.sync.run()
    assert sorted(desk.shelf.sources) == [("", "shared/x.md"), ("ada", "MEMORY.md"), ("bob", "MEMORY.md")]
    desk.memories.pop()
    await desk.sync.run()
    assert ("bob", "MEMORY.md") in desk.shelf.sources, "an agent that is configured away for a while keeps its index"


async def test_failing_index_leaves_everything_to_retry(desk: Desk) -> None:
    desk.write("MEMORY.md", "one")
    desk.shelf.failure = IndexUnavailable("broken")
    with pytest.raises(IndexUnavailable):
        await desk.sync.run()
    desk.shelf.failure = None
    await desk.sync.run()
    assert desk.shelf.text("MEMORY.md") == "one"


async def test_unwritable_disk_does_not_prevent_search(desk: Desk) -> None:
    desk.write("MEMORY.md", "one")
    (desk.folder / "index").write_text("a file where the folder should be")
    (desk.folder / "versions").write_text("likewise")
    report = await desk.sync.run()
    assert (list(report.problems), desk.shelf.text("MEMORY.md")) == ([], "one")


async def test_concurrent_syncs_put_each_file_once(desk: Desk) -> None:
    desk.write("MEMORY.md", "one")
    await asyncio.gather(*(desk.sync.run() for _ in range(3)))
    assert desk.shelf.calls == [("put", ["MEMORY.md"])]


async def test_vanished_workspace_is_not_recreated_and_nothing_counts_as_deleted(desk: Desk) -> None:
    desk.write("MEMORY.md", "mine")
    await desk.sync.run()
    away = (desk.folder / "main").rename(desk.folder / "unmounted")
    report = await desk.sync.run()
    assert report.removed == [("main", "MEMORY.md")]
    assert not (desk.folder / "main").exists()
    away.rename(desk.folder / "main")
    assert (await desk.sync.run()).put == [("main", "MEMORY.md")]
    assert [version.number for version in desk.versions.history(VersionedFile("main", "MEMORY.md"))] == [1]


@pytest.mark.parametrize("error", [errno.EACCES, errno.EIO])
async def test_unlistable_folder_keeps_known_files_and_others_are_indexed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    desk = Desk(tmp_path, ("ada", "bob"))
    for agent in ("ada", "bob"):
        desk.write("MEMORY.md", f"{agent} noted one", agent=agent)
        desk.write("memory/2026-01-05.md", f"{agent} saw rain", agent=agent)
    await desk.sync.run()
    for agent in ("ada", "bob"):
        desk.write("MEMORY.md", f"{agent} noted two", at=LONG_AGO + 60, agent=agent)
    with monkeypatch.context() as patched:
        unlisted(patched, tmp_path / "bob/memory", error)
        for sync in (desk.sync, desk.restarted()):
            report = await sync.run()
            (problem,) = report.problems
            assert (problem.agent_id, problem.path) == ("bob", "memory/")
            assert "Could not list" in problem.message
            assert (list(report.removed), report.missing, report.files) == ([], False, 3)
        assert {desk.shelf.text("MEMORY.md", agent) for agent in ("ada", "bob")} == {"ada noted two", "bob noted two"}
        assert desk.shelf.text("memory/2026-01-05.md", "bob") == "bob saw rain"
        told = {state.path: (state.deleted, state.problem) for state in file_states(desk.memories[1], {})}
        assert told == {"MEMORY.md": (False, None), "memory/2026-01-05.md": (False, problem.message)}
    (tmp_path / "bob/memory/2026-01-05.md").unlink()
    report = await desk.sync.run()
    assert (list(report.problems), list(report.removed)) == ([], [("bob", "memory/2026-01-05.md")])
    history = desk.versions.history(VersionedFile("bob", "memory/2026-01-05.md"))
    assert [version.checksum != "" for version in history] == [True, False], "it counts as deleted when it is known"


async def test_unlistable_shared_folder_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(tmp_path, ("ada", "bob"))
    desk.write("shared/rules.md", "of all")
    await desk.sync.run()
    unlisted(monkeypatch, tmp_path / "shared", errno.EACCES)
    report = await desk.sync.run()
    assert [(problem.agent_id, problem.path) for problem in report.problems] == [("", "shared/")]
    assert list(desk.shelf.sources) == [("", "shared/rules.md")]


async def test_linked_memory_folder_is_reported_and_not_followed(desk: Desk) -> None:
    desk.write("MEMORY.md", "stays")
    desk.write("memory/2026-01-05.md", "synced elsewhere")
    await desk.sync.run()
    folder = desk.folder / "main/memory"
    folder.rename(desk.folder / "synced")
    for target in (desk.folder / "synced", folder, desk.folder / "nowhere"):
        folder.symlink_to(target)
        report = await desk.sync.run()
        assert [(problem.path, problem.message[:12]) for problem in report.problems] == [("memory/", "It is a link")]
        assert list(desk.shelf.sources) == [("main", "MEMORY.md")]
        folder.unlink()
    (desk.folder / "synced").rename(folder)
    assert list((await desk.sync.run()).put) == [("main", "memory/2026-01-05.md")]
    history = desk.versions.history(VersionedFile("main", "memory/2026-01-05.md"))
    assert [version.checksum for version in history if not version.checksum] == [], "it was never gone"


async def test_file_without_stat_is_its_own_problem(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    file = desk.write("USER.md", "x")
    desk.write("MEMORY.md", "stays")
    status = Path.stat

    def failing(path: Path, **more: bool) -> os.stat_result:
        if path == file:
            raise OSError(errno.EIO, "Input/output error")
        return status(path, **more)

    monkeypatch.setattr(Path, "stat", failing)
    (problem,) = (await desk.sync.run()).problems
    assert (problem.path, problem.message) == ("USER.md", "It cannot be read: Input/output error.")
    assert list(desk.shelf.sources) == [("main", "MEMORY.md")]


def unlisted(patched: pytest.MonkeyPatch, folder: Path, error: int) -> None:
    """As if the disk refused it: root, as whom tests may run, is refused nothing."""
    scan = os.scandir

    def refusing(place: Path) -> object:
        if place == folder:
            raise OSError(error, os.strerror(error), str(place))
        return scan(place)

    patched.setattr(os, "scandir", refusing)
