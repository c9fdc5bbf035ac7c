"""A session whose model is another agent: the agent is a real process that speaks the protocol."""

import asyncio
import json
import re
import sys

import psutil
import pytest

from onyx_jupyter.config.load import load
from onyx_jupyter.config.sections import with_sections
from onyx_jupyter.errors import InvalidRequest, ModelError
from onyx_jupyter.features.acp.keys import ACP_AGENTS
from onyx_jupyter.features.acp.settings import AcpSettings
from onyx_jupyter.providers.addressing import endpoint_of
from onyx_jupyter.providers.settings import ModelsSettings
from tests.acp.agent_house import SCRIPT, AgentHouse, config
from tests.features.memory.test_consolidation import Writer, lines_of_kind, wants
from tests.waiting import until


async def test_words_and_thoughts_stream_and_are_recorded(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        name, data = await house.do(key, "think Hm.", "say Hello ", "say world")
        assert (name, data["text"]) == ("chat.final", "Hello world")
        assert [one["text"] for one in house.of("chat.delta")] == ["Hello ", "world"]
        assert house.of("chat.thought")[0]["text"] == "Hm."
        assert data["usage"]["inputTokens"] == 1000
        (entry,) = house.entries(key, "assistant")
        assert (entry["content"], entry["meta"]["model"]) == ("Hello world", "acp/scripted")
        assert entry["meta"]["thought"]["text"] == "Hm."
        assert house.ends_on_disk(key) == ["final"]
        assert house.model.requests == []


async def test_plan_is_shown_as_onyxs_own_is(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "plan look,change,check", "say done")
        (started,) = house.of("tool.started")
        steps = [(step["text"], step["status"]) for step in started["input"]["steps"]]
        assert (started["tool"], steps) == (
            "plan_update",
            [("look", "done"), ("change", "doing"), ("check", "pending")],
        )
        assert [one["ok"] for one in house.of("tool.finished")] == [True]
        house.results(key)


async def test_call_of_its_own_is_a_card_with_its_result_and_without_secrets(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "say I look.", "read notes.txt", "say Seen.")
        (started,), (finished,) = house.of("tool.started"), house.of("tool.finished")
        assert started["activity"] == {
            "action": "read_file",
            "object": "Read notes.txt",
            "objectKind": "text",
            "links": [],
        }
        assert (started["tool"], finished["ok"]) == ("acp_read", True)
        assert "sk-abcdef" not in finished["output"] + house.file(key).read_text()
        (result,) = house.results(key).values()
        assert (result["meta"]["status"], result["meta"]["by"]) == ("ok", "acp/scripted")
        said = [(entry["content"], len(entry.get("tool_calls", ()))) for entry in house.entries(key, "assistant")]
        assert said == [("I look.", 1), ("Seen.", 0)]


async def test_calls_with_the_same_id_are_two_cards(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "read a.txt", "read b.txt")
        assert [one["input"]["title"] for one in house.of("tool.started")] == ["Read a.txt", "Read b.txt"]
        assert len(house.results(key)) == 2


async def test_agent_is_started_once_and_gets_each_message_once(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "echo")
        first = house.text()
        house.events.clear()
        await house.do(key, "say again", "echo")
        assert "JupyterLab" in first
        assert house.text() == "again<<say again\necho>> pictures: 0"


async def test_agent_that_joins_a_conversation_reads_what_was_said_before(tmp_path):
    async with AgentHouse(tmp_path, file=None) as house:
        key = await house.session()
        house.model.script = None
        await house.run(key, "say my name is Ada")
        await house.do(key, "echo", model="acp/scripted")
        assert "User: say my name is Ada" in house.text()
        assert "[Onyx] The user now says:\n\necho" in house.text()


async def test_steering_stops_the_agent_and_is_answered_next(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "hang")
        await until(house.text)
        await house.send(key, "say instead")
        name, data = await house.end(run_id)
        assert (name, data["text"], house.text()) == ("chat.final", "instead", "I begin, \n\ninstead")
        assert [entry["content"] for entry in house.entries(key, "assistant")] == ["I begin, ", "instead"]


async def test_limit_of_tokens_for_an_answer_counts_what_the_agent_reports(tmp_path):
    async with AgentHouse(tmp_path, file=config(runtime={"maxTokensPerRun": 1000})) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "hang")
        await until(house.text)
        await house.send(key, "say more")
        name, data = await house.end(run_id)
        assert name == "chat.final"
        assert "this answer has used 1,002 tokens" in data["text"]
        assert "more" not in house.text().partition("Stopped")[0]


