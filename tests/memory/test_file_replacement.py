"""What is saved while something else is being written, what can be read again, and what makes nothing."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from onyx_jupyter.errors import MemoryConflict, StorageError, ToolError
from onyx_jupyter.memory.file_replacement import held
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import MAX_FILE_BYTES
from onyx_jupyter.storage.versions import checksum_of
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.memory.interrupted import InterruptedStore, texts


@dataclass
class Room:
    """One agent's memory, whose MEMORY.md is `file`; `versions.meanwhile` is what others do in between."""

    memory: MemoryFiles
    versions: InterruptedStore
    file: Path


@pytest.fixture
def room(tmp_path: Path) -> Room:
    clock = FakeClock()
    versions = InterruptedStore(tmp_path / "versions", clock)
    memory = MemoryFiles(tmp_path / "workspace", clock, shared=tmp_path / "shared", versions=versions)
    memory.folder.workspace.mkdir()
    return Room(memory, versions, memory.folder.workspace / "MEMORY.md")


async def test_user_save_during_append_is_kept(room: Room) -> None:
    room.file.write_text("- Before\n")
    room.versions.meanwhile = [lambda: room.file.write_text("- Saved meanwhile\n")]
    await room.memory.write("- Added", "MEMORY.md")
    assert room.file.read_text() == "- Saved meanwhile\n\n- Added\n"
    assert await texts(room.memory, "MEMORY.md") == [
        ("user", "- Before\n"),
        ("user", "- Saved meanwhile\n"),
        ("agent", "- Saved meanwhile\n\n- Added\n"),
    ]


async def test_file_just_truncated_by_editor_is_waited_for(room: Room) -> None:
    room.file.write_text("- Before\n")
    room.versions.meanwhile = [lambda: room.file.write_text(""), lambda: room.file.write_text("- Saved\n")]
    await room.memory.write("- Added", "MEMORY.md")
    assert room.file.read_text() == "- Saved\n\n- Added\n"


async def test_repeatedly_changing_file_is_left_alone(room: Room) -> None:
    room.file.write_text("0")
    room.versions.meanwhile = [lambda n=n: room.file.write_text(f"state {n}") for n in range(1, 20)]
    with pytest.raises(MemoryConflict):
        await room.memory.write("- Added", "MEMORY.md")
    assert room.file.read_text() == f"state {19 - len(room.versions.meanwhile)}"
    assert {file.name for file in room.file.parent.iterdir()} == {"MEMORY.md", ".memory.lock"}, "nothing half-done"


@pytest.mark.parametrize("change", ["replace", "restore"])
async def test_user_save_during_full_replacement_is_kept(room: Room, change: str) -> None:
    for text in ("one", "two"):
        room.file.write_text(text)
        await room.memory.versions("MEMORY.md")
    base = checksum_of(b"two")
    room.versions.meanwhile = [lambda: room.file.write_text("by hand")]
    doing = {
        "replace": lambda: room.memory.replace("MEMORY.md", "three", based_on=base, author="consolidation"),
        "restore": lambda: room.memory.restore("MEMORY.md", 1, author="agent", based_on=base),
    }[change]()
    with pytest.raises(MemoryConflict) as conflict:
        await doing
    assert conflict.value.checksum == checksum_of(b"by hand")
    assert room.file.read_text() == "by hand"


async def test_new_user_file_is_not_overwritten(room: Room) -> None:
    room.versions.meanwhile = [lambda: room.file.write_text("mine")]
    await room.memory.write("- Added", "MEMORY.md")
    assert room.file.read_text() == "mine\n\n- Added\n"


async def test_other_writers_are_told_of_intervening_saves(room: Room) -> None:
    room.file.write_text("one")

    def put(based_on: str | None) -> None:
        writing = room.memory.writing(room.file, b"from one", author="agent", based_on=based_on)
        with writing as refuse_other:
            refuse_other(room.file.read_bytes())
            room.file.write_text("from one")

    base = room.memory.state(room.file)
    room.file.write_text("two")
    with pytest.raises(MemoryConflict):
        await asyncio.to_thread(put, base)
    room.versions.meanwhile = [lambda: room.file.write_text("three")]
    with pytest.raises(MemoryConflict):
        await asyncio.to_thread(put, None)
    assert room.file.read_text() == "three"
    await asyncio.to_thread(put, room.memory.state(room.file))
    assert await texts(room.memory, "MEMORY.md") == [
        ("user", "two"),
        ("user", "three"),
        ("agent", "from one"),
    ]
    assert room.memory.state(room.file.with_suffix(".txt")) is None, "no memory file"


