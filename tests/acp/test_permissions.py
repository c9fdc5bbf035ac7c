"""What an agent asks for is decided as Onyx's own calls are; what it calls of Onyx goes the same way."""

import asyncio
import json

import pytest

from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.features.acp.keys import ACP_AGENTS
from tests.acp.agent_house import AgentHouse, config
from tests.waiting import until


def audited(house: AgentHouse) -> list[dict]:
    lines = [path.read_text().splitlines() for path in sorted(house.home.root.rglob("audit*.jsonl"))]
    return [json.loads(line) for part in lines for line in part]


async def test_command_is_shown_exactly_and_runs_after_a_yes(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "run ls -la | wc")
        await house.asked()
        (asked,) = house.of("exec.approval_request")
        assert (asked["toolName"], asked["details"]["command"]) == ("exec", "ls -la | wc")
        assert house.of("tool.started") == []
        await house.approve()
        assert (await house.end(run_id))[0] == "chat.final"
        assert house.text() == "(ok)"
        (result,) = house.results(key).values()
        assert (result["content"].count("ran ls -la | wc"), result["meta"]["status"]) == (1, "ok")
        decisions = [one for one in audited(house) if one.get("by", "").startswith("user")]
        assert decisions, "a person's yes is in the audit"


async def test_no_is_a_no_and_silence_is_one_as_well(tmp_path):
    file = config(security={"approvalTimeoutMs": 1000})
    async with AgentHouse(tmp_path, tools=True, file=file) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "run rm -r x")
        await house.deny("not that")
        await house.end(run_id)
        (result,) = house.results(key).values()
        assert (house.text(), result["meta"]["status"]) == ("(nope)", "denied")
        assert "not that" in result["content"]
        assert house.of("tool.finished")[0]["label"]["object"] == "rm -r x"
        house.events.clear()
        await house.do(key, "run rm -r y")
        assert house.text() == "(nope)"
        assert house.of("exec.approval_resolved")[-1]["decision"] == "expired"


async def test_always_counts_for_this_agent_and_this_command_alone(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "run git status")
        await house.approve("always")
        await house.end(run_id)
        await house.do(key, "run git status")
        assert house.text() == "(ok)(ok)"
        run_id = await house.send(key, "run git push")
        await house.deny()
        await house.end(run_id)
        assert len(house.of("exec.approval_request")) == 2


