"""The administrator's ceiling at work: tools, modes, models and grants that nobody gets past."""

import json

import pytest

from onyx_jupyter.agents.allowed_models import allows_model
from onyx_jupyter.agents.settings import embedding_settings, models_settings
from onyx_jupyter.config.ceiling import Ceiling
from onyx_jupyter.errors import InvalidRequest, ModelError, ToolError
from onyx_jupyter.features.notebooks.edit_tools import notebook_insert_cell_tool
from onyx_jupyter.features.notebooks.run_tools import notebook_run_cell_tool
from onyx_jupyter.testing.script import Call
from onyx_jupyter.testing.scripted_model import ScriptedModel
from tests.notebook.shelf import Shelf
from tests.runs.house import House
from tests.skills.notebooks import cell, write_notebook
from tests.waiting import until

TOUCH = Call("touch", {"word": "x"})
PEEK = Call("peek", {"word": "x"})
AUTO = json.dumps({"security": {"auto": ["touch"]}})
NO_TOUCH = Ceiling(deny=["touch"])


def offered(house):
    return {tool.name for tool in house.model.requests[-1].tools}


def decisions(house):
    lines = [json.loads(line) for line in house.home.audit_file.read_text("utf-8").splitlines()]
    return [(line["tool"], line["decision"], line["by"]) for line in lines if line["event"] == "decision"]


@pytest.mark.parametrize("mode", ["agent", "auto"])
async def test_denied_tool_is_not_offered_and_rejected_if_called(tmp_path, mode):
    house = House(tmp_path, [[TOUCH], "No"], config=AUTO, ceiling=NO_TOUCH)
    key = await house.session()
    await house.run(key, mode=mode)
    assert "peek" in offered(house)
    assert "touch" not in offered(house)
    assert house.touch.done == []
    (result,) = house.results(key).values()
    assert result["content"] == "Denied: Not allowed on this server: touch."
    assert house.of("exec.approval_request") == []
    assert decisions(house) == [("touch", "denied", "ceiling")]


async def test_denied_read_only_tool_is_rejected_and_logged(tmp_path):
    house = House(tmp_path, [[PEEK], "No"], ceiling=Ceiling(deny=["peek"]))
    await house.run(await house.session())
    assert house.peek.done == []
    assert decisions(house) == [("peek", "denied", "ceiling")]


async def test_write_and_run_is_rejected_if_running_is_denied(tmp_path):
    arguments = {"path": "a.ipynb", "cellType": "code", "source": "1"}
    calls = [Call("notebook_insert_cell", {**arguments, "run": True}), Call("notebook_insert_cell", arguments)]
    tools = [notebook_insert_cell_tool, notebook_run_cell_tool]
    shelf = Shelf(a=[])
    ceiling = Ceiling(deny=["notebook_run_cell"])
    house = House(tmp_path, [calls, "Done"], notebooks=shelf, more_tools=tools, ceiling=ceiling)
    key = await house.session()
    run_id = await house.send(key)
    await house.approve()
    await house.end(run_id)
    refused, done = (result["content"] for result in house.results(key).values())
    assert refused == "Denied: Not allowed on this server: notebook_run_cell."
    assert done.startswith("Inserted code cell")
    assert [cell["source"] for cell in shelf.notebooks["a.ipynb"]] == ["1"]
    assert decisions(house)[0] == ("notebook_insert_cell", "denied", "ceiling")


