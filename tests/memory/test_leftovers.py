"""What a write that was killed has left beside a memory file: put back or kept at the next look, and gone then."""

import logging
from pathlib import Path

import pytest

from onyx_jupyter.errors import MemoryConflict
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.targets import FACTS_FILE
from onyx_jupyter.storage.atomic_swap import leftovers, swap
from onyx_jupyter.storage.versions import checksum_of
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.memory.interrupted import InterruptedStore, Killed, Steps, texts


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    one, other = tmp_path / "one", tmp_path / "other"
    one.touch()
    other.touch()
    if not swap(str(one), str(other)):
        pytest.skip("this disk cannot swap two names")
    (tmp_path / "workspace").mkdir()
    return tmp_path / "workspace"


def memory_of(workspace: Path) -> MemoryFiles:
    """As a server has it that has just started."""
    clock = FakeClock()
    versions = InterruptedStore(workspace.parent / "versions", clock)
    return MemoryFiles(workspace, clock, shared=workspace.parent / "shared", versions=versions)


def left_in(folder: Path) -> list[str]:
    return [one.place.read_text() for one in leftovers(folder)]


def names_in(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir()}


async def tidied(workspace: Path, path: str, steps: Steps, text: str = "- Tidied up\n") -> None:
    memory = memory_of(workspace)
    await memory.versions(path)
    with steps.counted():
        state = checksum_of((workspace / path).read_bytes())
        await memory.replace(path, text, based_on=state, author="consolidation")


async def killed_after_the_swap(workspace: Path, path: str, text: str, saved: str | None = None) -> None:
    """At once, before anybody looked at what was replaced; `saved` is what its person saved just before the swap."""
    steps = Steps()

    def at_the_swap() -> None:
        if saved is not None:
            (workspace / path).write_text(saved)
        steps.meanwhile[steps.count] = steps.kill

    steps.meanwhile["swap"] = at_the_swap
    with pytest.raises(Killed):
        await tidied(workspace, path, steps, text)
    assert (workspace / path).read_text() == text


async def test_save_just_before_swap_is_restored_after_kill(workspace: Path) -> None:
    file = workspace / "MEMORY.md"
    file.write_text("- Before\n")
    await killed_after_the_swap(workspace, "MEMORY.md", "- Tidied up\n", saved="- By hand\n")
    memory = memory_of(workspace)
    assert (await memory.content("MEMORY.md")).text == file.read_text() == "- By hand\n"
    assert await texts(memory, "MEMORY.md") == [("user", "- Before\n"), ("user", "- By hand\n")]
    assert left_in(workspace) == []


async def test_kill_at_any_step_keeps_save_and_no_leftover(workspace: Path) -> None:
    file = workspace / "MEMORY.md"
    kills = 0
    ended: type[BaseException] = Killed
    while ended is Killed:
        file.write_text(f"- Before {kills}\n")
        steps, saved = Steps(), f"- By hand {kills}\n"

        def at_the_swap(steps: Steps = steps, saved: str = saved, after: int = kills) -> None:
            file.write_text(saved)
            steps.meanwhile[steps.count + after] = steps.kill

        steps.meanwhile["swap"] = at_the_swap
        with pytest.raises((Killed, MemoryConflict)) as end:
            await tidied(workspace, "MEMORY.md", steps)
        ended = end.type
        assert (await memory_of(workspace).content("MEMORY.md")).text == saved
        assert left_in(workspace) == []
        kills += 1
    assert kills > 5, "between the swap and the conflict"
    assert "- Tidied up\n" not in [text for _, text in await texts(memory_of(workspace), "MEMORY.md")]


async def test_save_after_kill_stays_and_save_before_it_is_a_version(workspace: Path) -> None:
    file = workspace / "MEMORY.md"
    file.write_text("- Before\n")
    await killed_after_the_swap(workspace, "MEMORY.md", "- Tidied up\n", saved="- By hand\n")
    file.write_text("- Later\n")
    memory = memory_of(workspace)
    await memory.write("- Added", "MEMORY.md")
    assert await texts(memory, "MEMORY.md") == [
        ("user", "- Before\n"),
        ("user", "- By hand\n"),
        ("user", "- Later\n"),
        ("agent", "- Later\n\n- Added\n"),
    ]
    assert left_in(workspace) == []


async def test_forgotten_text_stays_in_no_leftover(workspace: Path) -> None:
    file = workspace / FACTS_FILE
    file.parent.mkdir()
    file.write_text('{"text": "secret"}\n')
    await killed_after_the_swap(workspace, FACTS_FILE, "")
    assert left_in(file.parent) == ['{"text": "secret"}\n']
    memory = memory_of(workspace)
    assert (await memory.content(FACTS_FILE)).text == '{"text": "secret"}\n', "nobody was told that it was forgotten"
    await memory.replace(FACTS_FILE, "", based_on=checksum_of(file.read_bytes()), author="agent")
    assert [text for one in file.parent.iterdir() if (text := one.read_text())] == []


async def test_unplaced_text_is_deleted_without_version_and_foreign_files_stay(workspace: Path) -> None:
    file = workspace / "MEMORY.md"
    file.write_text("- Before\n")
    others = {".MEMORY.md.swp", ".MEMORY.md.id4cbq9d", ".notes.txt.ab.onyx-new"}
    for name in others:
        (workspace / name).write_text("not ours")
    for step in ("rename", "swap"):
        steps = Steps()
        steps.meanwhile[step] = steps.kill
        with pytest.raises(Killed):
            await tidied(workspace, "MEMORY.md", steps)
        assert "- Tidied up\n" in left_in(workspace)
        assert await texts(memory_of(workspace), "MEMORY.md") == [("user", "- Before\n")]
        assert names_in(workspace) == {"MEMORY.md", ".memory.lock", *others}


async def test_leftover_is_kept_until_a_version_can_be_stored(
    workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = workspace / "MEMORY.md"
    file.write_text("- Before\n")
    await killed_after_the_swap(workspace, "MEMORY.md", "- Tidied up\n", saved="- By hand\n")
    file.write_text("- Before\n")
    memory, steps = memory_of(workspace), Steps()
    steps.meanwhile["record"] = steps.fail
    with steps.counted(), caplog.at_level(logging.WARNING):
        await memory.content("MEMORY.md")
    assert "could not be deleted" in caplog.text
    assert left_in(workspace) == ["- By hand\n"]
    assert ("user", "- By hand\n") in await texts(memory, "MEMORY.md")
    assert left_in(workspace) == []


def test_no_tool_can_create_a_leftover(workspace: Path) -> None:
    memory = memory_of(workspace)
    for name in (".MEMORY.md.ab.0123456789abcdef.onyx-old", ".MEMORY.md.ab.onyx-new", "MEMORY.md"):
        assert memory.why_asked(workspace / name)
    for name in (".notes.txt.ab.0123456789abcdef.onyx-old", ".MEMORY.md.ab.onyx-old", ".MEMORY.md.swp"):
        assert not memory.why_asked(workspace / name)
