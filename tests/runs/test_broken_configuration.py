"""A configuration with an error never lets Onyx do more: at a start, when it is read anew, and in what it offers."""

import json

import pytest

from onyx_jupyter.agents.settings import load_settings
from onyx_jupyter.config.paths import Home
from onyx_jupyter.testing.script import Call
from tests.runs.house import House, Touch

TOUCH = Call("touch", {"word": "x"})
AUTO_TOUCH = '{security: {auto: ["touch"]}}'
MODEL = {"ONYX_AGENTS__DEFAULTS__MODEL": "scripted/model"}
BROKEN = [
    '{security: {auto: ["touch"]}, runtime: {maxTurns: "many"}}',
    '{security: {auto: ["touch"]}, nonsense: 1}',
    '{security: {auto: ["touch"]},',
    "[]",
]


class Save(Touch):
    """Of a family that Auto mode runs unasked where the configuration says nothing."""

    name = "save"
    family = "fs"


SAVE = Call("save", {"word": "x"})


def offered(house):
    return {tool.name for tool in house.model.requests[-1].tools}


async def reread(house, text):
    house.home.config_file.write_text(text)
    await house.onyx.list_models(refresh=True)
    return (await house.onyx.container.health())["config"]


@pytest.mark.parametrize("text", BROKEN)
async def test_broken_file_makes_auto_mode_ask_for_everything(tmp_path, text):
    save = Save()
    house = House(tmp_path, [[SAVE], "Denied", [TOUCH], "Done"], config=text, more_tools=[save])
    key = await house.session()
    run_id = await house.send(key, mode="auto", model="scripted/model")
    await house.asked()
    assert save.done == []
    await house.deny()
    await house.end(run_id)
    assert save.done == []
    assert (await reread(house, AUTO_TOUCH))["ok"]
    await house.run(key, mode="auto", model="scripted/model")
    assert house.touch.done == ["x"], "once the file is right, Auto mode is as configured"