async def test_edit_is_shown_as_a_diff(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key, file = await house.agent_session(), house.root / "a.txt"
        file.write_text("old")
        run_id = await house.send(key, f"edit {file} old new")
        await house.asked()
        (asked,) = house.of("exec.approval_request")
        assert (asked["toolName"], asked["details"]["path"]) == ("edit", "a.txt")
        assert "-old" in asked["details"]["diff"]
        assert "+new" in asked["details"]["diff"]
        assert file.read_text() == "old"
        await house.approve()
        await house.end(run_id)
        assert file.read_text() == "new"
        assert house.of("tool.finished")[0]["label"]["links"][0]["path"] == "a.txt"


@pytest.mark.parametrize("name", ["/etc/outside.txt", "{root}/../beside.txt", "{home}/onyx.json", "{root}/book.ipynb"])
async def test_file_that_onyx_may_not_change_is_refused_without_asking(tmp_path, name):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        path = name.format(root=house.root, home=house.home.root)
        await house.do(key, f"edit {path} a b")
        assert house.text() == "(nope)"
        assert house.of("exec.approval_request") == []
        (result,) = house.results(key).values()
        assert result["meta"]["status"] == "denied"


async def test_file_that_onyx_reads_unasked_is_read_unasked_and_credentials_are_not(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        await house.do(key, f"look {house.root}/a.txt", "look /etc/hostname", mode="ask")
        assert (house.text(), house.of("exec.approval_request")) == ("(ok)(nope)", [])
        run_id = await house.send(key, f"look {house.root}/.env")
        await house.asked()
        assert house.of("exec.approval_request")[0]["details"]["mustAsk"] == "it holds credentials"
        await house.deny()
        await house.end(run_id)


async def test_instructions_are_asked_about_in_auto_mode_and_other_edits_are_not(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        await house.do(key, f"edit {house.root}/a.txt a b", mode="auto")
        assert (house.text(), house.of("exec.approval_request")) == ("(ok)", [])
        run_id = await house.send(key, f"edit {house.root}/AGENTS.md a b", mode="auto")
        await house.deny()
        await house.end(run_id)
        assert not (house.root / "AGENTS.md").exists()


async def test_ask_mode_lets_the_agent_change_nothing(tmp_path):
    async with AgentHouse(tmp_path, tools=True) as house:
        key = await house.agent_session()
        await house.do(key, "run ls", f"edit {house.root}/a.txt a b", "call notebook_create {}", "tools", mode="ask")
        assert house.of("exec.approval_request") == []
        assert house.text().startswith("(nope)(nope)")
        assert "Ask mode" in house.text()
        assert "notebook_read" in house.text()
        assert "notebook_edit_cell" not in house.text()


async def test_what_the_administrator_denies_is_denied_to_the_agent(tmp_path):
    async with AgentHouse(tmp_path, tools=True, ceiling=Ceiling(deny=["exec"])) as house:
        await house.do(await house.agent_session(), "run ls", 'call exec {"command": "ls"}')
        assert house.text().startswith("(nope)[failed]")
        assert house.of("exec.approval_request") == []


async def test_server_that_allows_no_such_provider_allows_no_agent(tmp_path):
    async with AgentHouse(tmp_path, ceiling=Ceiling(providers=["scripted"])) as house:
        name, data = await house.do(await house.session(), "say hi", model="scripted/model")
        assert name == "chat.final" or data
        with pytest.raises(Exception, match="Not allowed on this server"):
            await house.agent_session()


async def test_tool_of_onyx_is_asked_about_once_and_has_one_card(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, 'say I touch it.\ncall touch {"word": "it"}')
        await house.approve()
        await house.end(run_id)
        assert house.touch.done == ["it"]
        assert [one["toolName"] for one in house.of("exec.approval_request")] == ["touch"]
        assert [one["tool"] for one in house.of("tool.finished")] == ["touch"]
        assert "[ok] touched it" in house.text()
        said = [(entry["content"], len(entry.get("tool_calls", ()))) for entry in house.entries(key, "assistant")]
        assert said == [("I touch it.", 1), ("[ok] touched it", 0)]


async def test_denied_tool_does_nothing_and_the_agent_reads_why(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, 'call touch {"word": "it"}')
        await house.deny("later")
        await house.end(run_id)
        assert house.touch.done == []
        assert "[failed] Denied: later" in house.text()


async def test_wrong_call_of_a_tool_is_a_result(tmp_path):
    async with AgentHouse(tmp_path) as house:
        await house.do(await house.agent_session(), 'call touch {"nothing": 1}', "call fly", 'call break {"word": "x"}')
        assert house.text().count("[failed]") == 3


async def test_stop_ends_a_tool_and_an_open_question(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "call linger")
        await house.linger.started.wait()
        await house.onyx.abort(run_id)
        assert (await house.end(run_id))[0] == "chat.aborted"
        assert house.linger.cancelled == 1
        run_id = await house.send(key, 'call touch {"word": "it"}')
        await house.asked()
        await house.onyx.abort(run_id)
        assert (await house.end(run_id))[0] == "chat.aborted"
        assert house.onyx.approvals.pending() == []
        assert house.touch.done == []
        assert [one["meta"]["status"] for one in house.results(key).values()] == ["aborted", "aborted"]


async def test_message_closes_the_question_and_waits_for_a_tool_that_runs(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "call linger\nsay never")
        await house.linger.started.wait()
        await house.send(key, "say instead")
        await asyncio.sleep(0)
        house.linger.released.set()
        name, data = await house.end(run_id)
        assert (name, data["text"]) == ("chat.final", "instead")
        assert house.linger.cancelled == 0
        run_id = await house.send(key, 'call touch {"word": "it"}')
        await house.asked()
        await house.send(key, "say no")
        assert (await house.end(run_id))[1]["text"] == "no"
        assert house.touch.done == []


async def test_tool_without_a_run_is_refused(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "tools")
        assert house.text() == "break linger peek touch"
        live = house.onyx.get(ACP_AGENTS)._live[key]
        with pytest.raises(Exception, match="No answer is being made"):
            await live.tools.call("peek", {})
        assert house.peek.done == []


async def test_approval_that_waits_survives_a_restart(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.send(key, 'call touch {"word": "it"}\nsay end')
        await house.asked()
    async with AgentHouse(tmp_path) as house:
        house.onyx.streams.watch(key, house.receive)
        await house.approve()
        await until(lambda: house.ends_on_disk(key))
        assert house.touch.done == ["it"]
        assert house.ends_on_disk(key) == ["final"]
        assert "touch, which you had called, returned:\ntouched it" in house.lines(key)[-2]["content"]
