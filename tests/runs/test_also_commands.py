"""A call that does the work of another tool, as only a look can tell: both have to be allowed."""

import json
from dataclasses import replace

import pytest

from onyx_jupyter.features.processes.exec_tool import make_exec_tool
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.context import ToolContext
from tests.runs.house import House, Touch, Word
from tests.waiting import until


class Shell(Touch):
    """Runs something in a shell beside what it changes."""

    name = "shell"

    async def preview(self, arguments: Word, context: ToolContext) -> ToolPreview:
        return replace(await super().preview(arguments, context), also=("exec",))


def house(folder, tool, **config) -> House:
    return House(
        folder,
        [[Call("shell", {"word": "x"})], "Done."],
        more_tools=[tool, make_exec_tool()],
        config=json.dumps(config),
    )


@pytest.mark.parametrize(("auto", "asks"), [(["shell"], True), (["shell", "exec"], False)])
async def test_auto_mode_runs_it_without_approval_only_if_both_are_named(tmp_path, auto, asks):
    tool = Shell()
    made = house(tmp_path, tool, security={"auto": auto})
    key = await made.session()
    run_id = await made.send(key, mode="auto")
    if asks:
        await made.asked(key)
        assert tool.done == []
        await made.approve(key=key)
    await made.end(run_id)
    assert tool.done == ["x"]
    assert bool(made.of("exec.approval_request")) is asks


async def test_if_the_other_is_denied_it_is_rejected_without_asking(tmp_path):
    tool = Shell()
    made = house(tmp_path, tool, agents={"list": [{"id": "main", "default": True, "tools": {"deny": ["exec"]}}]})
    key = await made.session()
    await made.run(key)
    await until(lambda: made.of("tool.finished"))
    (finished,) = made.of("tool.finished")
    assert not finished["ok"]
    assert "would also do the work of exec, which cannot be used here" in finished["output"]
    assert tool.done == []
    assert made.of("exec.approval_request") == []
