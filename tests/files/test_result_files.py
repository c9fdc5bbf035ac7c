import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.files import result_files
from onyx_jupyter.files.result_files import MAX_AGE_S, ResultFiles
from onyx_jupyter.messages import ToolCall, ToolResult
from onyx_jupyter.processes import output_file
from onyx_jupyter.processes.output_file import OutputFile
from onyx_jupyter.processes.run_processes import RunProcesses
from onyx_jupyter.security.path_guard import PathGuard
from onyx_jupyter.testing.fake_clock import FakeClock
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry

Make = Callable[..., ToolContext]
SECRET = "sk-live-0123456789abcdef0123456789"


def files(context: ToolContext, *, max_chars: int = 2_000, clock: Any = None) -> ResultFiles:
    return ResultFiles(context.paths, "01SESSION", clock or FakeClock(), max_chars)


async def read_all(context: ToolContext, path: str) -> str:
    """The whole file, page by page, as the model reads it."""
    lines: list[str] = []
    while True:
        tool, checked = ToolRegistry(all_tools()).validate(
            ToolCall("1", "read", {"path": path, "from": len(lines) + 1})
        )
        result = await tool.call(checked, context)
        assert len(result.output) <= context.max_result_chars
        lines += [line.partition("\t")[2] for line in result.output.split("\n") if "\t" in line]
        if not result.truncated:
            return "\n".join(lines)


async def execute(context: ToolContext, command: str, **more: Any) -> ToolResult:
    tool, checked = ToolRegistry(all_tools()).validate(ToolCall("c1", "exec", {"command": command, **more}))
    return await tool.call(checked, context)


async def test_short_result_is_unchanged_and_creates_no_file(make_context: Make) -> None:
    context = make_context()
    result = ToolResult("x" * 2_000)
    assert await files(context).fit("c1", result) is result
    assert list(context.workspace.iterdir()) == []


async def test_long_result_keeps_head_and_tail_and_full_text_is_readable(make_context: Make) -> None:
    context = make_context(max_result_chars=2_000)
    text = "\n".join(f"line {number}" for number in range(1, 2_001))
    fitted = await files(context).fit("c1", ToolResult(text, ok=False, exit_code=3))
    assert len(fitted.output) <= 2_000
    assert fitted.output.startswith("line 1\nline 2\n")
    assert fitted.output.endswith("\nline 1999\nline 2000")
    assert (fitted.ok, fitted.exit_code, fitted.truncated) == (False, 3, True)
    assert "The full text is in onyx:results/01SESSION/c1.txt" in fitted.output
    left_out = int(fitted.output.partition("[… ")[2].partition(" ")[0])
    head, _, tail = fitted.output.partition("\n[… ")
    assert left_out == len(text) - len(head) - len(tail.partition("…]\n")[2])
    assert await read_all(context, "onyx:results/01SESSION/c1.txt") == text
    file = context.workspace / "results" / "01SESSION" / "c1.txt"
    assert [stat.S_IMODE(place.stat().st_mode) for place in (file, file.parent)] == [0o600, 0o700]


@pytest.mark.parametrize("call_id", ["../../../x", "a/b", "", "é" * 300, "\ud800", "call with spaces"])
async def test_any_call_id_maps_to_a_file_inside_the_folder(make_context: Make, call_id: str) -> None:
    context = make_context()
    fitted = await files(context).fit(call_id, ToolResult("x" * 3_000))
    assert fitted.kept_in is not None
    (file,) = (context.workspace / "results" / "01SESSION").iterdir()
    assert context.paths.resolve(fitted.kept_in) == file


async def test_unsaveable_result_is_reported_and_call_succeeds(make_context: Make) -> None:
    context = make_context()
    (context.workspace / "results").write_text("in the way")
    fitted = await files(context).fit("c1", ToolResult("x" * 3_000))
    assert fitted.kept_in is None
    assert "It could not be saved to a file." in fitted.output
    assert len(fitted.output) <= 2_000


