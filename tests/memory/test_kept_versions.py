import asyncio
import os
from pathlib import Path

import pytest

from onyx_jupyter.errors import MemoryConflict, NotFound, PathNotAllowed, StorageError, ToolError
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import NO_FILE
from onyx_jupyter.storage.versions import VersionedFile, VersionStore, checksum_of
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.memory.interrupted import texts
from tests.storage.full_disk import file_size_limit


def memory_of(
    folder: Path, agent_id: str = "main", told: list[tuple[str, int | None, bool]] | None = None
) -> MemoryFiles:
    clock = FakeClock()
    return MemoryFiles(
        folder / "workspace",
        clock,
        agent_id=agent_id,
        shared=folder / "shared",
        versions=VersionStore(folder / "versions", clock),
        on_change=lambda change: (told if told is not None else []).append(
            (change.file.path, change.version.number if change.version else None, change.written)
        ),
    )


async def test_write_keeps_users_previous_text(tmp_path: Path) -> None:
    told: list[tuple[str, int | None, bool]] = []
    memory = memory_of(tmp_path, told=told)
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/MEMORY.md").write_text("mine\n")
    await memory.write("- Learnt", "MEMORY.md#Facts", session_key="01S")
    assert await texts(memory, "MEMORY.md") == [
        ("user", "mine\n"),
        ("agent", "mine\n\n## Facts\n\n- Learnt\n"),
    ]
    assert (await memory.versions("MEMORY.md"))[1].session_key == "01S"
    assert told == [("MEMORY.md", 1, False), ("MEMORY.md", 2, True)]