@pytest.mark.parametrize("step", ["hang", "block"])
@pytest.mark.parametrize("option", ["", "stubborn"])
async def test_stop_ends_whatever_the_agent_does_and_keeps_what_it_said(tmp_path, step, option):
    async with AgentHouse(tmp_path, *filter(None, [option])) as house:
        key = await house.agent_session()
        run_id = await house.send(key, step)
        await until(house.text)
        await house.onyx.abort(run_id)
        name, _ = await house.end(run_id)
        assert name == "chat.aborted"
        assert [entry["content"] for entry in house.entries(key, "assistant")] == ["I begin, "]
        house.events.clear()
        assert (await house.do(key, "say back"))[1]["text"] == "back"


async def test_agent_that_dies_leaves_what_it_said_and_its_last_words(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        name, data = await house.do(key, "die")
        assert (name, data["code"]) == ("chat.error", "unavailable")
        assert re.search(
            r"scripted ended \(exit code 3\)\. Its last words:\n(.*\n)*scripted: out of memory", data["message"]
        )
        assert "sk-abcdef" not in data["message"]
        (entry,) = house.entries(key, "assistant")
        assert (entry["content"], entry["meta"]["partial"]) == ("half an answer", True)
        assert (await house.do(key, "say new"))[1]["text"] == "new"


async def test_silent_agent_is_stopped(tmp_path):
    async with AgentHouse(tmp_path, file=config("stubborn", silence_ms=1000)) as house:
        key = await house.agent_session()
        name, data = await house.do(key, "hang")
        assert (name, data["code"]) == ("chat.error", "timeout")
        assert "said nothing for 1 s" in data["message"]


@pytest.mark.parametrize(("step", "words"), [("flood", "more than 1,000,000 characters"), ("whale", "more than 8 MB")])
async def test_agent_that_says_too_much_is_stopped(tmp_path, step, words):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        name, data = await house.do(key, step)
        assert (name, data["code"]) == ("chat.error", "bad_response")
        assert words in data["message"]
        assert (await house.do(key, "say fine"))[1]["text"] == "fine"


@pytest.mark.parametrize(
    ("option", "code", "words"),
    [
        ("signed-out", "authentication", "scripted is not signed in."),
        ("other-version", "bad_response", "speaks version 2 of the Agent Client Protocol"),
    ],
)
async def test_agent_that_cannot_work_says_why(tmp_path, option, code, words):
    async with AgentHouse(tmp_path, option) as house:
        name, data = await house.do(await house.agent_session(), "say hi")
        assert (name, data["code"]) == ("chat.error", code)
        assert words in data["message"]


@pytest.mark.parametrize(("env", "ends"), [({"OPENAI_API_KEY": "sk-of-a-test"}, "chat.final"), ({}, "chat.error")])
async def test_known_agent_signs_in_with_the_key_that_it_has(tmp_path, monkeypatch, env, ends):
    for name in ("OPENAI_API_KEY", "CODEX_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    agent = {"command": sys.executable, "args": [str(SCRIPT), "signed-out"], "env": env}
    async with AgentHouse(tmp_path, file=json.dumps({"acp": {"agents": {"codex": agent}}})) as house:
        name, data = await house.do(await house.session(model="acp/codex"), "say hi")
        assert name == ends
        assert "codex login" in data.get("hint", "codex login")


async def test_program_that_is_not_there_is_named(tmp_path):
    file = config(agent={"command": "no-such-agent"})
    async with AgentHouse(tmp_path, file=file) as house:
        name, data = await house.do(await house.agent_session(), "say hi")
        assert (name, data["code"]) == ("chat.error", "not_found")
        assert "no-such-agent: No such file or directory" in data["message"]


async def test_closing_ends_the_agent_and_what_it_started(tmp_path):
    async with AgentHouse(tmp_path) as house:
        await house.do(await house.agent_session(), "child")
        _, child, _, agent = house.text().split()
        assert psutil.pid_exists(int(child))
    assert not psutil.pid_exists(int(agent))
    gone = not psutil.pid_exists(int(child)) or psutil.Process(int(child)).status() == psutil.STATUS_ZOMBIE
    assert gone


async def test_session_continues_after_a_restart(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        await house.do(key, "say one")
    async with AgentHouse(tmp_path) as house:
        await house.do(key, "say two", "echo")
        assert house.text() == "two<<say two\necho>> pictures: 0"
        assert house.of("chat.note") == []


async def test_agent_that_forgets_gets_the_conversation_and_the_user_is_told(tmp_path):
    async with AgentHouse(tmp_path, "forgets") as house:
        key = await house.agent_session()
        await house.do(key, "say one")
    async with AgentHouse(tmp_path, "forgets") as house:
        await house.do(key, "say two", "echo")
        assert "User: say one\nAssistant: one" in house.text().replace("\n\n", "\n")
        assert [note["kind"] for note in house.of("chat.note")] == ["agent_started_anew"]
        house.events.clear()
        await house.do(key, "say three")
        assert house.of("chat.note") == []


async def test_agent_gets_its_own_variables_and_none_of_the_servers_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of-the-server")
    file = config(agent={"env": {"AGENT_TOKEN": "a-long-secret-value"}})
    async with AgentHouse(tmp_path, file=file) as house:
        key = await house.agent_session()
        await house.do(key, "env SOME_API_KEY", "say ,", "env AGENT_TOKEN")
        assert house.text().startswith("SOME_API_KEY=None,AGENT_TOKEN=[redacted:")
        assert "a-long-secret-value" not in json.dumps(house.events) + house.file(key).read_text()


async def test_models_of_the_agent_can_be_chosen(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        agents = house.onyx.get(ACP_AGENTS)
        with pytest.raises(InvalidRequest, match="No agent is at work"):
            await agents.set_option(key, "model", "large")
        await house.do(key, "say hi")
        agent = agents.at_work(key)
        (option,) = agent.options
        assert (option.value, option.choices) == ("small", (("small", "Small"), ("large", "Large")))
        await agents.set_option(key, "model", "large")
        (option,) = agent.options
        assert option.value == "large"
        for wrong in (("model", "huge"), ("model", True), ("colour", "red")):
            with pytest.raises(InvalidRequest):
                await agents.set_option(key, *wrong)


async def test_agents_are_listed_beside_the_models_and_open_as_no_model(tmp_path):
    async with AgentHouse(tmp_path) as house:
        await house.onyx.ready()
        listed = [model.id for model in await house.onyx.get(ACP_AGENTS).models()]
        assert "acp/scripted" in listed
        with pytest.raises(ModelError, match="no work in the background"):
            endpoint_of("acp/scripted", ModelsSettings())


async def test_unknown_agent_is_named(tmp_path):
    async with AgentHouse(tmp_path) as house:
        name, data = await house.run(await house.session(model="acp/nobody"))
        assert (name, data["message"]) == ("chat.error", "There is no agent 'nobody'.")


async def test_file_outside_is_not_read_for_the_agent(tmp_path):
    async with AgentHouse(tmp_path) as house:
        await house.do(await house.agent_session(), "file /etc/passwd")
        assert house.text() == "refused: Method not found"


async def test_two_sessions_have_an_agent_each(tmp_path):
    async with AgentHouse(tmp_path) as house:
        keys = [await house.agent_session(), await house.agent_session()]
        ends = await asyncio.gather(*(house.do(key, f"say {number}") for number, key in enumerate(keys)))
        assert sorted(data["text"] for _, data in ends) == ["0", "1"]


async def test_agent_that_is_idle_ends_and_comes_back(tmp_path):
    async with AgentHouse(tmp_path) as house:
        house.onyx.get(ACP_AGENTS)._idle_s = 0.0
        key = await house.agent_session()
        await house.do(key, "child")
        agent = int(house.text().split()[-1])
        await until(lambda: not psutil.pid_exists(agent))
        house.events.clear()
        await house.do(key, "say back", "echo")
        assert house.text() == "back<<say back\necho>> pictures: 0"


async def test_configured_agents_are_checked_and_their_values_never_shown(tmp_path):
    file = config(
        agent={"command": "no-such-agent", "env": {"AGENT_TOKEN": "a-long-secret-value", "PLACE": "/some/where"}}
    )
    async with AgentHouse(tmp_path, file=file) as house:
        health = (await house.onyx.health())["components"]["acp"]
        assert (health["ok"], health["message"]) == (False, "Not found: no-such-agent (scripted).")
        settings = house.onyx.get(ACP_AGENTS).settings
        assert list(settings.secrets()) == ["a-long-secret-value"]
        assert "a-long-secret-value" not in repr(settings) + repr(settings.commands())


def test_configuration_names_what_is_wrong(tmp_path):
    def problems(agents):
        text = json.dumps({"acp": {"agents": agents}})
        loaded = load(text, tmp_path / "onyx.json", {}, with_sections({"acp": AcpSettings}))
        return " ".join(problem.message for problem in loaded.problems)

    assert "needs a `command`" in problems({"mine": {}})
    assert "acp.agents" in problems({"Not A Name": {"command": "x"}})
    found = problems({"claude": {"env": {"A_KEY": ["sk-of-somebody"]}}})
    assert found
    assert "sk-of-somebody" not in found


async def test_agent_is_never_asked_what_to_remember(tmp_path):
    writer = Writer(wants())
    async with AgentHouse(tmp_path, replies=writer, file=config(memory={"consolidationWindow": 2})) as house:
        mine = await house.agent_session()
        await house.do(mine, "say I take note of nothing")
        other = await house.session()
        await house.run(other, "These are words of mine.")
        await until(lambda: lines_of_kind(house, other, "consolidation"))
        assert len(writer.asked) == 1
        assert "take note of nothing" not in writer.asked[0]
        assert [line for line in house.lines(mine) if line.get("meta", {}).get("kind", "").startswith("consol")] == []
        assert len(house.entries(mine, "assistant")) == 1


async def test_what_the_agent_used_counts_as_plan_and_within_the_budget(tmp_path):
    async with AgentHouse(tmp_path, file=config(security={"budget": {"sessionTokens": 1000}})) as house:
        key = await house.agent_session()
        assert (await house.do(key, "say one"))[0] == "chat.final"
        (ledger,) = house.home.usage.rglob("*.jsonl")
        (call,) = map(json.loads, ledger.read_text("utf-8").splitlines())
        assert (call["model"], call["inputTokens"], call["costUsd"]) == ("acp/scripted", 1000, None)
        assert house.of("chat.final")[0]["usage"]["plan"] is True
        name, data = await house.do(key, "say two")
        assert (name, data["code"]) == ("chat.error", "budget")


async def test_a_stopped_turn_counts_with_the_agents_figures(tmp_path):
    async with AgentHouse(tmp_path) as house:
        key = await house.agent_session()
        run_id = await house.send(key, "say Working.\nhang")
        await until(lambda: house.of("chat.delta"))
        await house.onyx.abort(run_id)
        name, data = await house.end(run_id)
        (call,) = map(json.loads, next(house.home.usage.rglob("*.jsonl")).read_text("utf-8").splitlines())
        assert (call["run"], call["inputTokens"], call["plan"], "estimated" in call) == (run_id, 1000, True, False)
        assert (name, data["usage"]) == (
            "chat.aborted",
            {"inputTokens": 1000, "outputTokens": 2, "plan": True},
        )