async def test_error_while_running_revokes_auto_at_next_message(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done", [TOUCH]], config=AUTO_TOUCH)
    key = await house.session()
    await house.run(key, mode="auto", model="scripted/model")
    assert house.touch.done == ["x"]
    assert not (await reread(house, BROKEN[0]))["ok"]
    run_id = await house.send(key, mode="auto", model="scripted/model")
    await house.asked()
    assert house.touch.done == ["x"]
    await house.onyx.abort(run_id)
    await house.end(run_id)


async def test_environment_cannot_restore_auto_and_bad_variable_is_an_error(tmp_path):
    for variables in ({"ONYX_SECURITY__AUTO": '["touch"]', "ONYX_NO__KEY": "1"}, {"ONYX_SECURITY__AUTO": "touch"}):
        save = Save()
        house = House(tmp_path, [[SAVE]], environment=MODEL | variables, more_tools=[save])
        key = await house.session()
        assert house.onyx.settings.config.security.auto == []
        run_id = await house.send(key, mode="auto", model="scripted/model")
        await house.asked()
        assert save.done == []
        await house.onyx.abort(run_id)
        await house.end(run_id)
        await house.close()


async def test_denied_tool_stays_denied_when_file_breaks_while_running(tmp_path):
    good = '{agents: {list: [{id: "main", tools: {deny: ["touch"]}}]}}'
    house = House(tmp_path, ["Hi", [TOUCH], "No"], config=good)
    key = await house.session()
    await reread(house, "{")
    await house.run(key, model="scripted/model")
    assert "peek" in offered(house)
    assert "touch" not in offered(house)
    await house.run(key, model="scripted/model")
    assert house.touch.done == []
    assert house.of("exec.approval_request") == []


async def test_denied_tool_stays_denied_on_start_with_broken_file(tmp_path):
    before = House(tmp_path, config='{agents: {list: [{id: "main", tools: {deny: ["touch"]}}]}}')
    await before.onyx.ready()
    await before.close()
    assert before.home.last_good_file.stat().st_mode & 0o777 == 0o600
    house = House(tmp_path, ["Hi"], config="{")
    await house.run(await house.session(), model="scripted/model")
    assert "peek" in offered(house)
    assert "touch" not in offered(house)


async def test_other_agents_session_keeps_its_tools_while_file_is_broken(tmp_path):
    good = '{agents: {list: [{id: "main"}, {id: "reader", tools: {allow: ["peek"]}}]}}'
    house = House(tmp_path, ["Hi"], config=good)
    key = await house.session(agent="reader")
    await reread(house, '{agents: {list: "none"}}')
    await house.run(key, model="scripted/model")
    assert offered(house) == {"peek"}


async def test_session_of_unknown_agent_gets_no_other_agents_tools(tmp_path):
    good = '{agents: {list: [{id: "main"}, {id: "reader", tools: {allow: ["peek"]}}]}}'
    before = House(tmp_path, config=good)
    key = await before.session(agent="reader")
    await before.close()
    before.home.last_good_file.unlink()
    house = House(tmp_path, [[TOUCH]], config="{")
    await house.onyx.ready()
    name, data = await house.run(key, model="scripted/model", mode="auto")
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert house.model.requests == []
    assert house.touch.done == []


async def test_health_says_what_applies_until_file_is_fixed(tmp_path):
    house = House(tmp_path, config="{\n runtime: { maxTurns: 'many' } }")
    await house.onyx.ready()
    config = (await house.onyx.container.health())["config"]
    assert "line 2" in config["message"]
    assert "Auto mode asks for everything" in config["hint"]
    assert "denied tools stay denied" in config["hint"]


async def test_always_grants_stay(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done", [TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("always")
    await house.end(run_id)
    await reread(house, "{")
    await house.run(key, model="scripted/model")
    assert house.touch.done == ["x", "x"]


def test_last_good_copy_is_written_once_without_keys(tmp_path):
    home = Home(tmp_path)
    home.config_file.write_text('{providers: {lab: {baseUrl: "https://a:pass@lab.example", apiKey: "sk-secret"}}}')
    load_settings(home, {})
    written = home.last_good_file.read_text()
    assert json.loads(written)["schema_version"] == 1
    assert "sk-secret" not in written
    assert "pass" not in written
    stamp = home.last_good_file.stat()
    load_settings(home, {})
    assert home.last_good_file.stat().st_ino == stamp.st_ino, "the same is not written twice"


def test_broken_configuration_is_never_kept(tmp_path):
    home = Home(tmp_path)
    home.config_file.write_text('{agents: {list: [{tools: {deny: ["exec"]}}]}}')
    load_settings(home, {})
    good = home.last_good_file.read_text()
    home.config_file.write_text("{agents: {list: [{tools: {deny: []}}]}, nonsense: 1}")
    settings = load_settings(home, {})
    assert settings.config.agents.items[0].tools.deny == ["exec"]
    assert home.last_good_file.read_text() == good


@pytest.mark.parametrize("damaged", ["", "{", '{"schema_version": 2, "config": {}}', '{"config": {}}', "\x00"])
def test_damaged_copy_counts_as_none_and_everything_is_asked(tmp_path, damaged, caplog):
    home = Home(tmp_path)
    home.config_file.write_text('{agents: {list: [{tools: {deny: ["exec"]}}]}, nonsense: 1}')
    home.last_good_file.write_text(damaged)
    settings = load_settings(home, {})
    assert settings.config.security.auto == []
    assert settings.config.agents.items[0].tools.deny == ["exec"], "what the file says itself still counts"
    assert "last-good.json cannot be read" in caplog.text


def test_unwritable_copy_does_not_prevent_start(tmp_path, caplog):
    home = Home(tmp_path)
    home.last_good_file.mkdir()
    assert load_settings(home, {}).error is None
    assert "could not be saved" in caplog.text


def test_keys_in_broken_file_are_redacted(tmp_path):
    home = Home(tmp_path)
    home.config_file.write_text('{providers: {lab: {apiKey: "first-key-of-the-lab"}}}')
    before = load_settings(home, {})
    home.config_file.write_text('{providers: {lab: {apiKey: "second-key-of-the-lab"}}, nonsense: 1}')
    shown = load_settings(home, {}, before=before).secrets.apply("first-key-of-the-lab second-key-of-the-lab")
    assert "key-of-the-lab" not in shown
    home.config_file.write_text("{")
    assert "first-key" not in load_settings(home, {}, before=before).secrets.apply("first-key-of-the-lab")
