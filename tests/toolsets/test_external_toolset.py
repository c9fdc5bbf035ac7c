"""Tools of an external server with plain JSON schemas go through a run like any other."""

import json
from typing import Any

from onyx_jupyter.operations.keys import AGENTS
from onyx_jupyter.security.external_content import unfenced
from onyx_jupyter.testing.script import Call
from onyx_jupyter.toolsets.more_tools import MORE_TOOLS
from onyx_jupyter.toolsets.wrappers import Deferred, Prefixed
from tests.runs.house import House
from tests.toolsets.fake_server import SCHEMAS, FakeServer

LOOKUP = Call("lookup_ticket", {"ticket_id": "ABC-1"})


def audited(house: House, event: str) -> list[dict[str, Any]]:
    lines = map(json.loads, house.home.audit_file.read_text("utf-8").splitlines())
    return [line for line in lines if line["event"] == event]


async def test_call_is_listed_approved_run_stored_and_audited(tmp_path):
    server = FakeServer()
    house = House(tmp_path, [[LOOKUP], "On fire."], toolsets=[server])
    key = await house.session()
    run_id = await house.send(key)
    await house.asked()
    assert server.called == [], "nothing runs before somebody has allowed it"
    await house.approve()
    assert (await house.end(run_id))[1]["text"] == "On fire."
    assert server.called == [("lookup_ticket", {"ticket_id": "ABC-1"})]

    told = {tool.name: tool for tool in house.model.requests[0].tools}
    assert told["lookup_ticket"].description == "Lookup ticket."
    assert told["lookup_ticket"].parameters == SCHEMAS["lookup_ticket"]
    assert told["wait_for_ticket"].parameters == {"properties": {}, "type": "object"}
    (asked,) = house.of("exec.approval_request")
    assert (asked["toolName"], asked["details"]["ticket_id"]) == ("lookup_ticket", "ABC-1")
    (result,) = house.results(key).values()
    assert unfenced(result["content"]) == "ABC-1: the printer is on fire"
    assert result["content"] != unfenced(result["content"]), "what it says is text from outside"
    (ran,) = audited(house, "tool")
    assert (ran["tool"], ran["status"]) == ("lookup_ticket", "ok")


async def test_failure_is_a_result_for_model(tmp_path):
    server = FakeServer()
    house = House(tmp_path, [[Call("close_ticket", {"ticket_id": "ABC-1"})], "Ah."], toolsets=[server])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    assert (await house.end(run_id))[0] == "chat.final"
    (result,) = house.results(key).values()
    assert "close_ticket failed (tool_error): " in result["content"]
    assert "ABC-1 is closed already." in result["content"]
    assert result["meta"]["status"] == "failed"


async def test_invalid_argument_reaches_neither_tool_nor_user(tmp_path):
    server = FakeServer()
    wrong = Call("lookup_ticket", {"ticket_id": "ABC-1", "depth": "2", "verbose": True})
    house = House(tmp_path, [[wrong], "Ah."], toolsets=[server])
    key = await house.session()
    await house.run(key)
    assert server.called == []
    assert house.of("exec.approval_request") == []
    (result,) = house.results(key).values()
    said = unfenced(result["content"])
    assert "`verbose` is not known." in said
    assert "`depth`: '2' is not of type 'integer'." in said
    assert "lookup_ticket takes: ticket_id, depth." in said
    assert '{"name": "lookup_ticket", "arguments": {"ticket_id": "ABC-1"}}' in said


async def test_session_approval_applies_with_or_without_explicit_default(tmp_path):
    server = FakeServer()
    again = Call("lookup_ticket", {"ticket_id": "ABC-1", "depth": 1})
    house = House(tmp_path, [[LOOKUP], [again], "Twice."], toolsets=[server])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("always")
    await house.end(run_id)
    assert [given for _, given in server.called] == [{"ticket_id": "ABC-1"}, {"ticket_id": "ABC-1", "depth": 1}]
    assert len(house.of("exec.approval_request")) == 1


async def test_stop_ends_call(tmp_path):
    server = FakeServer()
    house = House(tmp_path, [[Call("wait_for_ticket")]], toolsets=[server])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await server.waiting.wait()
    assert await house.onyx.abort(run_id)
    assert (await house.end(run_id))[0] == "chat.aborted"
    assert server.stopped == 1
    (result,) = house.results(key).values()
    assert result["meta"]["status"] == "aborted"


async def test_tool_is_absent_in_ask_mode_and_if_family_is_denied(tmp_path):
    denied = '{agents: {list: [{id: "main", default: true, tools: {deny: ["group:tickets"]}}]}}'
    for mode, config in (("ask", None), ("agent", denied)):
        server = FakeServer()
        folder = tmp_path / mode
        folder.mkdir()
        house = House(folder, [[LOOKUP], "No."], toolsets=[server], config=config)
        key = await house.session()
        await house.run(key, mode=mode)
        assert not {tool.name for tool in house.model.requests[0].tools} & SCHEMAS.keys()
        assert server.called == []
        assert house.onyx.get(AGENTS).problems() == []
        await house.close()


async def test_behind_more_tools_it_is_approved_and_called_under_its_own_name(tmp_path):
    server = FakeServer()
    call = Call(MORE_TOOLS, {"tool": "desk_lookup_ticket", "arguments": {"ticket_id": "ABC-1"}})
    house = House(tmp_path, [[call], "Done."], toolsets=[Deferred(Prefixed(server, "desk_"))])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await house.end(run_id)
    assert server.called == [("lookup_ticket", {"ticket_id": "ABC-1"})]
    (more,) = [tool for tool in house.model.requests[0].tools if tool.name == MORE_TOOLS]
    assert "tickets: desk_lookup_ticket, desk_close_ticket, desk_wait_for_ticket" in more.description
    assert [asked["toolName"] for asked in house.of("exec.approval_request")] == ["desk_lookup_ticket"]
