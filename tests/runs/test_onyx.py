"""The one door: queueing, configuration, and failures that stay inside their session."""

import asyncio
import logging
import os

import pytest

from onyx_jupyter.errors import NotFound, SessionBusy, StorageError
from onyx_jupyter.features.knowledge.documents import ServerKnowledge
from onyx_jupyter.features.sessions.search import SessionSearch
from onyx_jupyter.features.skills.runs import SkillRuns
from onyx_jupyter.testing.script import Call, Hang, Hold
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.runs.house import House
from tests.storage.full_disk import file_size_limit
from tests.waiting import until


async def test_messages_of_a_session_are_answered_in_order(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["one", hold], "two", "three"])
    key = await house.session()
    runs = [await house.send(key, "1")]
    await until(hold.reached.is_set)
    runs += [await house.send(key, word, when_busy="followup") for word in ("2", "3")]
    assert [line["content"] for line in house.lines(key)][1:] == ["1", "2", "3"]
    assert len(house.model.requests) == 1
    hold.released.set()
    for run_id in runs:
        assert (await house.end(run_id))[0] == "chat.final"
    started = [data["runId"] for data in house.of("chat.started")]
    assert started == runs
    names = house.names(without=("session.updated", "chat.delta"))
    assert names == ["chat.started", "chat.final"] * 3
    began = [line["meta"]["runId"] for line in house.lines(key) if line.get("meta", {}).get("kind") == "run_start"]
    assert began == runs[1:]
    assert [m.content for m in house.model.requests[2].messages] == ["1", "one", "2", "two", "3"]
    assert [m.content for m in house.model.requests[1].messages] == ["1", "one", "2"]


async def test_sessions_run_concurrently(tmp_path):
    hold = Hold()
    house = House(tmp_path, lambda request: [hold, "slow"] if request.messages[-1].content == "slow" else "fast")
    slow, fast = await house.session(), await house.session()
    waiting = await house.send(slow, "slow")
    await until(hold.reached.is_set)
    assert (await house.run(fast, "fast"))[1]["text"] == "fast"
    assert house.ends(waiting) == []
    await until(lambda: house.onyx.runs.activity(fast) == "idle")
    assert house.onyx.runs.activity(slow) == "running"
    hold.released.set()
    assert (await house.end(waiting))[1]["text"] == "slow"


async def test_failing_session_does_not_affect_others(tmp_path):
    hold = Hold()

    def reply(request):
        if request.messages[-1].content == "bug":
            raise RuntimeError("a bug")
        return [hold, "fine"]

    house = House(tmp_path, reply)
    good, bad = await house.session(), await house.session()
    run_id = await house.send(good, "hello")
    await until(hold.reached.is_set)
    assert (await house.run(bad, "bug"))[0] == "chat.error"
    hold.released.set()
    assert (await house.end(run_id))[0] == "chat.final"


async def test_unknown_model_is_a_chat_error_and_message_is_stored(tmp_path):
    house = House(tmp_path, ["ok"])
    key = await house.session()
    name, data = await house.run(key, "Hello", model="nobody/nothing")
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert "nobody/nothing" in data["message"]
    assert "scripted/model" in data["hint"]
    assert "Hello" in [line["content"] for line in house.lines(key)]
    assert (await house.run(key, "Now", model="scripted/model"))[0] == "chat.final"


async def test_session_keeps_last_chosen_model(tmp_path):
    models = {name: ScriptedModel([name] * 5, model_id=name) for name in ("a/1", "b/2")}
    house = House(tmp_path, models=models, environment={"ONYX_AGENTS__DEFAULTS__MODEL": "a/1"})
    key, chosen = await house.session(), await house.session(model="b/2")
    answers = [
        (await house.run(key))[1]["text"],
        (await house.run(chosen))[1]["text"],
        (await house.run(key, model="b/2"))[1]["text"],
        (await house.run(key))[1]["text"],
    ]
    assert answers == ["a/1", "b/2", "b/2", "b/2"]


async def test_ask_mode_offers_model_only_reading_tools(tmp_path):
    house = House(tmp_path, ["ok", "ok"])
    key = await house.session()
    await house.run(key, mode="ask")
    await house.run(key, mode="agent")
    offered = [[tool.name for tool in request.tools] for request in house.model.requests]
    assert offered == [["peek", "break", "linger"], ["peek", "touch", "break", "linger"]]


