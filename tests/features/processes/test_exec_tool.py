import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import InvalidArguments, PathNotAllowed, ToolError
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.processes.output_buffer import OutputBuffer, share
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.processes.family import FAMILY, pids_in, running
from tests.features.tool_calls import ToolCalls

Make = Callable[..., ToolContext]


async def run(context: ToolContext, **arguments: Any) -> ToolResult:
    return await ToolCalls(make_exec_tool(progress_every_s=0.02)).run(context, "exec", **arguments)


async def until_written(folder: Path, lines: int) -> None:
    """Until a real process has written that many lines."""
    while len(pids_in(folder)) < lines:  # noqa: ASYNC110 (another process tells)
        await asyncio.sleep(0.01)


async def test_output_and_exit_code_are_returned(make_context: Make) -> None:
    result = await run(make_context(), command="echo hi; exit 3")
    assert result.output == "hi\nexit code 3"
    assert (result.ok, result.exit_code, result.truncated) == (False, 3, False)


async def test_both_streams_are_labelled_if_both_exist(make_context: Make) -> None:
    result = await run(make_context(), command="echo out; echo err >&2")
    assert result.output == "stdout:\nout\nstderr:\nerr\nexit code 0"
    assert result.ok


async def test_runs_in_server_root_or_given_folder(make_context: Make) -> None:
    context = make_context()
    (context.server_root / "data").mkdir()
    assert (await run(context, command="pwd")).output.startswith(f"{context.server_root}\n")
    assert (await run(context, command="pwd", cwd="data")).output.startswith(f"{context.server_root}/data\n")
    assert (await run(context, command="pwd", cwd="onyx:")).output.startswith(f"{context.workspace}\n")


async def test_outside_or_missing_folder_is_rejected_before_running(make_context: Make) -> None:
    context = make_context()
    with pytest.raises(PathNotAllowed):
        await run(context, command="touch made", cwd="..")
    with pytest.raises(ToolError, match="does not exist"):
        await run(context, command="touch made", cwd="nowhere")
    assert not (context.server_root.parent / "made").exists()


async def test_command_gets_no_stdin_and_no_server_keys(make_context: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ONYX_SECRET", "JUPYTER_TOKEN", "JPY_API_TOKEN", "JUPYTERHUB_API_TOKEN"):
        monkeypatch.setenv(name, "topsecret")
    monkeypatch.setenv("HARMLESS", "kept")
    result = await run(make_context(), command="cat; env")
    assert "topsecret" not in result.output
    assert "HARMLESS=kept" in result.output


async def test_long_output_keeps_head_and_tail(make_context: Make) -> None:
    result = await run(make_context(max_output_bytes=1000), command="seq 1 100000")
    assert result.truncated
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("99999\n100000\nexit code 0")
    assert "bytes left out" in result.output
    assert len(result.output) < 1200


async def test_timed_out_command_is_stopped_and_output_kept(make_context: Make) -> None:
    told: list[str] = []
    result = await run(make_context(progress=told.append), command="echo begun; sleep 600", timeoutMs=300)
    assert not result.ok
    assert result.exit_code is None
    assert result.output.startswith("begun\nexec failed (timeout): still running after 0.3 s")
    assert told[0] == "begun"
    assert told[1].startswith("Running for")


@pytest.mark.parametrize("ending", ["timeout", "cancel", "own"])
async def test_all_child_processes_end_with_command(make_context: Make, ending: str) -> None:
    context = make_context()
    folder = context.server_root
    if ending == "own":
        result = await run(context, command=FAMILY + "while [ $(wc -l < pids) -lt 4 ]; do sleep 0.01; done")
        assert result.ok
        assert "running in the background: stopped" in result.output
    elif ending == "timeout":
        await run(context, command=FAMILY + "wait", timeoutMs=1000)
    else:
        task = asyncio.ensure_future(run(context, command=FAMILY + "wait"))
        await until_written(folder, 4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(pids_in(folder)) == 4
    assert [pid for pid in pids_in(folder) if running(pid)] == []
    assert running(os.getpid())


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800"])
async def test_invalid_command_is_an_argument_error(make_context: Make, command: str) -> None:
    with pytest.raises(InvalidArguments, match="`command`"):
        await run(make_context(), command=command)


async def test_command_longer_than_system_limit_is_an_error(make_context: Make) -> None:
    with pytest.raises(ToolError, match="could not be started"):
        await run(make_context(), command="# " + "ä" * 99_000)


async def test_preview_shows_exact_command_and_folder(make_context: Make) -> None:
    context = make_context()

    async def preview(**arguments: Any) -> Any:
        return await ToolCalls(make_exec_tool()).preview(context, "exec", **arguments)

    shown = await preview(command="ls -la")
    assert shown.summary == "Run `ls -la`"
    assert shown.details == {"command": "ls -la", "cwd": str(context.server_root), "timeoutMs": 30_000}
    assert shown.grant != (await preview(command="ls -la", cwd="onyx:")).grant
    assert shown.grant != (await preview(command="ls -la ")).grant
    assert shown.grant == (await preview(command="ls -la", cwd=".")).grant
    hidden = await preview(command="ls\nrm -rf data")
    assert hidden.summary == "Run `ls…`"
    assert hidden.details["command"] == "ls\nrm -rf data"


def test_buffer_cuts_between_characters() -> None:
    buffer = OutputBuffer(11)
    for byte in ("é" * 100).encode():
        buffer.add(bytes([byte]))
    text = buffer.text(11)
    assert "\ufffd" not in text
    assert text.startswith("ééé\n[…")


def test_short_stream_leaves_its_budget_to_the_other() -> None:
    assert share(100, 1000, 10) == (90, 10)
    assert share(100, 10, 1000) == (10, 90)
    assert share(100, 1000, 1000) == (50, 50)
    assert share(100, 30, 40) == (30, 40)
