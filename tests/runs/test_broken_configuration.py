"""A configuration with an error never lets Onyx do more: at a start, when it is read anew, and in what it offers."""

from pathlib import Path

import pytest

from onyx_jupyter.agents.settings import Settings, load_settings
from onyx_jupyter.config.paths import Home
from onyx_jupyter.testing.script import Call
from tests.runs.house import House, Touch

TOUCH = Call("touch", {"word": "x"})
AUTO_TOUCH = '{security: {auto: ["touch"]}}'
MODEL = {"ONYX_AGENTS__DEFAULTS__MODEL": "scripted/model"}
UNREADABLE = ['{security: {auto: ["touch"]},', "[]", '{security: {}, security: {auto: ["touch"]}}']


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


def settings_of(folder: Path, text: str, before: Settings | None = None, **variables: str) -> Settings:
    home = Home(folder)
    home.config_file.write_text(text)
    return load_settings(home, variables, before=before)


@pytest.mark.parametrize("text", [*UNREADABLE, '{security: {auto: "touch"}}', '{security: {autos: ["touch"]}}'])
async def test_in_auto_mode_everything_is_asked_while_it_is_unknown_what_may_run(tmp_path, text):
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


async def test_an_error_elsewhere_changes_nothing_else(tmp_path):
    text = '{security: {auto: ["touch"]}, runtime: {maxTurns: "many"}, gateway: {port: 18789}}'
    house = House(tmp_path, [[TOUCH], "Done"], config=text)
    await house.run(await house.session(), mode="auto", model="scripted/model")
    assert house.touch.done == ["x"]
    config = (await house.onyx.container.health())["config"]
    assert [(one["severity"], one["key"], one["line"]) for one in config["problems"]] == [
        ("error", "runtime.maxTurns", 1),
        ("warning", "gateway", 1),
    ]
    await house.close()


@pytest.mark.parametrize("text", UNREADABLE)
async def test_a_file_that_cannot_be_read_leaves_the_former_one_in_force(tmp_path, text):
    house = House(tmp_path, [[TOUCH], "Done"], config=AUTO_TOUCH)
    key = await house.session()
    config = await reread(house, text)
    assert not config["ok"]
    assert "the former file stays in force" in config["message"]
    await house.run(key, mode="auto", model="scripted/model")
    assert house.touch.done == ["x"]
    await house.close()