async def test_always_and_session_grants_do_not_override_it(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("always")
    await house.end(run_id)
    await house.close()
    strict = House(tmp_path, [[TOUCH], "No"], ceiling=NO_TOUCH)
    await strict.onyx.ready()
    await strict.run(key)
    assert strict.touch.done == []


async def test_pending_approval_is_rejected_after_restart_if_tool_is_denied(tmp_path):
    house = House(tmp_path, [[TOUCH]])
    key = await house.session()
    await house.send(key)
    await house.asked()
    await house.close()
    strict = House(tmp_path, ["No"], ceiling=NO_TOUCH)
    await strict.onyx.ready()
    await until(lambda: not strict.onyx.runs.busy)
    assert strict.touch.done == []
    assert strict.ends_on_disk(key) == ["final"]
    (result,) = strict.results(key).values()
    assert result["content"] == "Denied: Not allowed on this server: touch."
    assert strict.onyx.approvals.pending() == []


async def test_configuration_and_environment_cannot_restore_denied_tool(tmp_path):
    config = json.dumps({"agents": {"list": [{"id": "main", "tools": {"allow": ["touch"], "deny": []}}]}})
    variables = {
        "ONYX_AGENTS__DEFAULTS__MODEL": "scripted/model",
        "ONYX_AGENTS__LIST__0__TOOLS__DENY": "[]",
        "ONYX_SECURITY__AUTO": '["touch"]',
    }
    house = House(tmp_path, [[TOUCH], "No"], config=config, environment=variables, ceiling=NO_TOUCH)
    await house.run(await house.session(), mode="auto")
    assert house.touch.done == []
    assert offered(house) == set()


async def test_denied_skills_run_for_nobody(tmp_path):
    skills = tmp_path / "home" / "skills"
    skills.mkdir(parents=True)
    write_notebook(skills / "count.ipynb", cell("1"))
    for names in (["group:skills"], ["skill_count"]):
        house = House(tmp_path, [[Call("skill_count", {})], "No"], ceiling=Ceiling(deny=names))
        await house.onyx.ready()
        shown = await house.onyx.skills.library.get("count")
        await house.onyx.skills.library.trust("count", shown.skill.digest, "ada")
        with pytest.raises(ToolError, match="Not allowed on this server: skill_count"):
            await house.onyx.skills.start("count", {}, "user:ada")
        await house.run(await house.session())
        assert decisions(house)[-1] == ("skill_count", "denied", "ceiling")
        assert await house.onyx.skills.runs.history(None, 10) == []
        await house.close()


async def test_disallowed_mode_is_rejected_and_nothing_written(tmp_path):
    house = House(tmp_path, [[TOUCH]], config=AUTO, ceiling=Ceiling(modes=["ask", "agent"]))
    key = await house.session()
    before = house.lines(key)
    with pytest.raises(InvalidRequest, match=r"Auto mode\. Choose Ask or Agent") as refused:
        await house.send(key, mode="auto")
    assert refused.value.field == "mode"
    assert house.lines(key) == before
    assert house.model.requests == []


async def test_without_agent_mode_message_only_reads_and_says_so(tmp_path):
    house = House(tmp_path, [[TOUCH], "No"], ceiling=Ceiling(modes=["ask"]))
    key = await house.session()
    await house.run(key)
    assert house.touch.done == []
    assert "touch" not in offered(house)
    (message,) = [line for line in house.lines(key) if line["role"] == "user"]
    assert message["meta"]["mode"] == "ask"


async def test_older_auto_mode_message_is_answered_in_agent_mode(tmp_path):
    house = House(tmp_path, config=AUTO)
    key = await house.session()
    await house.close()
    strict = House(tmp_path, [[TOUCH], "Done"], config=AUTO, ceiling=Ceiling(modes=["ask", "agent"]))
    await strict.onyx.ready()
    transcript = await strict.onyx.sessions.get(key)
    await strict.onyx.runs.send(transcript, "On", {"mode": "auto"}, "followup")  # as one that waited on disk
    await strict.asked(key)
    assert strict.touch.done == []
    await strict.deny()


async def test_always_is_unavailable_if_not_allowed(tmp_path):
    house = House(tmp_path, [[TOUCH], "Done"])
    key = await house.session()
    run_id = await house.send(key)
    await house.approve("always")
    await house.end(run_id)
    await house.close()
    strict = House(tmp_path, [[TOUCH], "Done"], ceiling=Ceiling(allow_always=False))
    await strict.onyx.ready()
    run_id = await strict.send(key)
    approval_id = await strict.asked(key)
    (request,) = strict.of("exec.approval_request")
    assert request["details"]["alwaysScope"] is None
    assert request["details"]["alwaysBlocked"] == "this server does not allow “Always”"
    with pytest.raises(InvalidRequest, match="this server does not allow “Always”"):
        await strict.onyx.approvals.approve(approval_id, "ada", "always")
    assert strict.touch.done == []
    await strict.approve("session")
    await strict.end(run_id)
    assert strict.touch.done == ["x"]
    assert len(await strict.onyx.grants.list()) == 1, "the old grant is kept, and counts for nothing"


def two_models():
    return {name: ScriptedModel(lambda _: "Hi", model_id=name) for name in ("scripted/model", "other/model")}


async def test_disallowed_model_is_locked_rejected_and_never_opened(tmp_path):
    models = two_models()
    house = House(tmp_path, models=models, ceiling=Ceiling(providers=["scripted"]))
    key = await house.session()
    listed = {model.id: model.locked for model in await house.onyx.list_models(refresh=True)}
    assert listed == {"scripted/model": False, "other/model": True}
    with pytest.raises(InvalidRequest, match="other/model") as refused:
        await house.send(key, model="other/model")
    assert refused.value.field == "model"
    with pytest.raises(InvalidRequest):
        await house.session(model="other/model")
    assert (await house.run(key))[0] == "chat.final"
    assert models["other/model"].requests == []
    assert "other/model" not in house.models.opened


async def test_disallowed_session_agent_and_fallback_models_are_rejected(tmp_path):
    before = House(tmp_path, models=two_models())
    key = await before.session(model="other/model")
    await before.close()
    config = json.dumps({"agents": {"list": [{"fallbackModel": "other/model", "model": "other/model"}]}})
    models = two_models()
    house = House(tmp_path, models=models, config=config, environment={}, ceiling=Ceiling(providers=["scripted"]))
    await house.onyx.ready()
    for one in (key, await house.session()):
        name, data = await house.run(one)
        assert (name, data["code"]) == ("chat.error", "refused")
        assert "Not allowed on this server: other/model" in data["message"]
    assert {model.id: model.locked for model in await house.onyx.list_models(refresh=False)}["other/model"]
    assert models["other/model"].requests == []
    assert house.models.opened == []


async def test_disallowed_fallback_never_answers(tmp_path):
    def down(request):
        raise ModelError("unavailable", "It is down.", permanent=True)

    models = two_models() | {"scripted/model": ScriptedModel(down, model_id="scripted/model")}
    config = json.dumps({"agents": {"list": [{"fallbackModel": "other/model"}]}})
    house = House(tmp_path, models=models, config=config, ceiling=Ceiling(providers=["scripted"]))
    assert (await house.run(await house.session()))[0] == "chat.error"
    assert models["other/model"].requests == []


async def test_configuration_cannot_redirect_an_allowed_provider_name(tmp_path, monkeypatch):
    config = json.dumps({"providers": {"scripted": {"baseUrl": "https://elsewhere.example/v1", "apiKey": "k"}}})
    house = House(tmp_path, ["Hi"], config=config, ceiling=Ceiling(providers=["scripted", "openai"]))
    await house.onyx.ready()
    with pytest.raises(InvalidRequest, match="Not allowed"):
        await house.send(await house.session(), model="scripted/model")
    now = house.onyx.settings.config
    assert models_settings(now, house.onyx.ceiling).providers == {}, "its server is not even asked for its models"
    assert allows_model(house.onyx.ceiling, now, "openai/gpt")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    assert not allows_model(house.onyx.ceiling, now, "openai/gpt")


async def test_other_agents_are_not_allowed_by_an_address_in_the_configuration(tmp_path):
    gateway = "https://gateway.example/v1"
    config = json.dumps({"providers": {"acp": {"baseUrl": gateway}}})
    house = House(tmp_path, config=config, ceiling=Ceiling(providers=[gateway]))
    await house.onyx.ready()
    assert not allows_model(house.onyx.ceiling, house.onyx.settings.config, "acp/claude")
    assert allows_model(Ceiling(providers=["acp"]), house.onyx.settings.config, "acp/claude")


async def test_no_provider_that_is_not_allowed_or_has_an_error_is_asked_for_its_models(tmp_path):
    config = json.dumps({"providers": {"mistral": {"apiKey": 5}, "lab": {"baseUrl": "https://lab.example/v1"}}})
    house = House(tmp_path, config=config, ceiling=Ceiling(providers=["scripted", "mistral", "groq"]))
    await house.onyx.ready()
    refused = models_settings(house.onyx.settings.config, house.onyx.ceiling).refused
    assert {"mistral", "lab", "openai", "ollama"} <= refused
    assert not {"scripted", "groq"} & refused


async def test_disallowed_embedder_gets_no_texts(tmp_path):
    config = json.dumps({"memory": {"embeddingModel": "openai/text-embedding-3-small"}})
    house = House(tmp_path, config=config)
    await house.onyx.ready()
    now = house.onyx.settings.config
    assert embedding_settings(now, Ceiling()).without == frozenset()
    assert embedding_settings(now, Ceiling(providers=["ollama"])).without == {"api"}
    assert embedding_settings(now, Ceiling(providers=["openai"])).without == {"ollama"}
