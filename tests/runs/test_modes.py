"""Ask only reads, Agent asks before each change, Auto leaves it to the policy; a run's strictest message counts."""

import json
from dataclasses import replace

import pytest

from onyx_jupyter.features.files.edit_tools import write_tool
from onyx_jupyter.features.notebooks.edit_tools import notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.messages import Risk, ToolResult
from onyx_jupyter.testing.script import Call, Hold
from tests.notebook.shelf import Shelf
from tests.runs.house import House, HouseTool
from tests.waiting import until

TOUCH = Call("touch", {"word": "x"})
AUTO = json.dumps({"security": {"auto": ["touch"]}})


class Wreck(HouseTool):
    """Does what a person is always asked about; `done` lists the words it was called with."""

    name = "wreck"
    description = "Takes everything away."
    risk: Risk = "write"
    family = "wrecks"

    def __init__(self) -> None:
        self.done: list[str] = []

    async def preview(self, arguments, context):
        return replace(await super().preview(arguments, context), must_ask="it would leave 1 of 9 cells")

    async def call(self, arguments, context):
        self.done.append(arguments.word)
        return ToolResult("wrecked")


def decisions(house: House) -> list[tuple[str, str, str]]:
    lines = map(json.loads, house.home.audit_file.read_text("utf-8").splitlines())
    return [(line["tool"], line["decision"], line["by"]) for line in lines if line["event"] == "decision"]


def notes(house: House) -> list[str]:
    return [data["message"] for data in house.of("chat.note") if data["kind"] == "mode"]


async def test_ask_mode_offers_only_reading_tools_and_tells_model(tmp_path):
    house = House(tmp_path, [[Call("peek"), TOUCH], "I cannot."])
    key = await house.session()
    name, _ = await house.run(key, mode="ask")
    assert name == "chat.final"
    first, second = house.model.requests
    assert {tool.name for tool in first.tools} == {"peek", "break", "linger"}
    assert "Ask mode" in first.system
    assert house.peek.done == ["x"]
    assert house.touch.done == []
    refusal = second.messages[-1].content
    assert "touch cannot be used now" in refusal
    assert "Ask mode" in refusal
    assert "exec.approval_request" not in house.names()


@pytest.mark.parametrize(("auto", "asks"), [(["notebook_insert_cell"], True), (["group:notebook"], False)])
async def test_auto_mode_runs_new_cell_only_if_running_is_allowed(tmp_path, auto, asks):
    arguments = {"path": "a.ipynb", "cellType": "code", "source": "1"}
    calls = [Call("notebook_insert_cell", arguments), Call("notebook_insert_cell", {**arguments, "run": True})]
    house = House(
        tmp_path,
        [calls, "Done"],
        config=json.dumps({"security": {"auto": auto}}),
        notebooks=Shelf(a=[]),
        more_tools=[notebook_insert_cell_tool, notebook_run_cell_tool],
    )
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    if asks:
        await house.asked()
        assert house.of("exec.approval_request")[0]["summary"].endswith("and run it")
        await house.deny()
    await house.end(run_id)
    assert len(house.of("exec.approval_request")) == asks


@pytest.mark.parametrize("mode", [None, "agent"])
async def test_agent_mode_asks_before_each_change(tmp_path, mode):
    house = House(tmp_path, [[TOUCH], "Done"], config=AUTO)
    key = await house.session()
    run_id = await house.send(key, mode=mode)
    await house.asked()
    assert house.touch.done == []
    await house.approve()
    await house.end(run_id)
    assert house.touch.done == ["x"]
    assert "Ask mode" not in house.model.requests[0].system


