import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from onyx_jupyter.agent.processor import RunSoFar
from onyx_jupyter.agent.processors.repetition_guard import LoopGuard
from onyx_jupyter.config.schema import LoopDetectionConfig
from onyx_jupyter.errors import InvalidArguments, ToolError
from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.features.processes.process_tool import process_tool
from onyx_jupyter.messages import ToolCall, Usage
from onyx_jupyter.processes import run_processes
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.processes.family import FAMILY, pids_in, running
from tests.features.tool_calls import ToolCalls
from tests.waiting import until

Make = Callable[..., ToolContext]
CALLS = ToolCalls(make_exec_tool(), process_tool)
run, preview = CALLS.run, CALLS.preview


@pytest.fixture
def turn(make_context: Make, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ToolContext]:
    """A run's surroundings; what it started ends after the test, as after a run."""
    surroundings = make_context()
    yield surroundings
    jp_asyncio_loop.run_until_complete(surroundings.processes.close())


async def start(context: ToolContext, command: str, **more: Any) -> str:
    result = await run(context, "exec", command=command, background=True, **more)
    assert result.output.startswith("Started in the background as p")
    return result.output.split()[5].rstrip(".")


async def polled(context: ToolContext, job: str, last: str) -> str:
    """All that polling brings until `last` has come."""
    seen = ""
    while last not in seen:
        seen += (await run(context, "process", action="poll", id=job, waitMs=60_000)).output + "\n"
    return seen


async def test_background_command_continues_during_other_calls(turn: ToolContext) -> None:
    job = await start(turn, "echo begun; until [ -e go ]; do sleep 0.01; done; echo done; exit 3")
    assert "begun\n[p1: running.]" in await polled(turn, job, "begun")
    assert (await run(turn, "process", action="list")).output.startswith("p1 (running): echo begun")
    await run(turn, "exec", command="touch go")
    seen = await polled(turn, job, "exit code 3")
    assert "done" in seen
    assert "begun" not in seen, "a line comes once"
    after = await run(turn, "process", action="poll", id=job)
    assert (after.output, after.exit_code) == ("(no new output)\n[p1: exit code 3.]", 3)
    log = await run(turn, "process", action="log", id=job)
    assert log.output == "begun\ndone\n[p1: exit code 3.]"
    assert (await run(turn, "process", action="log", id=job, lines=1)).output == "done\n[p1: exit code 3.]"


async def test_input_can_be_sent_and_unfinished_line_is_repeated(turn: ToolContext) -> None:
    job = await start(turn, "printf 'Name? '; read -r name; echo \"Hello $name\"; cat; echo over")
    assert "Name?" in await polled(turn, job, "Name?")
    typed = await run(turn, "process", action="write", id=job, text="Ada\n")
    assert typed.output.startswith("Typed 4 characters into p1.")
    assert "Name? Hello Ada" in await polled(turn, job, "Hello Ada")
    await run(turn, "process", action="write", id=job, text="more\n", endInput=True)
    assert "over" in await polled(turn, job, "exit code 0")
    assert "more\nover\n" in (await run(turn, "process", action="log", id=job)).output
    with pytest.raises(ToolError, match="no longer accepts input"):
        await run(turn, "process", action="write", id=job, text="late")


async def test_kill_ends_it_with_all_child_processes(turn: ToolContext) -> None:
    job = await start(turn, FAMILY + "wait")
    await until(lambda: len(pids_in(turn.server_root)) == 4)
    killed = await run(turn, "process", action="kill", id=job)
    assert "[p1: stopped by kill.]" in killed.output
    assert [pid for pid in pids_in(turn.server_root) if running(pid)] == []


async def test_end_of_run_ends_all(turn: ToolContext) -> None:
    for _ in range(2):
        await start(turn, FAMILY + "wait")
    await until(lambda: len(pids_in(turn.server_root)) == 8)
    await turn.processes.close()
    assert [pid for pid in pids_in(turn.server_root) if running(pid)] == []
    assert (await run(turn, "process", action="list")).output.count("stopped at the end of the turn") == 2
    late = await start(turn, "sleep 600")
    assert turn.processes.get(late).ended.is_set(), "what came too late does not stay"


