"""A person's own save on Onyx's drive: it always succeeds, nobody writes into it, and what cannot be kept is told."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from onyx_jupyter.errors import StorageError
from onyx_jupyter.features.memory import user_edits
from onyx_jupyter.features.memory.user_edits import UserEdits
from onyx_jupyter.memory.file_replacement import held
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.storage.atomic_swap import leftovers
from onyx_jupyter.storage.versions import VersionStore
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import LIMIT_S


class Drive:
    """Two agents and what they share; `news` counts what was told."""

    def __init__(self, folder: Path) -> None:
        clock = FakeClock()
        self.folder = folder
        self.versions = VersionStore(folder / "versions", clock)
        self.memories = [
            MemoryFiles(folder / name, clock, agent_id=name, shared=folder / "shared", versions=self.versions)
            for name in ("ada", "bob")
        ]
        for name in ("ada/memory", "bob", "shared"):
            (folder / name).mkdir(parents=True)
        self.news = 0
        self.changes = UserEdits(lambda: self.memories, self._tell)

    def _tell(self) -> None:
        self.news += 1

    def kept(self, path: str) -> list[tuple[str, int]]:
        """Author and size of each version of one of Ada's files."""
        return [(version.author, version.size_bytes) for version in self.memories[0].kept.history(path)]


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    return Drive(tmp_path)


async def test_both_states_are_kept_for_files_at_or_below_path(drive: Drive) -> None:
    day, shared = drive.folder / "ada/memory/2026-01-01.md", drive.folder / "shared/all.md"
    day.write_text("1")
    shared.write_text("1")
    async with drive.changes.around([drive.folder / "ada/memory", shared]):
        day.rename(day.with_name("2026-01-02.md"))
        shared.write_text("22")
    assert drive.kept("memory/2026-01-01.md") == [("user", 1), ("user", 0)]
    assert drive.kept("memory/2026-01-02.md") == [("user", 1)]
    assert drive.kept("shared/all.md") == [("user", 1), ("user", 2)]
    assert drive.news == 0


async def test_concurrent_write_waits_for_save_and_failed_save_releases_lock(drive: Drive) -> None:
    file = drive.folder / "ada/MEMORY.md"

    async def save() -> None:
        async with drive.changes.around([file]):
            with pytest.raises(StorageError, match="locked"), held(file.parent, 0.01):
                raise AssertionError("two at once")
            with held(drive.folder / "bob", 0):
                pass  # of another agent
            file.write_text("mine")
            raise RuntimeError("no such tab")

    with pytest.raises(RuntimeError, match="no such tab"):
        await save()
    with held(file.parent, 0):
        pass
    assert drive.kept("MEMORY.md") == [("user", 4)]


async def test_slow_concurrent_saves_and_memories_lose_nothing(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_edits, "_WAIT_S", LIMIT_S)
    memory, file = drive.memories[0], drive.folder / "ada/MEMORY.md"
    adding: list[asyncio.Task[str]] = []

    async def save(number: int) -> None:
        async with drive.changes.around([file]):
            with file.open("w") as writing:
                writing.write(f"- save {number}\n")
                writing.flush()
                adding.append(asyncio.create_task(memory.write(f"- note {number}", "MEMORY.md")))
                for _ in range(200):  # slowly, so that whoever may write in between does
                    await asyncio.to_thread(file.read_text)
                assert not adding[-1].done()
                writing.write("- its second half\n")

    await asyncio.gather(*map(save, range(3)))
    await asyncio.gather(*adding)
    numbers = [version.number for version in await memory.versions("MEMORY.md")]
    texts = [(await memory.version_content("MEMORY.md", number)).text for number in numbers]
    for number in range(3):
        assert f"- save {number}\n- its second half\n" in texts
        assert any(f"- note {number}\n" in text for text in texts)


async def test_other_files_do_not_wait(drive: Drive) -> None:
    with held(drive.folder / "ada"):
        async with drive.changes.around([drive.folder / "ada/notes.txt"]):
            pass
    assert not (drive.folder / "versions").exists()


async def test_save_succeeds_without_version_and_next_one_reports_recovery(drive: Drive) -> None:
    file = drive.folder / "ada/MEMORY.md"
    file.write_text("before")
    (drive.folder / "versions").write_text("no folder can be made here")
    async with drive.changes.around([file]):
        file.write_text("after")
    assert file.read_text() == "after"
    ((named, why),) = drive.changes.problems.items()
    assert (named.owner, named.path) == ("ada", "MEMORY.md")
    assert why.startswith("Your change was saved, but no version of MEMORY.md could be kept: Could not")
    told = drive.news
    (drive.folder / "versions").unlink()
    async with drive.changes.around([file]):
        file.write_text("later")
    assert drive.kept("MEMORY.md") == [("user", 5), ("user", 5)]
    assert not drive.changes.problems
    assert drive.news == told + 1


async def test_save_does_not_wait_for_hanging_server(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_edits, "_WAIT_S", 0.01)
    file = drive.folder / "ada/MEMORY.md"
    file.write_text("before")
    with held(file.parent):
        async with drive.changes.around([file]):
            file.write_text("after it")
    assert drive.kept("MEMORY.md") == [("user", 6)], "what it holds is kept when it is next looked at"
    await drive.memories[0].versions("MEMORY.md")
    assert drive.kept("MEMORY.md") == [("user", 6), ("user", 8)]


async def test_timed_out_save_does_not_take_the_writers_lock(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_edits, "_WAIT_S", 0.01)
    folder, fsync = drive.folder / "ada", os.fsync
    (folder / "MEMORY.md").write_text("before\n")
    writing, saved = threading.Event(), threading.Event()

    def slow(descriptor: int) -> None:
        if leftovers(folder) and not writing.is_set():
            writing.set()
            assert saved.wait(LIMIT_S)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    adding = asyncio.create_task(drive.memories[0].write("- told", "MEMORY.md"))
    assert await asyncio.to_thread(writing.wait, LIMIT_S)
    async with drive.changes.around([folder / "MEMORY.md", folder / "USER.md"]):
        (folder / "USER.md").write_text("mine")
    saved.set()
    await adding
    assert ((folder / "MEMORY.md").read_text(), (folder / "USER.md").read_text()) == ("before\n\n- told\n", "mine")
    assert not drive.changes.problems


async def test_save_too_large_for_versions_succeeds_and_is_reported(drive: Drive) -> None:
    file = drive.folder / "ada/MEMORY.md"
    async with drive.changes.around([file]):
        file.write_bytes(b"x" * 11_000_000)
    assert ["too large" in why for why in drive.changes.problems.values()] == [True]
    async with drive.changes.around([file]):
        file.write_text("short")
    assert not drive.changes.problems
    assert drive.kept("MEMORY.md") == [("user", 5)]
