"""A server without a model, or with the name of one that is no more: what its clients are told."""

import json

import pytest

from onyx_jupyter.agents import configured
from onyx_jupyter.providers.local_files import model_files
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from tests.agents.test_default_model import put


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch):
    for module in (configured, model_files):
        monkeypatch.setattr(module, "shared_folders", lambda: ())
    monkeypatch.setattr(configured, "free_memory_bytes", lambda: 8_000_000_000)


def configure(onyx_home, model):
    path = onyx_home / "onyx.json"
    config = json.loads(path.read_text())
    config["agents"] = {"defaults": {"model": model}} if model else {}
    path.write_text(json.dumps(config))


async def test_without_model_health_and_answer_agree_and_downloaded_one_answers(connect, onyx_home):
    configure(onyx_home, None)
    client = await connect()
    assert [agent["model"] for agent in (await client.ask("agents.list"))["agents"]] == [""]
    health = await client.ask("health.check")
    line = health["components"]["model"]["message"]
    assert (health["status"], health["components"]["model"]["ok"]) == ("degraded", False)
    assert line.startswith("No model is set up yet. You can ")
    assert "Qwen2.5 Coder 1.5B (1.12 GB)" in line
    assert "\n" not in line
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Explain my notebook"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["code"], data["message"], data.get("hint")) == ("chat.error", "no_model", line, None)
    kept = (await client.ask("sessions.get", sessionKey=key))["messages"]
    assert [one["content"] for one in kept if one["role"] == "user"] == ["Explain my notebook"]
    put(CATALOGUE[1], onyx_home / "models")
    assert [agent["model"] for agent in (await client.ask("agents.list"))["agents"]] == [CATALOGUE[1].id]
    assert (await client.ask("health.check"))["components"]["model"] == {"ok": True, "message": CATALOGUE[1].id}


async def test_smollm2_in_configuration_gets_alternatives_and_everything_else_works(connect, onyx_home):
    configure(onyx_home, "local/smollm2")
    client = await connect()
    component = (await client.ask("health.check"))["components"]["model"]
    assert (component["ok"], "local/smollm2" in component["message"]) == (False, True)
    assert CATALOGUE[0].id in component["hint"]
    assert "local/smollm2" not in {one["id"] for one in (await client.ask("models.list"))["models"]}
    assert {one["state"] for one in (await client.ask("local_models.list"))["models"]} == {"missing"}


async def test_conversation_with_smollm2_continues_with_another_model(connect, replies):
    client = await connect()
    key = (await client.ask("sessions.create", model="local/smollm2"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="hello"))["runId"]
    name, data = await client.end(run_id)
    assert (name, data["code"]) == ("chat.error", "not_found")
    assert CATALOGUE[0].id in data["hint"]
    replies.next = ["Hi."]
    run_id = (await client.ask("chat.send", sessionKey=key, message="hello again", model="scripted/model"))["runId"]
    assert (await client.end(run_id))[1]["text"] == "Hi."