async def test_session_of_removed_agent_says_so_and_ends(tmp_path):
    two = "{ agents: { list: [{ id: 'main' }, { id: 'other', model: 'scripted/model' }] } }"
    house = House(tmp_path, ["ok"] * 3, config=two)
    key = await house.session(agent="other")
    assert (await house.run(key))[0] == "chat.final"
    house.home.config_file.write_text("{}")
    await house.onyx.list_models(refresh=True)
    name, data = await house.run(key, "Still there?")
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert "'other'" in data["message"]
    assert house.ends_on_disk(key) == ["final", "error"]
    assert not house.onyx.runs.busy
    with pytest.raises(NotFound, match="Agents: main"):
        await house.onyx.create_session("other", None, None)


async def test_message_to_missing_session_is_not_found_and_writes_nothing(tmp_path):
    house = House(tmp_path)
    await house.onyx.ready()
    with pytest.raises(NotFound):
        await house.send("../../etc/passwd")
    assert list(house.home.sessions.rglob("*")) == []


async def test_full_disk_rejects_message_and_frees_session(tmp_path):
    house = House(tmp_path, ["ok"])
    key = await house.session()
    with file_size_limit(house.file(key).stat().st_size), pytest.raises(StorageError):
        await house.send(key)
    assert not house.onyx.runs.busy
    assert house.model.requests == []
    assert (await house.run(key))[0] == "chat.final"


async def test_two_servers_never_answer_in_one_session_simultaneously(tmp_path):
    hold = Hold()
    here, there = House(tmp_path, [["from here", hold], "later"]), House(tmp_path, ["from there"])
    key = await here.session()
    await there.onyx.ready()
    there.onyx.streams.watch(key, there.receive)
    run_id = await here.send(key, "First")
    await until(hold.reached.is_set)
    with pytest.raises(SessionBusy):
        await there.send(key, "Second")
    assert "Second" not in here.file(key).read_text()
    hold.released.set()
    await here.end(run_id)
    assert (await there.run(key, "Second"))[0] == "chat.final"
    assert [m.content for m in there.model.requests[0].messages] == ["First", "from here", "Second"]
    await here.run(key, "Third")
    assert [m.content for m in here.model.requests[1].messages] == [
        "First", "from here", "Second", "from there", "Third",
    ]  # fmt: skip
    ids = [line["id"] for line in here.lines(key)]
    assert [line["parent"] for line in here.lines(key)] == [None, *ids[:-1]]
    await here.close()
    await there.close()


async def test_session_updated_is_broadcast_with_metadata(tmp_path):
    house, others = House(tmp_path, ["The answer"]), []
    house.onyx.streams.connect(lambda told: others.append({"event": told.name, "data": told.data}))
    key = await house.session(title="Mine")
    await house.run(key, "Hello")
    await until(lambda: others[-1]["data"]["activity"] == "idle")
    assert {frame["event"] for frame in others} == {"session.updated"}
    assert {frame["data"]["sessionKey"] for frame in others} == {key}
    last = others[-1]["data"]
    assert (last["title"], last["messageCount"], last["lastMessagePreview"]) == ("Mine", 2, "The answer")
    assert last["tokenCount"] > 0
    assert "running" in [frame["data"]["activity"] for frame in others]
    await house.close()