async def test_edit_between_two_writes_is_a_version_by_user(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    await memory.write("one", "MEMORY.md")
    (tmp_path / "workspace/MEMORY.md").write_text("by hand")
    await memory.write("two", "MEMORY.md")
    (tmp_path / "workspace/MEMORY.md").unlink()
    assert await texts(memory, "MEMORY.md") == [
        ("agent", "one\n"),
        ("user", "by hand"),
        ("agent", "by hand\n\ntwo\n"),
        ("user", ""),
    ]


async def test_change_based_on_older_text_is_rejected(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    await memory.write("one", "MEMORY.md")
    read = await memory.content("MEMORY.md")
    (tmp_path / "workspace/MEMORY.md").write_text("by hand")
    with pytest.raises(MemoryConflict, match=r"MEMORY\.md has changed since it was read") as conflict:
        await memory.replace("MEMORY.md", "made from one", based_on=read.checksum, author="consolidation")
    assert conflict.value.checksum == checksum_of(b"by hand")
    assert (tmp_path / "workspace/MEMORY.md").read_text() == "by hand"
    version = await memory.replace(
        "MEMORY.md", "made from by hand", based_on=conflict.value.checksum, author="consolidation", session_key="01S"
    )
    assert version is not None
    assert (version.author, version.session_key) == ("consolidation", "01S")
    assert (await memory.content("MEMORY.md")).text == "made from by hand"


async def test_only_one_of_concurrent_changes_is_accepted(tmp_path: Path) -> None:
    memories = [memory_of(tmp_path) for _ in range(3)]
    await memories[0].write("start", "MEMORY.md")
    base = (await memories[0].content("MEMORY.md")).checksum
    tries = (memories[n % 3].replace("MEMORY.md", f"try {n}", based_on=base, author="user") for n in range(12))
    results = await asyncio.gather(*tries, return_exceptions=True)
    (taken,) = [result for result in results if not isinstance(result, MemoryConflict)]
    assert not isinstance(taken, BaseException)
    assert (await memories[0].versions("MEMORY.md"))[-1] == taken
    assert len(await memories[0].versions("MEMORY.md")) == 2


async def test_new_file_is_created_only_if_none_exists(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    await memory.replace("HISTORY.md", "first", based_on=NO_FILE, author="consolidation")
    with pytest.raises(MemoryConflict):
        await memory.replace("HISTORY.md", "second", based_on=NO_FILE, author="consolidation")
    assert (tmp_path / "workspace/HISTORY.md").read_text() == "first"
    assert (tmp_path / "workspace/HISTORY.md").stat().st_mode & 0o777 == 0o600


async def test_restored_version_is_a_version_and_can_be_undone(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/MEMORY.md").write_bytes(b"one\r\n")
    await memory.versions("MEMORY.md")
    (tmp_path / "workspace/MEMORY.md").write_text("two")
    with pytest.raises(MemoryConflict):
        await memory.restore("MEMORY.md", 1, author="user", based_on=checksum_of(b"one\r\n"))
    back = await memory.restore("MEMORY.md", 1, author="user", based_on=checksum_of(b"two"))
    assert back is not None
    assert (back.number, back.restored, back.author) == (3, 1, "user")
    assert (tmp_path / "workspace/MEMORY.md").read_bytes() == b"one\r\n", "to the byte"
    await memory.restore("MEMORY.md", 2, author="user")
    assert (tmp_path / "workspace/MEMORY.md").read_text() == "two"
    with pytest.raises(NotFound, match="no version 9"):
        await memory.restore("MEMORY.md", 9, author="user")


async def test_text_written_by_other_programs_is_kept_as_version(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "USER.md").write_text("before")

    def put(name: str, text: str) -> None:
        with memory.writing(workspace / name, text.encode(), author="agent", session_key="01S") as refuse_other:
            refuse_other((workspace / name).read_bytes() if (workspace / name).exists() else None)
            (workspace / name).write_text(text)

    await asyncio.to_thread(put, "USER.md", "after")
    await asyncio.to_thread(put, "notes.txt", "no memory")
    assert await texts(memory, "USER.md") == [("user", "before"), ("agent", "after")]
    assert dict(memory.kept.counts()) == {"USER.md": 2}


async def test_failed_write_is_no_version(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    await memory.write("one", "MEMORY.md")
    real = tmp_path / "workspace/MEMORY.md"

    def fail() -> None:
        with memory.writing(real, b"never there", author="agent"):
            raise StorageError("no")

    with pytest.raises(StorageError):
        await asyncio.to_thread(fail)
    assert await texts(memory, "MEMORY.md") == [("agent", "one\n")]


async def test_nothing_is_written_if_former_text_cannot_be_kept(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    (tmp_path / "workspace").mkdir()
    real = tmp_path / "workspace/MEMORY.md"
    real.write_text("mine" * 1000 + "".join(chr(0x4E00 + n * 7 % 20000) for n in range(4000)))
    before = real.read_bytes()
    with file_size_limit(1000), pytest.raises(StorageError):
        await memory.replace("MEMORY.md", "small", based_on=checksum_of(before), author="consolidation")
    assert real.read_bytes() == before


async def test_shared_files_belong_to_all_agents(tmp_path: Path) -> None:
    ada, bob = memory_of(tmp_path, "ada"), memory_of(tmp_path, "bob")
    await ada.replace("shared/user-profile.md", "# Profile\nlikes tea\n", based_on=NO_FILE, author="user")
    assert (tmp_path / "shared/user-profile.md").exists()
    assert await bob.read("shared/user-profile.md", start_line=2) == "likes tea\n"
    assert await texts(bob, "shared/user-profile.md") == await texts(ada, "shared/user-profile.md")
    assert [passage.path for passage in await bob.search("tea", 5)] == ["shared/user-profile.md"]


@pytest.mark.parametrize("path", ["../x.md", "shared/../../x.md", "/etc/x.md", "shared/../workspace/../x.md"])
async def test_nothing_outside_is_replaced(tmp_path: Path, path: str) -> None:
    with pytest.raises(PathNotAllowed):
        await memory_of(tmp_path).replace(path, "x", based_on=NO_FILE, author="user")


@pytest.mark.parametrize("path", ["notes.txt", "skills/x.md", ".hidden.md", "memory/deeper/x.md"])
async def test_non_memory_file_is_not_replaced(tmp_path: Path, path: str) -> None:
    with pytest.raises(ToolError, match="not a memory file"):
        await memory_of(tmp_path).replace(path, "x", based_on=NO_FILE, author="user")


def test_every_file_is_listed_with_reason_if_unreadable(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "memory/2026-01-01.md").write_text("x")
    (workspace / "MEMORY.md").write_text("xyz")
    (workspace / "loop.md").symlink_to("loop.md")
    (workspace / "out.md").symlink_to("/etc/hostname")
    (workspace / "nowhere.md").symlink_to("gone.md")
    (workspace / "same.md").symlink_to("MEMORY.md")
    (workspace / "inside.md").symlink_to("notes.txt")
    os.mkfifo(workspace / "pipe.md")
    (workspace / "folder.md").mkdir()
    (workspace / "notes.txt").write_text("x")
    found = {file.path: (file.size_bytes, file.problem) for file in memory.folder.files()}
    assert found == {
        "MEMORY.md": (3, None),
        "inside.md": (0, "It is a link to something that is not a memory file."),
        "loop.md": (0, "It is a link that leads out of the memory folder or in a circle."),
        "memory/2026-01-01.md": (1, None),
        "nowhere.md": (0, "It is a broken link."),
        "out.md": (0, "It is a link that leads out of the memory folder or in a circle."),
        "pipe.md": (0, "It is not a regular file."),
    }


async def test_versions_are_described_from_one_read_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_of(tmp_path)
    await memory.write("one", "MEMORY.md")
    (tmp_path / "workspace/MEMORY.md").unlink()
    await memory.versions("MEMORY.md")
    read: list[VersionedFile] = []
    history = VersionStore.history
    monkeypatch.setattr(VersionStore, "history", lambda store, file: read.append(file) or history(store, file))
    made = await memory.version_content("MEMORY.md", 1)
    assert (made.text, made.checksum, len(read)) == ("one\n", checksum_of(b"one\n"), 1)
    gone = await memory.version_content("MEMORY.md", 2)
    assert (gone.text, gone.checksum) == ("", NO_FILE), "it was deleted then"
    with pytest.raises(NotFound, match="no version 3"):
        await memory.version_content("MEMORY.md", 3)
