"""`providers.*` and `credentials.*` on a real server: what each card says, a real test, and keys that come in only."""

import asyncio
import json
from dataclasses import replace

import pytest

from onyx_jupyter.config.paths import Home
from onyx_jupyter.providers import known_providers
from onyx_jupyter.security.credential_store import CredentialStore
from onyx_jupyter.security.master_key import MasterKeys
from onyx_jupyter.testing.script import Cut, Hold, HttpError, Page
from tests.server.client import MethodFailed
from tests.server.conftest import KEY
from tests.waiting import LIMIT_S, until

PLAIN_KEY = "nothing-but-words-like-these"
"""It has no form by which it could be recognized."""


@pytest.fixture
def config(onyx_home):
    """Changes onyx.json."""

    def change(**sections):
        file = onyx_home / "onyx.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | sections))

    return change


@pytest.fixture
def without_key(config, replies):
    """The scripted provider, with its key still to be entered."""
    config(providers={"scripted": {"baseUrl": replies.server.base_url, "models": ["model"]}})


async def card(client, name="scripted", **params):
    listed = (await client.ask("providers.list", **params))["providers"]
    return next(one for one in listed if one["name"] == name)


async def card_that(client, matches):
    async with asyncio.timeout(LIMIT_S):
        while not matches(found := await card(client)):
            pass
    return found


async def test_a_new_home_lists_every_known_provider_as_not_configured(config, connect, monkeypatch):
    config(agents={}, providers={})
    for provider in known_providers.KNOWN_PROVIDERS.values():
        for variable in provider.key_variables:
            monkeypatch.delenv(variable, raising=False)
    client = await connect()
    listed = await client.ask("providers.list", refresh=True)
    assert {one["name"]: one["state"] for one in listed["providers"]} == dict.fromkeys(
        [*known_providers.KNOWN_PROVIDERS, "claude-subscription", "codex"], "not_configured"
    )
    assert listed["keyStore"] == {}
    anthropic = await card(client, "anthropic")
    assert (anthropic["needsKey"], anthropic["keyVariables"]) == (True, ["ANTHROPIC_API_KEY"])