async def test_folder_lock_excludes_other_writers(room: Room) -> None:
    with held(room.file.parent), pytest.raises(StorageError, match=r"locked for 0\.01 s"), held(room.file.parent, 0.01):
        raise AssertionError("two at once")
    with held(room.file.parent, 0):
        pass


async def test_control_and_invisible_characters_are_not_remembered(room: Room) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    await room.memory.write(f"a\0b \x1b[31mred{hidden}\u202e\x07", "MEMORY.md")
    await room.memory.write("می\u200cخواهم 👩\u200d🔬 ❤\ufe0f \ud800", "MEMORY.md")
    assert await room.memory.read("MEMORY.md") == "ab [31mred\n\nمی\u200cخواهم 👩\u200d🔬 ❤\ufe0f \ufffd\n"
    with pytest.raises(ToolError, match="empty"):
        await room.memory.write("\0\u200b")


async def test_memory_file_is_never_made_unreadable(room: Room) -> None:
    large = "x" * (MAX_FILE_BYTES - 5)
    room.file.write_text(large)
    with pytest.raises(ToolError, match="too large"):
        await room.memory.write("- Added", "MEMORY.md")
    base = room.memory.state(room.file)
    assert base is not None
    for text, why in (("a\0b", "NUL"), (large + large, "too large")):
        with pytest.raises(ToolError, match=why):
            await room.memory.replace("MEMORY.md", text, based_on=base, author="consolidation")
        with pytest.raises(ToolError, match=why), room.memory.writing(room.file, text.encode(), author="agent"):
            raise AssertionError("it was let in")
    assert room.file.read_text() == large


async def test_file_too_large_for_versions_is_not_overwritten(room: Room) -> None:
    room.file.write_text("small")
    await room.memory.versions("MEMORY.md")
    room.file.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(ToolError, match="too large"), room.memory.writing(room.file, b"new", author="agent"):
        raise AssertionError("it was let in")
    with pytest.raises(ToolError, match="too large"):
        await room.memory.restore("MEMORY.md", 1, author="user")
    assert room.file.stat().st_size == MAX_FILE_BYTES + 1
    assert [version.number for version in await room.memory.versions("MEMORY.md")] == [1]


@pytest.mark.parametrize("path", ["onyx:MEMORY.md", "./MEMORY.md", "memory/../MEMORY.md", "shared/../workspace/x"])
async def test_file_has_one_history_under_any_path(room: Room, path: str) -> None:
    room.file.write_text("mine")
    if "shared" in path:
        with pytest.raises(ToolError):
            await room.memory.content(path)
    else:
        assert (await room.memory.content(path)).path == "MEMORY.md"
    assert set(room.memory.kept.counts()) <= {"MEMORY.md"}


async def test_other_files_get_no_versions(room: Room, tmp_path: Path) -> None:
    (room.file.parent / "secret.env").write_text("KEY=1")
    with pytest.raises(ToolError, match="not a memory file"):
        await room.memory.content("secret.env")
    with pytest.raises(ToolError, match="not a memory file"):
        await asyncio.to_thread(room.memory.note_outside_change, "onyx:secret.env")
    assert not (tmp_path / "versions").exists()


async def test_reading_vanished_workspace_creates_and_deletes_nothing(room: Room) -> None:
    room.file.write_text("mine")
    await room.memory.versions("MEMORY.md")
    away = room.file.parent.rename(room.file.parent.with_name("unmounted"))
    assert await asyncio.to_thread(room.memory.note_outside_change, "MEMORY.md") is None
    assert await texts(room.memory, "MEMORY.md") == [("user", "mine")]
    assert not room.file.parent.exists()
    away.rename(room.file.parent)
    room.file.unlink()
    assert await texts(room.memory, "MEMORY.md") == [("user", "mine"), ("user", "")], "that is a deletion"
