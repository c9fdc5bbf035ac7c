"""`settings.*` on a real server: what the panel shows of onyx.json, and changes in it."""

import json

import pytest

from tests.server.client import MethodFailed


@pytest.fixture
def file(onyx_home):
    return onyx_home / "onyx.json"


def value_of(info, key):
    return next((one.get("value") for one in info["values"] if one["key"] == key), None)


async def change(client, info, **edits):
    named = [{"key": key.replace("__", "."), "value": value} for key, value in edits.items()]
    return await client.ask("settings.set", version=info["version"], edits=named)


async def test_values_in_force_are_listed_and_changed_with_comments_kept(connect, file):
    file.write_text("// mine\n" + file.read_text())
    client, other = await connect(), await connect()
    await other.ask("health.check")
    info = await client.ask("settings.get")
    assert (info["file"], value_of(info, "runtime.defaultModel"), info["problems"]) == (str(file), "scripted/model", [])
    saved = await change(client, info, security__budget__dayUsd=5, runtime__defaultModel="scripted/other")
    assert "conflict" not in saved
    assert value_of(saved["settings"], "security.budget.dayUsd") == 5
    assert value_of(saved["settings"], "runtime.defaultModel") == "scripted/other"
    await other.event("settings.updated")
    text = file.read_text()
    assert text.startswith("// mine\n")
    assert '"scripted/model"' not in text, "of two keys for one role only one stays"
    assert (await client.ask("agents.list"))["agents"][0]["model"] == "scripted/other"
    removed = await change(client, saved["settings"], runtime__defaultModel=None)
    assert value_of(removed["settings"], "runtime.defaultModel") is None


async def test_change_of_the_file_meanwhile_is_shown_and_nothing_is_written(connect, file):
    client = await connect()
    info = await client.ask("settings.get")
    theirs = json.dumps(json.loads(file.read_text()) | {"logging": {"level": "debug"}}, indent=1)
    file.write_text(theirs)
    saved = await change(client, info, security__budget__dayTokens=1000)
    assert "debug" in saved["conflict"]
    assert file.read_text() == theirs
    again = await change(client, saved["settings"], security__budget__dayTokens=1000)
    assert "conflict" not in again
    assert "debug" in file.read_text()


async def test_value_that_is_not_allowed_is_refused_and_the_file_stays(connect, file):
    client = await connect()
    info, before = await client.ask("settings.get"), file.read_text()
    with pytest.raises(MethodFailed, match="dayUsd"):
        await change(client, info, security__budget__dayUsd=-1)
    with pytest.raises(MethodFailed, match="cannot be changed here"):
        await change(client, info, security__auto="exec")
    with pytest.raises(MethodFailed, match="cannot be changed here"):
        await change(client, info, providers__openai__apiKey="sk-123")
    assert file.read_text() == before


async def test_variable_locks_a_key_and_a_problem_has_its_line(connect, file, monkeypatch):
    monkeypatch.setenv("ONYX_AGENTS__DEFAULTS__MODEL", "scripted/by-variable")
    monkeypatch.setenv("ONYX_SECURITY__BUDGET__DAYUSD", "7")
    file.write_text('{\n "runtime": {\n  "maxTurns": "many" },\n "gateway": { "port": 1 }\n}')
    client = await connect()
    info = await client.ask("settings.get")
    locked = {one["key"]: one["lockedBy"] for one in info["values"] if "lockedBy" in one}
    assert locked == {
        "runtime.defaultModel": "ONYX_AGENTS__DEFAULTS__MODEL",
        "security.budget.dayUsd": "ONYX_SECURITY__BUDGET__DAYUSD",
    }
    found = [(one["severity"], one["key"], one["line"]) for one in info["problems"]]
    assert found == [("error", "runtime.maxTurns", 3), ("warning", "gateway", 4)]


async def test_server_of_ones_own_is_added_by_its_address(connect, file, replies):
    client = await connect()
    info = await client.ask("settings.get")
    await change(client, info, providers__lab__baseUrl=replies.server.base_url)
    listed = (await client.ask("providers.list"))["providers"]
    assert next(one for one in listed if one["name"] == "lab")["baseUrl"] == replies.server.base_url