async def test_processes_left_by_shell_end_with_run(turn: ToolContext) -> None:
    job = await start(turn, FAMILY + "while [ $(wc -l < pids) -lt 4 ]; do sleep 0.01; done; echo out")
    await asyncio.wait_for(turn.processes.get(job).ended.wait(), 60)
    assert [pid for pid in pids_in(turn.server_root) if running(pid)] == []
    assert (await run(turn, "process", action="poll", id=job)).output == "out\n[p1: exit code 0.]"


async def test_time_limit_applies_in_background(turn: ToolContext) -> None:
    job = await start(turn, "echo begun; sleep 600", timeoutMs=300)
    assert "stopped after 0.3 s" in await polled(turn, job, "stopped")


async def test_number_of_processes_is_limited(turn: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_processes, "MAX_BACKGROUND", 1)
    await start(turn, "sleep 600")
    with pytest.raises(ToolError, match="1 processes are running"):
        await start(turn, "touch never")
    await run(turn, "process", action="kill", id="p1")
    await start(turn, "true")
    assert not (turn.server_root / "never").exists()


async def test_invalid_calls_explain_correct_ones(turn: ToolContext) -> None:
    assert "Nothing was started" in (await run(turn, "process", action="list")).output
    with pytest.raises(ToolError, match=r"no process 'p9' in this turn\. Processes: none"):
        await run(turn, "process", action="poll", id="p9")
    with pytest.raises(InvalidArguments, match="`id` is missing"):
        await run(turn, "process", action="poll")
    await start(turn, "cat")
    with pytest.raises(InvalidArguments, match="`text` is missing"):
        await run(turn, "process", action="write", id="p1")
    with pytest.raises(InvalidArguments, match="`action`"):
        await run(turn, "process", action="signal", id="p1")


async def test_only_input_needs_approval_and_is_shown_exactly(turn: ToolContext) -> None:
    for action in ("list", "poll", "log", "kill", "write"):
        tool, checked = CALLS.registry.validate(ToolCall("1", "process", {"action": action, "id": "p1"}))
        assert (tool.risk_of(checked) == "read") == (action != "write")
    job = await start(turn, "python3")
    shown = await preview(turn, "process", action="write", id=job, text="import os\nos.getcwd()\n")
    assert shown.summary == "Type `import os…` into p1"
    assert shown.details == {"id": "p1", "command": "python3", "text": "import os\nos.getcwd()\n"}
    other = await preview(turn, "process", action="write", id=job, text="import os\n")
    assert shown.grant != other.grant


async def test_approval_mentions_background(turn: ToolContext) -> None:
    shown = await preview(turn, "exec", command="serve", background=True)
    assert shown.summary == "Run `serve` in the background"
    assert shown.details == {"command": "serve", "cwd": str(turn.server_root), "background": True}


async def test_latest_line_is_reported_while_running(make_context: Make) -> None:
    told: list[str] = []
    context = make_context(progress=told.append)
    command = (
        "printf '\\033[32mstep 1\\033[0m\\n10 %%\\r20 %%\\rhalf'; until [ -e go ]; do sleep 0.01; done;"
        "printf ' a line\\n'; until [ -e end ]; do sleep 0.01; done"
    )
    running_command = asyncio.ensure_future(run(context, "exec", command=command))
    await until(lambda: "20 %" in told)
    assert set(told) <= {"step 1", "10 %", "20 %"}, "finished lines, without colours"
    (context.server_root / "go").touch()
    await until(lambda: told[-1] == "half a line")
    (context.server_root / "end").touch()
    assert (await running_command).ok


async def test_polling_without_news_counts_as_loop(turn: ToolContext) -> None:
    """Looking at a process changes nothing, so doing it in between does not make the same question a new one."""
    guard = LoopGuard(LoopDetectionConfig(warn_at=3, stop_at=9))
    await guard.begin(RunSoFar(CALLS.registry, (), Usage()))
    await start(turn, "sleep 600")
    said = ""
    for wait_ms in range(4):
        for arguments in ({"action": "list"}, {"action": "poll", "id": "p1", "waitMs": wait_ms}):
            result = await run(turn, "process", **arguments)
            said += (await guard.after_tool(ToolCall("1", "process", arguments), result)).output
    assert "Try something else" in said