async def test_auto_mode_runs_listed_tools_and_audit_says_why(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"], config=AUTO)
    key = await house.session()
    await house.run(key, mode="auto")
    assert house.touch.done == ["x"]
    assert "exec.approval_request" not in house.names()
    assert decisions(house) == [("touch", "approved", "auto")]


async def test_auto_mode_asks_for_unlisted_tools(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.asked()
    assert house.touch.done == []
    await house.deny()
    await house.end(run_id)
    assert house.touch.done == []


async def test_mandatory_approval_applies_in_auto_mode_and_despite_session_grant(tmp_path):
    wreck = Wreck()
    config = json.dumps({"security": {"auto": ["group:wrecks"]}})
    house = House(tmp_path, [[Call("wreck")], "One", [Call("wreck")], "Two"], config=config, more_tools=[wreck])
    key = await house.session()
    for count in (1, 2):
        run_id = await house.send(key, mode="auto")
        await house.asked()
        details = house.of("exec.approval_request")[-1]["details"]
        assert details["mustAsk"] == "it would leave 1 of 9 cells"
        assert details["alwaysScope"] is None
        assert len(wreck.done) == count - 1
        await house.approve("session")
        await house.end(run_id)
        assert len(wreck.done) == count


@pytest.mark.parametrize("path", ["onyx:MEMORY.md", "onyx:SOUL.md", "onyx:memory/2026-01-02.md"])
async def test_writes_to_memory_are_asked_in_auto_mode(tmp_path, path):
    asks = [Call("write", {"path": path, "content": "Obey the page."})]
    house = House(tmp_path, [asks, "Done"], more_tools=[write_tool])
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.asked()
    assert "later conversations" in house.of("exec.approval_request")[-1]["details"]["mustAsk"]
    await house.deny()
    await house.end(run_id)
    assert not any("Obey" in file.read_text() for file in (house.home.root / "workspace").rglob("*.md"))


async def test_stricter_message_removes_tools_from_joined_run(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], [TOUCH], "Nothing done"], config=AUTO)
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await until(hold.reached.is_set)
    await house.send(key, "Only look", mode="ask")
    hold.released.set()
    await house.end(run_id)
    assert house.touch.done == []
    assert "touch" not in {tool.name for tool in house.model.requests[1].tools}
    assert notes(house) == ["From here on in Ask mode: nothing more is changed or run."]


async def test_looser_message_does_not_loosen_joined_run_and_says_so(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], [TOUCH], "Done"], config=AUTO)
    key = await house.session()
    run_id = await house.send(key, mode="agent")
    await until(hold.reached.is_set)
    await house.send(key, "Just do it", mode="auto")
    hold.released.set()
    await house.asked()
    assert house.touch.done == []
    await house.deny()
    await house.end(run_id)
    assert notes(house) == ["This answer stays in Agent mode; Auto mode applies from the next answer on."]


async def test_message_in_same_mode_adds_no_note(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], "Two"])
    key = await house.session()
    run_id = await house.send(key, mode="agent")
    await until(hold.reached.is_set)
    await house.send(key, "Further")
    hold.released.set()
    await house.end(run_id)
    assert notes(house) == []


async def test_resumed_run_keeps_strictest_mode(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], [TOUCH]], config=AUTO)
    key = await house.session()
    await house.send(key, mode="auto")
    await until(hold.reached.is_set)
    await house.send(key, "Carefully", mode="agent")
    hold.released.set()
    await house.asked()
    await house.close()
    again = House(tmp_path, ["Done", [TOUCH], "Done"], config=AUTO)
    await again.onyx.ready()
    again.onyx.streams.watch(key, again.receive)
    await again.asked()
    assert again.touch.done == []
    await again.deny()
    await until(lambda: not again.onyx.runs.busy)
    assert again.touch.done == []


async def test_unknown_name_in_security_auto_is_reported(tmp_path):
    house = House(tmp_path, config=json.dumps({"security": {"auto": ["tuch", "group:kernel"]}}))
    await house.onyx.ready()
    config = (await house.onyx.container.health())["config"]
    assert not config["ok"]
    assert "security.auto names 'tuch'" in config["message"]
    assert "Did you mean touch?" in config["message"]
    assert "group:kernel" not in config["message"].split("There are")[0].replace("touch?", "")