async def test_old_and_excess_results_are_deleted(
    make_context: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    context, clock = make_context(), FakeClock()
    now = clock.now().timestamp()
    folder = context.workspace / "results" / "earlier"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "old.txt").write_text("mine")
    os.utime(elsewhere / "old.txt", (0, 0))
    (context.workspace / "results" / "away").symlink_to(elsewhere)
    for name, age_s, size in (("week", MAX_AGE_S + 1, 1), ("big", 100, 5_000), ("new", 10, 5_000), ("note.md", 1e9, 1)):
        file = folder / (name if "." in name else f"{name}.txt")
        file.write_bytes(b"x" * size)
        os.utime(file, (now - age_s, now - age_s))
    monkeypatch.setattr(result_files, "MAX_BYTES", 9_000)
    await files(context, clock=clock).fit("c1", ToolResult("x" * 3_000))
    assert sorted(file.name for file in folder.iterdir()) == ["new.txt", "note.md"]
    assert (elsewhere / "old.txt").read_text() == "mine"


async def test_link_in_place_of_folder_is_not_followed(make_context: Make, tmp_path: Path) -> None:
    context = make_context()
    (tmp_path / "elsewhere").mkdir()
    (context.workspace / "results").symlink_to(tmp_path / "elsewhere")
    assert (await files(context).fit("c1", ToolResult("x" * 3_000))).kept_in is None
    assert list((tmp_path / "elsewhere").iterdir()) == []


async def test_full_command_output_is_saved_while_memory_holds_less(make_context: Make) -> None:
    plain = make_context()
    kept = files(plain)
    context = make_context(processes=RunProcesses(results=kept), max_output_bytes=5_000, max_result_chars=2_000)
    result = await execute(context, "seq 1 20000")
    assert len(result.output) < 6_000
    fitted = await kept.fit("c", result)
    assert len(fitted.output) <= 2_000
    assert fitted.output.endswith("20000\nexit code 0")
    assert "The middle is left out here. The full text is in onyx:results/01SESSION/c.txt" in fitted.output
    assert await read_all(context, "onyx:results/01SESSION/c.txt") == "\n".join(map(str, range(1, 20_001)))


async def test_short_output_creates_no_file(make_context: Make) -> None:
    plain = make_context()
    context = make_context(processes=RunProcesses(results=files(plain)))
    assert (await execute(context, "echo hi")).kept_in is None
    assert list(context.workspace.iterdir()) == []


async def test_file_contains_no_secret_however_output_is_chunked(make_context: Make) -> None:
    context = make_context()
    kept = files(context)

    def redact(text: str) -> str:
        return text.replace(SECRET, "[gone]")

    writer = OutputFile(lambda: kept.create("c1"), redact, begin_bytes=10)
    text = ("é" * 50 + SECRET + "\n") * 400
    data = text.encode()
    for start in range(0, len(data), 37):
        writer.add(data[start : start + 37])
        await asyncio.sleep(0)
    await writer.close()
    written = (context.workspace / "results" / "01SESSION" / "c1.txt").read_text("utf-8")
    assert SECRET not in written
    assert written == redact(text)


async def test_file_size_is_limited(make_context: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_file, "MAX_BYTES", 50_000)
    context = make_context()
    writer = OutputFile(lambda: files(context).create("c1"), str, begin_bytes=10)
    for _ in range(100):
        writer.add(b"x" * 1_000)
    await writer.close()
    assert (context.workspace / "results" / "01SESSION" / "c1.txt").stat().st_size == 50_000
    assert not writer.is_whole


async def test_full_disk_does_not_end_command(make_context: Make, tmp_path: Path) -> None:
    plain = make_context()
    (plain.workspace / "results").write_text("in the way")
    context = make_context(processes=RunProcesses(results=files(plain)), max_result_chars=2_000)
    result = await execute(context, "seq 1 5000")
    assert result.ok
    assert result.kept_in is None
    assert result.output.endswith("5000\nexit code 0")


def test_guard_knows_its_own_workspace(tmp_path: Path) -> None:
    guard = PathGuard(tmp_path, tmp_path / "workspace")
    assert guard.shown(tmp_path / "workspace" / "results") == "onyx:results"
    assert guard.shown(tmp_path / "a") == "a"