async def test_first_start_creates_private_home_and_second_changes_nothing(tmp_path):
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "SOUL.md").write_text("Be kind.")
    old_umask = os.umask(0)
    try:
        house = House(tmp_path)
        await house.onyx.ready()
    finally:
        os.umask(old_umask)
    await house.close()
    workspace = house.home.root / "workspace"
    assert (workspace / "SOUL.md").read_text() == "Be kind."
    for path in [house.home.root, *house.home.root.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, f"{path} can be read by others"
    (workspace / "SOUL.md").write_text("Mine.")
    house.home.config_file.write_text("{} // mine")
    again = House(tmp_path)
    await again.onyx.ready()
    assert (workspace / "SOUL.md").read_text() == "Mine."
    assert house.home.config_file.read_text() == "{} // mine"


async def test_invalid_configuration_uses_defaults_and_is_reported(tmp_path):
    house = House(tmp_path, ["ok"], config="{\n runtime: { maxTurns: 'many' } }")
    key = await house.session()
    config = (await house.onyx.container.health())["config"]
    assert config["ok"] is False
    assert "line 2" in config["message"]
    assert "'many'" in config["message"]
    assert config["hint"]
    assert house.onyx.settings.config.runtime.max_turns == 20
    assert (await house.run(key, model="scripted/model"))[0] == "chat.final"
    house.home.config_file.write_text("{ runtime: { maxTurns: 3 } }")
    await house.onyx.list_models(refresh=True)
    assert (await house.onyx.container.health())["config"]["ok"] is True
    assert house.onyx.settings.config.runtime.max_turns == 3


async def test_refresh_rereads_configuration_and_plain_list_does_not(tmp_path):
    house = House(tmp_path, lambda _: "ok")
    await house.onyx.ready()
    house.home.config_file.write_text("{ runtime: { maxTurns: 4 }, security: { approvalTimeoutMs: 5000 } }")
    await house.onyx.list_models(refresh=False)
    assert house.onyx.settings.config.runtime.max_turns == 20
    listed = await house.onyx.list_models(refresh=True)
    assert [model.id for model in listed] == ["scripted/model"]
    assert house.onyx.settings.config.runtime.max_turns == 4


async def test_refresh_changes_approval_timeout(tmp_path):
    house = House(tmp_path, [[Call("touch", {"word": "x"})]])
    key = await house.session()
    house.home.config_file.write_text("{ security: { approvalTimeoutMs: 3600000 } }")
    await house.onyx.list_models(refresh=True)
    run_id = await house.send(key)
    await house.asked()
    (request,) = house.of("exec.approval_request")
    asked_at = next(line["ts"] for line in house.lines(key) if line.get("meta", {}).get("kind") == "approval_request")
    assert (int(request["expiresAt"][11:13]) - int(asked_at[11:13])) % 24 == 1
    await house.onyx.abort(run_id)
    await house.end(run_id)


async def test_active_run_keeps_its_model_when_configuration_changes(tmp_path):
    hold = Hold()
    house = House(tmp_path, [["one ", hold, "two"]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hold.reached.is_set)
    house.home.config_file.write_text("{ runtime: { maxTurns: 4 } }")
    await house.onyx.list_models(refresh=True)
    assert not house.models.closed
    hold.released.set()
    assert (await house.end(run_id))[1]["text"] == "one two"
    await house.close()
    assert house.models.closed


async def test_uncreatable_home_is_a_storage_error_until_fixed(tmp_path):
    (tmp_path / "home").write_text("in the way")
    house = House(tmp_path, ["ok"])
    with pytest.raises(StorageError, match="Could not create"):
        await house.onyx.ready()
    assert house.onyx.configured.redact("text") == "text"
    (tmp_path / "home").unlink()
    await house.onyx.ready()
    assert (await house.run(await house.session()))[0] == "chat.final"


async def test_close_interrupts_run_without_ending_it_and_keeps_text(tmp_path):
    hang = Hang()
    house = House(tmp_path, [["Half an answer", hang]])
    key = await house.session()
    run_id = await house.send(key)
    await until(hang.reached.is_set)
    await house.close()
    assert house.ends(run_id) == []
    assert house.ends_on_disk(key) == []
    assert house.model.interrupted == 1
    again = House(tmp_path, ["ok"])
    await again.onyx.ready()
    assert again.ends_on_disk(key) == ["interrupted"]
    assert again.lines(key)[-2]["content"] == "Half an answer"


async def test_nothing_runs_after_close(tmp_path):
    house = House(tmp_path, [[Hang()]] * 3)
    for _ in range(3):
        await house.send(await house.session())
    await until(lambda: len(house.model.requests) == 3)
    await house.close()
    left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith("onyx run")]
    assert left == []


async def test_bug_in_tool_is_logged_with_traceback(tmp_path, caplog):
    house = House(tmp_path, [[Call("break", {"word": "zero"})], "ok"])
    with caplog.at_level(logging.ERROR):
        await house.run(await house.session())
    assert "ZeroDivisionError: no zero" in caplog.text
    assert "Traceback" in caplog.text


async def test_unknown_tool_name_in_configuration_is_reported_in_health(tmp_path):
    house = House(tmp_path, [], config='{agents: {list: [{id: "main", tools: {deny: ["tuch", "group:x"]}}]}}')
    await house.onyx.ready()
    config = (await house.onyx.container.health())["config"]
    assert config["ok"] is False
    assert "Agent main: tools.deny names 'tuch'" in config["message"]
    assert "Did you mean touch?" in config["message"]
    assert "'group:x'" in config["message"]


async def test_failed_close_does_not_prevent_others(tmp_path, monkeypatch):
    async def fail(part):
        raise StorageError("The disk is full.")

    for part in (SkillRuns, ServerKnowledge, SessionSearch):
        monkeypatch.setattr(part, "close", fail)
    house = House(tmp_path, [])
    await house.onyx.ready()
    await house.onyx.memories.search("anything", None)
    assert {task.get_name() for task in asyncio.all_tasks()} >= {"onyx index of memory files", "onyx memory watch"}
    with pytest.raises(StorageError, match="full"):
        await house.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("onyx memory")]
