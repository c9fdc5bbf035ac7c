import asyncio
import subprocess
import sys
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from onyx_jupyter.errors import PathNotAllowed, StorageError, ToolError
from onyx_jupyter.memory import file_replacement
from onyx_jupyter.memory.files import MemoryFiles
from onyx_jupyter.memory.folder import NO_FILE
from onyx_jupyter.memory.templates import install_templates
from onyx_jupyter.testing.fake_clock import FakeClock

TOKYO = timezone(timedelta(hours=9))


def memory_of(workspace: Path, clock: FakeClock | None = None) -> MemoryFiles:
    return MemoryFiles(workspace, clock or FakeClock(), time_zone=TOKYO)


def everything_in(folder: Path) -> list[Path]:
    return list(folder.rglob("*"))


def lock_holder(lock: Path) -> subprocess.Popen[str]:
    """Another process that keeps the lock until its input ends."""
    script = "import sys, filelock\nwith filelock.FileLock(sys.argv[1]):\n print('held', flush=True)\n sys.stdin.read()"
    arguments = [sys.executable, "-c", script, str(lock)]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


async def test_note_goes_to_local_days_file_with_time(tmp_path: Path) -> None:
    clock = FakeClock()
    memory = memory_of(tmp_path, clock)
    assert await memory.write("First\n") == "memory/2026-01-01.md"
    clock.advance(60)
    await memory.write("Second")
    text = (tmp_path / "memory/2026-01-01.md").read_text()
    assert text == "# 2026-01-01\n\n## 09:00\n\nFirst\n\n## 09:01\n\nSecond\n"
    clock.advance(15 * 3600)
    assert await memory.write("Tomorrow, here") == "memory/2026-01-02.md"


async def test_fact_is_appended_to_its_section_and_nothing_else_moves(tmp_path: Path) -> None:
    before = "# Memory\n\n## Facts\n\n- One\n\n### Detail\n\ntext\n\n## Other\n\n```\n## Facts\n```\n"
    (tmp_path / "MEMORY.md").write_text(before)
    await memory_of(tmp_path).write("- Two", "MEMORY.md#facts")
    after = (tmp_path / "MEMORY.md").read_text()
    assert after == before.replace("text\n", "text\n\n- Two\n")


async def test_missing_section_is_created_and_lists_stay_lists(tmp_path: Path) -> None:
    memory = memory_of(tmp_path)
    await memory.write("- One", "MEMORY.md#People")
    await memory.write("- Two", "MEMORY.md#People")
    await memory.write("At the end", "MEMORY.md")
    assert (tmp_path / "MEMORY.md").read_text() == "## People\n\n- One\n- Two\n\nAt the end\n"


async def test_windows_line_endings_are_kept(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"# Memory\r\n\r\n## Facts\r\n\r\n- One\r\n")
    await memory_of(tmp_path).write("- Two", "MEMORY.md#Facts")
    assert (tmp_path / "MEMORY.md").read_bytes() == b"# Memory\r\n\r\n## Facts\r\n\r\n- One\r\n- Two\r\n"


async def test_each_line_keeps_its_ending_and_new_ones_use_the_most_common(tmp_path: Path) -> None:
    file = tmp_path / "MEMORY.md"
    file.write_bytes(b"# Memory\n\n## Facts\r\n- One\n\n## Other\n- x\r\n- last")
    await memory_of(tmp_path).write("- Two\n- Three", "MEMORY.md#Facts")
    assert file.read_bytes() == b"# Memory\n\n## Facts\r\n- One\n- Two\n- Three\n\n## Other\n- x\r\n- last"
    await memory_of(tmp_path).write("New", "MEMORY.md")
    assert file.read_bytes().endswith(b"- x\r\n- last\n\nNew\n")
    file.write_bytes(b"a\r\nb\r\nc\n")
    await memory_of(tmp_path).write("- d", "MEMORY.md#New")
    assert file.read_bytes() == b"a\r\nb\r\nc\n\r\n## New\r\n\r\n- d\r\n"


@pytest.mark.parametrize("target", ["SOUL.md", "../x.md", "memory/../../x.md", "memory/2026-13-01.md", "/etc/x", "a#b"])
async def test_only_memory_files_are_written(tmp_path: Path, target: str) -> None:
    with pytest.raises(ToolError):
        await memory_of(tmp_path / "workspace").write("x", target)
    assert everything_in(tmp_path) == []


async def test_empty_text_is_not_remembered(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="empty"):
        await memory_of(tmp_path).write("  \n")
    assert everything_in(tmp_path) == []


async def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    memories = [memory_of(tmp_path) for _ in range(3)]
    await asyncio.gather(*(memories[n % 3].write(f"- note {n}", "MEMORY.md#Facts") for n in range(30)))
    lines = (tmp_path / "MEMORY.md").read_text().splitlines()
    assert sorted(line for line in lines if line.startswith("- ")) == sorted(f"- note {n}" for n in range(30))