async def test_a_run_keeps_what_it_began_with_and_the_next_one_has_what_was_saved_meanwhile(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done", [TOUCH]], config="{}")
    key = await house.session()
    run_id = await house.send(key, model="scripted/model")
    await house.asked()
    assert (await reread(house, '{agents: {list: [{tools: {deny: ["touch"]}}]}}'))["ok"]
    await house.approve("once")
    await house.end(run_id)
    assert house.touch.done == ["x"]
    await house.run(key, model="scripted/model")
    assert "touch" not in offered(house)
    assert house.touch.done == ["x"]
    await house.close()


async def test_the_environment_gives_no_auto_back(tmp_path):
    for text, variables in (("{", {"ONYX_SECURITY__AUTO": '["touch"]'}), ("{}", {"ONYX_SECURITY__AUTO": "touch"})):
        save = Save()
        house = House(tmp_path, [[SAVE]], config=text, environment=MODEL | variables, more_tools=[save])
        house.home.last_good_file.unlink(missing_ok=True)
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


@pytest.mark.parametrize("tools", ['{allow: "peek"}', '{deny: ["touch", 5]}', '{denny: ["touch"]}', '"peek"'])
async def test_an_agent_whose_tools_cannot_be_read_has_none_and_the_others_have_theirs(tmp_path, tools):
    good = '{agents: {list: [{id: "main"}, {id: "reader", tools: {allow: ["peek"]}}]}}'
    house = House(tmp_path, ["Hi", "Hi"], config=good)
    key = await house.session(agent="reader")
    other = await house.session()
    await reread(house, good.replace('{allow: ["peek"]}', tools))
    await house.run(key, model="scripted/model")
    assert offered(house) == set()
    await house.run(other, model="scripted/model")
    assert offered(house) >= {"peek", "touch"}
    await house.close()


@pytest.mark.parametrize("text", ['{agents: {list: "none"}}', '{agents: {list: [{id: "main"}, "reader"]}}'])
async def test_a_session_whose_agent_cannot_be_read_gets_no_other_agents_tools(tmp_path, text):
    house = House(tmp_path, [[TOUCH]], config='{agents: {list: [{id: "main"}, {id: "reader"}]}}')
    key = await house.session(agent="reader")
    await reread(house, text)
    name, data = await house.run(key, model="scripted/model", mode="auto")
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert house.model.requests == []
    await house.close()


async def test_a_provider_whose_address_or_key_cannot_be_read_gets_no_request(tmp_path):
    for text in (
        '{baseUrl: "gateway.example"}',
        '{apiKey: "${NO_SUCH_VARIABLE}"}',
        '{baseURL: "https://a.example"}',
        "5",
    ):
        house = House(tmp_path, [[TOUCH]], config=f"{{providers: {{scripted: {text}}}}}")
        name, data = await house.run(await house.session(), model="scripted/model")
        assert name == "chat.error"
        assert "scripted/model is unavailable" in data["message"]
        assert house.model.requests == []
        await house.close()


async def test_health_says_what_holds_until_the_file_is_right(tmp_path):
    house = House(tmp_path, config="{\n runtime: { maxTurns: 'many' } }")
    await house.onyx.ready()
    config = (await house.onyx.container.health())["config"]
    assert "line 2" in config["message"]
    assert "its default applies" in config["message"]
    await house.close()


async def test_always_grants_stay(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done", [TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("always")
    await house.end(run_id)
    await reread(house, "{")
    await house.run(key, model="scripted/model")
    assert house.touch.done == ["x", "x"]


def test_the_kept_copy_is_the_file_itself_and_written_once(tmp_path):
    text = '// mine\n{providers: {lab: {baseUrl: "https://lab.example", apiKey: "sk-secret-of-the-lab"}}}'
    home = Home(tmp_path)
    settings_of(tmp_path, text)
    assert home.last_good_file.read_text() == text
    assert home.last_good_file.stat().st_mode & 0o777 == 0o600
    assert home.last_good_file.relative_to(tmp_path).parts[0] in home.private_names
    stamp = home.last_good_file.stat()
    settings_of(tmp_path, text)
    assert home.last_good_file.stat().st_ino == stamp.st_ino, "the same is not written twice"


@pytest.mark.parametrize("worse", ["{runtime: {maxTurns: 'x'}}", "{", "{runtime: {maxTurns: '${NO_SUCH_VARIABLE}'}}"])
def test_a_file_with_an_error_is_never_kept_but_one_with_a_warning_is(tmp_path, worse):
    home = Home(tmp_path)
    good = "{runtime: {maxTurns: 7}, gateway: {}}"
    settings_of(tmp_path, good)
    settings_of(tmp_path, worse)
    assert home.last_good_file.read_text() == good


def test_the_whole_last_good_file_is_in_force_at_a_start_with_a_broken_one(tmp_path):
    good = """{runtime: {maxTurns: 7}, providers: {lab: {baseUrl: "https://lab.example", apiKey: "key-77-of-the-lab"}},
        agents: {list: [{id: "reader", tools: {allow: ["read"]}}]}}"""
    settings_of(tmp_path, good)
    settings = settings_of(tmp_path, "{\n\n runtime", ONYX_RUNTIME__MEMORYSEARCHTOPK="9")
    assert settings.config.runtime.max_turns == 7
    assert settings.config.runtime.memory_search_top_k == 9
    assert settings.config.default_agent().tools.allow == ["read"]
    assert settings.config.providers["lab"].base_url == "https://lab.example"
    assert "key-77" not in settings.secrets.apply("key-77-of-the-lab")
    [problem] = settings.problems
    assert problem.severity == "error"
    assert problem.line == 3
    assert "last good content" in problem.message


def test_a_former_file_that_was_good_but_for_one_key_stays_in_force_as_it_was(tmp_path):
    before = settings_of(tmp_path, '{agents: {list: [{tools: {deny: ["exec"]}}]}, runtime: {maxTurns: "x"}}')
    settings = settings_of(tmp_path, "{", before)
    assert settings.config == before.config
    assert len(settings.problems) == 2, "that of the file that cannot be read, and that of the one in force"
    assert settings_of(tmp_path, "{", settings).config == before.config


@pytest.mark.parametrize("damaged", [b"{", b"[]", b"\xff\xfe\x00"])
def test_a_damaged_copy_is_as_good_as_none_and_nothing_runs_unasked(tmp_path, damaged, caplog):
    home = Home(tmp_path)
    home.last_good_file.parent.mkdir(parents=True)
    home.last_good_file.write_bytes(damaged)
    settings = settings_of(tmp_path, "{")
    assert settings.config.security.auto == []
    assert settings.config.memory.consolidation is False
    assert "last good configuration cannot be read" in caplog.text


def test_a_copy_that_cannot_be_written_keeps_no_server_from_starting(tmp_path, caplog):
    Home(tmp_path).last_good_file.mkdir(parents=True)
    assert settings_of(tmp_path, "{}").problems == ()
    assert "No copy of the configuration could be saved" in caplog.text


def test_keys_in_a_broken_file_are_hidden_all_the_same(tmp_path):
    before = settings_of(tmp_path, '{providers: {lab: {apiKey: "first-key-of-the-lab"}}}')
    text = '{providers: {lab: {apiKey: "second-key-of-the-lab", baseUrl: 5}, other: {apikey: "third-key-of-the-lab"}}}'
    shown = settings_of(tmp_path, text, before).secrets.apply("first-key-of-the-lab second-key-of-the-lab")
    assert "key-of-the-lab" not in shown
    assert "first-key" not in settings_of(tmp_path, "{", before).secrets.apply("first-key-of-the-lab")
