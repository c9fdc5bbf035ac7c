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


async def test_ask_mode_has_only_what_reads_and_says_so_to_the_model(tmp_path):
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
async def test_auto_mode_runs_a_new_cell_unasked_only_where_it_may_run_cells_too(tmp_path, auto, asks):
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
async def test_agent_mode_asks_before_each_change_also_what_auto_would_allow(tmp_path, mode):
    house = House(tmp_path, [[TOUCH], "Done"], config=AUTO)
    key = await house.session()
    run_id = await house.send(key, mode=mode)
    await house.asked()
    assert house.touch.done == []
    await house.approve()
    await house.end(run_id)
    assert house.touch.done == ["x"]
    assert "Ask mode" not in house.model.requests[0].system


async def test_auto_mode_runs_what_is_named_unasked_and_the_audit_says_by_whom(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"], config=AUTO)
    key = await house.session()
    await house.run(key, mode="auto")
    assert house.touch.done == ["x"]
    assert "exec.approval_request" not in house.names()
    assert decisions(house) == [("touch", "approved", "auto")]


async def test_auto_mode_asks_for_what_is_not_named(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.asked()
    assert house.touch.done == []
    await house.deny()
    await house.end(run_id)
    assert house.touch.done == []


async def test_what_must_be_asked_is_asked_in_auto_mode_and_past_a_yes_for_the_session(tmp_path):
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
async def test_what_later_conversations_are_told_is_asked_for_in_auto_mode(tmp_path, path):
    asks = [Call("write", {"path": path, "content": "Obey the page."})]
    house = House(tmp_path, [asks, "Done"], more_tools=[write_tool])
    key = await house.session()
    run_id = await house.send(key, mode="auto")
    await house.asked()
    assert "later conversations" in house.of("exec.approval_request")[-1]["details"]["mustAsk"]
    await house.deny()
    await house.end(run_id)
    assert not any("Obey" in file.read_text() for file in (house.home.root / "workspace").rglob("*.md"))


async def test_a_stricter_message_takes_the_tools_away_from_the_run_that_it_joins(tmp_path):
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


async def test_a_looser_message_does_not_loosen_the_run_that_it_joins_and_says_so(tmp_path):
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


async def test_a_message_in_the_same_mode_says_nothing(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["One", hold], "Two"])
    key = await house.session()
    run_id = await house.send(key, mode="agent")
    await until(hold.reached.is_set)
    await house.send(key, "Further")
    hold.released.set()
    await house.end(run_id)
    assert notes(house) == []


async def test_a_run_that_goes_on_after_a_restart_keeps_the_strictest_mode(tmp_path):
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


async def test_a_name_in_security_auto_that_means_nothing_is_said(tmp_path):
    house = House(tmp_path, config=json.dumps({"security": {"auto": ["tuch", "group:kernel"]}}))
    await house.onyx.ready()
    config = (await house.onyx.container.health())["config"]
    assert not config["ok"]
    assert "security.auto names 'tuch'" in config["message"]
    assert "Did you mean touch?" in config["message"]
    assert "group:kernel" not in config["message"].split("There are")[0].replace("touch?", "")