async def test_lock_held_by_second_process_eventually_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_replacement, "LOCK_S", 0.05)
    holder = lock_holder(tmp_path / ".memory.lock")
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StorageError, match="another process"):
            await memory_of(tmp_path).write("x", "MEMORY.md")
        assert not (tmp_path / "MEMORY.md").exists()
        holder.communicate()
    await memory_of(tmp_path).write("x", "MEMORY.md")


async def test_lines_are_counted_as_in_an_editor(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("one\u2028still one\ntwo\nthree\n", encoding="utf-8")
    memory = memory_of(tmp_path)
    assert await memory.read("MEMORY.md", start_line=2, line_count=1) == "two\n"
    assert await memory.read("onyx:MEMORY.md", start_line=3) == "three\n"
    with pytest.raises(ToolError, match="has 3 lines"):
        await memory.read("MEMORY.md", start_line=9)


async def test_missing_or_non_memory_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("x")
    (tmp_path / "secret.txt").write_text("x")
    memory = memory_of(tmp_path)
    with pytest.raises(ToolError, match=r"Available: MEMORY\.md"):
        await memory.read("USER.md")
    with pytest.raises(ToolError, match="Markdown"):
        await memory.read("secret.txt")
    (tmp_path / "link.md").symlink_to("/etc/hostname")
    with pytest.raises(PathNotAllowed):
        await memory.read("link.md")


async def test_bootstrap_files_come_in_order_without_empty_ones(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("MEMORY.md", "AGENTS.md", "SOUL.md", "USER.md"):
        (workspace / name).write_text(f"I am {name}\n")
    (workspace / "TOOLS.md").write_text(" \n")
    found = {file.name: file.text for file in await memory_of(workspace).bootstrap_files()}
    assert list(found) == ["SOUL.md", "USER.md", "AGENTS.md", "MEMORY.md"]
    assert found["SOUL.md"] == "I am SOUL.md\n"


async def test_bootstrap_link_out_of_workspace_is_left_out_and_reported(tmp_path: Path) -> None:
    workspace, other = tmp_path / "workspace", tmp_path / "workspace-other"
    for folder in (workspace, other):
        folder.mkdir()
    (other / "MEMORY.md").write_text("of another agent")
    (workspace / "own.md").write_text("its own")
    for name, target in {"MEMORY.md": other / "MEMORY.md", "TOOLS.md": "own.md", "USER.md": "USER.md"}.items():
        (workspace / name).symlink_to(target)
    (workspace / "SOUL.md").symlink_to(other / "gone.md")
    found = {file.name: file.text for file in await memory_of(workspace).bootstrap_files()}
    assert found == {
        "TOOLS.md": "its own",
        "MEMORY.md": "[MEMORY.md is left out: it is a link that leads out of the workspace.]",
    }


async def test_bootstrap_file_over_cap_says_how_much_is_missing(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("x" * 50_000)
    (file,) = await memory_of(tmp_path).bootstrap_files()
    assert (file.name, file.size, file.left_out) == ("MEMORY.md", 50_000, 30_000)
    assert file.text.count("x") == 20_000
    assert "30000 more characters of MEMORY.md are not shown" in file.text


async def test_bootstrap_files_together_stay_within_cap(tmp_path: Path) -> None:
    for name in ("SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"):
        (tmp_path / name).write_text("x" * 18_000)
    files = await memory_of(tmp_path).bootstrap_files()
    assert [file.left_out for file in files] == [0, 0, 0, 12_000]
    assert sum(file.text.count("x") for file in files) == 60_000


def test_templates_fill_gaps_and_never_overwrite(tmp_path: Path) -> None:
    source, workspace = tmp_path / "source", tmp_path / "home" / "workspace"
    (source / "skills").mkdir(parents=True)
    (source / "SOUL.md").write_text("template")
    (source / "skills" / "one.md").write_text("skill")
    assert install_templates(source, workspace) == ["SOUL.md", "skills/one.md"]
    assert (workspace / "SOUL.md").stat().st_mode & 0o777 == 0o600
    (workspace / "SOUL.md").write_text("mine")
    (workspace / "skills" / "one.md").unlink()
    assert install_templates(source, workspace) == ["skills/one.md"]
    assert (workspace / "SOUL.md").read_text() == "mine"


async def test_files_about_the_person_are_memory_files_but_not_in_the_prompt(tmp_path: Path) -> None:
    memory = MemoryFiles(tmp_path, FakeClock())
    await memory.replace("USER/GOALS.md", "# Goals\n", based_on=NO_FILE, author="user")
    assert [file.path for file in memory.folder.files()] == ["USER/GOALS.md"]
    assert (await memory.content("USER/GOALS.md")).text == "# Goals\n"
    assert await memory.bootstrap_files() == []
    assert memory.folder.name_of(tmp_path / "USER" / "deeper" / "x.md") is None