async def test_a_key_is_entered_tested_used_and_removed(without_key, connect, replies, onyx_home):
    client, other = await connect(), await connect()
    await other.ask("health.check")
    key = (await client.ask("sessions.create"))["sessionKey"]
    assert (await client.end((await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"]))[0] == "chat.error"
    assert (await client.ask("providers.test", name="scripted"))["ok"] is False
    assert (await card(client))["state"] == "failing"

    assert await client.ask("credentials.set", name="scripted", secret=KEY) == {"ok": True}
    await other.event("providers.updated")
    assert ((await card(client))["state"], (await card(client))["key"]) == ("ready", "store")
    replies.next = ["yes"]
    tested = await client.ask("providers.test", name="scripted")
    assert (tested["ok"], tested["model"], "costUsd" in tested) == (True, "scripted/model", False)
    assert (tested["totalMs"] >= tested["firstMs"] >= 0, tested["inputTokens"] > 0) == (True, True)
    assert (await card(client))["state"] == "connected"
    name, data = await client.end((await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"])
    assert (name, data["text"]) == ("chat.final", "ok")

    assert await client.ask("credentials.rotate") == {"ok": True}
    assert await client.ask("credentials.remove", name="scripted") == {"ok": True}
    assert "key" not in await card(client)
    assert (await client.end((await client.ask("chat.send", sessionKey=key, message="Hi"))["runId"]))[0] == "chat.error"
    with pytest.raises(MethodFailed, match="No key is stored"):
        await client.ask("credentials.remove", name="scripted")


async def test_a_stored_key_is_in_no_frame_file_or_log(without_key, connect, replies, onyx_home, caplog):
    client = await connect()
    await client.ask("credentials.set", name="scripted", secret=KEY)
    replies.next = [f"The key is {KEY}."]
    key = (await client.ask("sessions.create"))["sessionKey"]
    await client.end((await client.ask("chat.send", sessionKey=key, message="What is the key?"))["runId"])
    await client.ask("providers.list", refresh=True)
    assert not [frame for frame in client.raw if KEY in frame]
    files = [path for path in onyx_home.rglob("*") if path.is_file()]
    assert not [path.name for path in files if KEY.encode() in path.read_bytes()]
    assert KEY not in caplog.text


async def test_a_variable_that_the_file_names_comes_before_a_stored_key(config, connect, replies, monkeypatch):
    monkeypatch.setenv("TEAM_KEY", KEY)
    config(providers={"scripted": {"baseUrl": replies.server.base_url, "apiKey": "${TEAM_KEY}", "models": ["model"]}})
    client = await connect()
    await client.ask("credentials.set", name="scripted", secret="another-key-0123456789")
    shown = await card(client)
    assert (shown["key"], shown["variable"]) == ("reference", "TEAM_KEY")
    assert (await client.ask("providers.test", name="scripted"))["ok"] is True


async def test_a_usual_variable_comes_before_a_stored_key_and_that_before_the_file(config, connect, monkeypatch):
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    config(providers={"mistral": {"apiKey": "key-in-the-file-0123"}})
    client = await connect()
    assert (await card(client, "mistral"))["key"] == "file"
    await client.ask("credentials.set", name="mistral", secret="key-in-the-store-0123")
    assert (await card(client, "mistral"))["key"] == "store"
    monkeypatch.setenv("MISTRAL_API_KEY", "key-in-the-environment")
    await client.ask("models.list", refresh=True)
    shown = await card(client, "mistral")
    assert (shown["key"], shown["variable"]) == ("environment", "MISTRAL_API_KEY")


IN_FILE = "key-in-the-file-0123"
TEXT = """{
  providers: {
    // ours
    mistral: { apiKey: "key-in-the-file-0123", models: ["small"] },
  },
}
"""


@pytest.fixture
def literal_key(onyx_home, monkeypatch):
    """onyx.json with a key in it; returns the file."""
    monkeypatch.delenv("MISTRAL_API_KEY", raising=False)
    file = onyx_home / "onyx.json"
    file.write_text(TEXT)
    return file


async def test_a_key_in_the_file_is_warned_of_with_its_line_and_moved_to_the_store(literal_key, connect):
    client = await connect()
    (problem,) = (await client.ask("settings.get"))["problems"]
    assert (problem["severity"], problem["key"], problem["line"]) == ("notice", "providers.mistral.apiKey", 4)
    assert "Move it to the store" in problem["message"]
    assert IN_FILE not in problem["message"]
    assert (await card(client, "mistral"))["keyInFile"] is True
    assert await client.ask("credentials.move", name="mistral") == {"ok": True}
    shown = await card(client, "mistral")
    assert (shown["key"], "keyInFile" in shown) == ("store", False)
    assert literal_key.read_text() == TEXT.replace('apiKey: "key-in-the-file-0123", ', "")
    assert (await client.ask("settings.get"))["problems"] == []
    assert not [frame for frame in client.raw if IN_FILE in frame]
    with pytest.raises(MethodFailed, match="contains no key"):
        await client.ask("credentials.move", name="mistral")


async def test_a_key_that_is_in_both_places_is_moved_only_if_it_is_the_same(literal_key, connect):
    client = await connect()
    await client.ask("credentials.set", name="mistral", secret="another-key-0123456789")
    with pytest.raises(MethodFailed, match="Another key of Mistral is stored"):
        await client.ask("credentials.move", name="mistral")
    assert literal_key.read_text() == TEXT
    await client.ask("credentials.set", name="mistral", secret=IN_FILE)
    assert (await card(client, "mistral"))["keyInFile"] is True
    await client.ask("credentials.move", name="mistral")
    assert IN_FILE not in literal_key.read_text()


async def test_a_file_that_changes_while_its_key_is_moved_keeps_the_key(literal_key, connect, monkeypatch):
    put = CredentialStore.put

    def edited_meanwhile(store, name, secret):
        put(store, name, secret)
        literal_key.write_text(TEXT.replace("ours", "theirs"))

    monkeypatch.setattr(CredentialStore, "put", edited_meanwhile)
    client = await connect()
    with pytest.raises(MethodFailed, match="was changed meanwhile"):
        await client.ask("credentials.move", name="mistral")
    assert literal_key.read_text() == TEXT.replace("ours", "theirs")
    shown = await card(client, "mistral", refresh=True)
    assert (shown["key"], shown["keyInFile"]) == ("store", True)
    await client.ask("credentials.move", name="mistral")
    assert IN_FILE not in literal_key.read_text()


@pytest.mark.parametrize(
    "provider",
    [
        {"apiKey": "none", "baseUrl": "http://gpu.example:8000/v1"},
        {"apiKey": IN_FILE, "baseUrl": "http://127.0.0.1:8000/v1"},
        {"apiKey": "${TEAM_KEY}"},
    ],
)
async def test_what_is_no_key_or_stays_here_or_is_a_variable_is_not_warned_of(config, connect, monkeypatch, provider):
    monkeypatch.setenv("TEAM_KEY", IN_FILE)
    config(providers={"lab": provider})
    client = await connect()
    assert (await client.ask("settings.get"))["problems"] == []


async def test_ollama_on_this_machine_is_found_and_its_models_are_offered(connect, monkeypatch, replies):
    row = known_providers.KNOWN_PROVIDERS["lm_studio"]
    moved = replace(row, default_url=replies.server.base_url)
    monkeypatch.setitem(known_providers.KNOWN_PROVIDERS, "lm_studio", moved)
    replies.server._api_key = None
    client = await connect()
    shown = await card(client, "lm_studio", refresh=True)
    assert (shown["state"], shown["models"], shown["ownServer"]) == ("connected", ["lm_studio/scripted"], True)
    listed = {model["id"]: model for model in (await client.ask("models.list"))["models"]}
    assert listed["lm_studio/scripted"]["local"] is True


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (HttpError(401, "invalid api key"), "key"),
        (Page(200, "<html><body>Sign in</body></html>"), "model response"),
        (HttpError(404, "no such model"), "no model"),
    ],
)
async def test_a_failed_test_says_why_and_the_card_keeps_it(connect, replies, reply, words):
    replies.each = lambda request: [reply]
    client = await connect()
    tested = await client.ask("providers.test", name="scripted")
    assert (tested["ok"], words in tested["message"]) == (False, True)
    shown = await card(client)
    assert (shown["state"], shown["message"]) == ("failing", tested["message"])


async def test_a_test_that_began_with_the_former_settings_does_not_replace_a_newer_one(config, connect, replies):
    hold = Hold()
    client = await connect()
    replies.next = [[hold, Cut()], "yes"]
    first = await client.post("providers.test", name="scripted")
    await until(hold.reached.is_set)
    config(logging={"level": "debug"})
    await client.ask("models.list", refresh=True)
    assert (await client.ask("providers.test", name="scripted"))["ok"] is True
    hold.released.set()
    assert (await client.answer(first))["result"]["ok"] is False
    assert (await card(client))["state"] == "connected"


async def test_a_used_up_budget_is_no_failure_of_the_provider(config, connect):
    config(security={"budget": {"dayTokens": 0}})
    client = await connect()
    tested = await client.ask("providers.test", name="scripted")
    assert (tested["ok"], "budget" in tested["message"]) == (False, True)
    assert (await card(client))["state"] == "ready"


async def test_models_of_a_former_address_are_not_offered_any_more(config, connect, replies):
    client = await connect()
    assert "scripted/scripted" in (await card(client, refresh=True))["models"]
    config(providers={"scripted": {"baseUrl": "http://127.0.0.1:9/v1", "models": ["model"]}})
    shown = await card_that(client, lambda one: one["baseUrl"] != replies.server.base_url)
    assert shown["models"] == ["scripted/model"]


async def test_a_key_that_another_server_stores_is_used_and_one_that_was_removed_stays_hidden(
    without_key, connect, onyx_home, replies
):
    client = await connect()
    assert "key" not in await card(client)
    home = Home(onyx_home)
    other = CredentialStore(home.credentials_file, MasterKeys(home.credentials_key_file, lambda: None))
    other.put("scripted", PLAIN_KEY)
    await card_that(client, lambda one: one.get("key") == "store")
    await client.ask("credentials.remove", name="scripted")
    replies.server._api_key = None
    replies.next = [f"The key was {PLAIN_KEY}."]
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="What was the key?"))["runId"]
    assert (await client.end(run_id))[0] == "chat.final"
    assert not [frame for frame in client.raw if PLAIN_KEY in frame]


async def test_an_address_that_is_none_harms_only_its_provider(config, connect, replies):
    own = {"baseUrl": replies.server.base_url, "apiKey": KEY, "models": ["model"]}
    wrong = {"baseUrl": "http://[::1/v1", "models": ["model"]}
    config(providers={"scripted": own, "lab": wrong}, tools={"web": {"searxngUrl": "http://[bad"}})
    client = await connect()
    assert (await card(client, "lab", refresh=True))["state"] == "failing"
    assert (await client.ask("providers.test", name="lab"))["ok"] is False
    assert (await client.ask("providers.test", name="scripted"))["ok"] is True


async def test_a_provider_without_a_key_can_be_tested_once_its_own_fields_are_set(config, connect):
    config(providers={"bedrock": {"region": "eu-west-1", "models": ["claude"]}, "azure": {"apiVersion": "2024-10-21"}})
    client = await connect()
    assert (await card(client, "bedrock"))["state"] == "ready"
    assert (await card(client, "azure"))["state"] == "not_configured"
    assert (await card(client, "vertex"))["state"] == "not_configured"


async def test_a_test_needs_a_model_of_that_provider(connect):
    client = await connect()
    with pytest.raises(MethodFailed, match="not a model of"):
        await client.ask("providers.test", name="scripted", model="openai/gpt-5")
    with pytest.raises(MethodFailed, match="no model of"):
        await client.ask("providers.test", name="bedrock")


async def test_a_damaged_store_is_reported_and_the_rest_works(connect, onyx_home):
    (onyx_home / "credentials.json").write_text("{")
    client = await connect()
    assert "damaged" in (await client.ask("providers.list"))["keyStore"]["problem"]
    assert (await client.ask("health.check"))["components"]["credentials"]["ok"] is False
    assert (await client.ask("providers.test", name="scripted"))["ok"] is True
