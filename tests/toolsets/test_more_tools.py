"""Deferred tools: listed in one line, explained on demand, run under their own name and the same rules."""

import json

import pytest

from onyx_jupyter.messages import Risk, ToolCall, ToolResult
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS, unwrapped
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.runs.house import House, HouseTool


class Fax(HouseTool):
    name = "fax"
    description = "Sends a word by fax."
    risk: Risk = "network"
    family = "telephony"
    deferred = True

    def __init__(self):
        self.sent = []

    async def call(self, arguments, context):
        self.sent.append(arguments.word)
        return ToolResult(f"sent {arguments.word}")


def more(tool, arguments=None):
    return Call(MORE_TOOLS, {"tool": tool} | ({} if arguments is None else {"arguments": arguments}))


def test_deferred_tool_is_named_but_not_described():
    registry = ToolRegistry([Fax().tool])
    (definition,) = registry.definitions()
    assert definition.name == MORE_TOOLS
    assert "telephony: fax" in definition.description
    assert "Sends a word" not in definition.description


def test_its_name_is_reserved():
    class Impostor(Fax):
        name = MORE_TOOLS

    with pytest.raises(ValueError, match=MORE_TOOLS):
        ToolRegistry([Impostor().tool])


@pytest.mark.parametrize(
    "arguments", [{}, {"tool": "fax"}, {"tool": 1, "arguments": {}}, {"tool": "fax", "arguments": "x"}]
)
def test_other_calls_are_unchanged(arguments):
    call = ToolCall("1", MORE_TOOLS, arguments)
    assert unwrapped(call) is call


async def test_tool_is_explained_then_runs_under_its_own_name_after_approval(tmp_path):
    fax = Fax()
    script = [[more("telephony")], [more("fax", {"word": "hello"})], "Sent."]
    house = House(tmp_path, script, more_tools=[fax])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    assert fax.sent == []
    await house.approve()
    assert (await house.end(run_id))[1]["text"] == "Sent."
    assert fax.sent == ["hello"]
    explained, sent = house.results(key).values()
    assert json.dumps("word") in explained["content"]
    assert unfenced(sent["content"]) == "sent hello"
    assert [data["toolName"] for data in house.of("exec.approval_request")] == ["fax"]
    assert [data["tool"] for data in house.of("tool.started")] == [MORE_TOOLS, "fax"]
    requests = house.model.requests
    assert requests[0].tools == requests[1].tools == requests[2].tools


async def test_denied_family_is_unreachable(tmp_path):
    fax = Fax()
    house = House(
        tmp_path,
        [[more("fax", {"word": "hello"})], "No."],
        more_tools=[fax],
        config='{agents: {list: [{id: "main", tools: {deny: ["group:telephony"]}}]}}',
    )
    key = await house.session()
    await house.run(key)
    (result,) = house.results(key).values()
    assert "There is no tool called 'fax'" in result["content"]
    assert fax.sent == []


async def test_ask_mode_hides_writing_tools(tmp_path):
    fax = Fax()
    house = House(tmp_path, [[more("fax", {"word": "hello"})], "No."], more_tools=[fax])
    key = await house.session()
    await house.run(key, mode="ask")
    assert fax.sent == []
    assert MORE_TOOLS not in [tool.name for tool in house.model.requests[0].tools]


async def test_unknown_deferred_tool_suggests_the_closest(tmp_path):
    house = House(tmp_path, [[more("telefony")], "Ah."], more_tools=[Fax()])
    key = await house.session()
    await house.run(key)
    (result,) = house.results(key).values()
    assert "telephony" in result["content"]
