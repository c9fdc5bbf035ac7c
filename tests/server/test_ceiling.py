"""`c.OnyxApp.ceiling` on a real server: every door holds to it, and with a mistake in it nobody is served."""

import json

import pytest
from tornado.httpclient import HTTPClientError

from onyx_jupyter.testing.script import Call
from tests.server.client import MethodFailed
from tests.server.test_real_server import RealServer

CEILING = {
    "deny": ["exec", "group:web"],
    "modes": ["ask", "agent"],
    "providers": ["local", "http://127.0.0.1"],
    "allowAlways": False,
}


@pytest.fixture
def ceiling():
    return CEILING


@pytest.fixture
def jp_server_config(jp_server_config, ceiling, replies):
    address = replies.server.base_url
    if isinstance(ceiling, dict) and "providers" in ceiling:
        ceiling = {**ceiling, "providers": [address if one.startswith("http") else one for one in ceiling["providers"]]}
    return {**jp_server_config, "OnyxApp": {"ceiling": ceiling}}


def also_configured(onyx_home, **more):
    path = onyx_home / "onyx.json"
    config = json.loads(path.read_text())
    config["providers"] |= more
    path.write_text(json.dumps(config))


async def test_denied_tools_are_not_offered_and_rejected_with_audit_entry(connect, replies, onyx_home):
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    replies.next = [[Call("exec", {"command": "touch made"})], "Not done"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Make it"))["runId"]
    assert (await client.end(run_id))[1]["text"] == "Not done"
    names = {tool["function"]["name"] for tool in replies.requests[0].body["tools"]}
    assert "read" in names
    assert not names & {"exec", "web_search", "web_fetch", "http_fetch"}
    finished = await client.event("tool.finished", tool="exec")
    assert (finished["ok"], finished["output"]) == (False, "Denied: Not allowed on this server: exec.")
    assert client.events("exec.approval_request") == []
    lines = [json.loads(line) for line in (onyx_home / "audit.jsonl").read_text().splitlines()]
    (decision,) = [line for line in lines if line["event"] == "decision"]
    assert (decision["tool"], decision["decision"], decision["by"]) == ("exec", "denied", "ceiling")


async def test_disallowed_modes_and_models_are_rejected_by_name(connect, replies, onyx_home):
    also_configured(onyx_home, lab={"baseUrl": "http://127.0.0.1:1/v1", "models": ["big"]})
    client = await connect()
    key = (await client.ask("sessions.create"))["sessionKey"]
    for params in ({"mode": "auto"}, {"model": "lab/big"}, {"model": "openai/x"}):
        with pytest.raises(MethodFailed, match="Not allowed on this server") as refused:
            await client.ask("chat.send", sessionKey=key, message="Go", **params)
        assert [refused.value.data["field"]] == list(params)
    with pytest.raises(MethodFailed, match="Not allowed on this server"):
        await client.ask("sessions.create", model="lab/big")
    assert (await client.ask("sessions.get", sessionKey=key))["messages"][1:] == []
    assert replies.requests == []
    listed = {one["id"]: one.get("locked", False) for one in (await client.ask("models.list", refresh=True))["models"]}
    assert (listed["scripted/model"], listed["lab/big"]) == (False, True)


async def test_settings_offer_no_model_of_a_locked_provider(connect, onyx_home):
    also_configured(onyx_home, other={"baseUrl": "https://elsewhere.example/v1", "models": ["big"]})
    client = await connect()
    cards = {one["name"]: one for one in (await client.ask("providers.list"))["providers"]}
    assert (cards["other"]["state"], cards["other"]["models"]) == ("locked", [])
    assert cards["scripted"]["models"] == ["scripted/model"]


async def test_health_reports_ceiling(connect):
    health = await (await connect()).ask("health.check")
    assert health["ceiling"]["modes"] == ["ask", "agent"]
    assert health["ceiling"]["deny"] == ["exec", "group:web"]
    assert health["ceiling"]["allowAlways"] is False


@pytest.mark.parametrize("ceiling", [{}])
async def test_without_ceiling_health_omits_it_and_all_modes_exist(connect, ceiling):
    client = await connect()
    assert "ceiling" not in await client.ask("health.check")
    key = (await client.ask("sessions.create"))["sessionKey"]
    run_id = (await client.ask("chat.send", sessionKey=key, message="Go", mode="auto"))["runId"]
    assert (await client.end(run_id))[0] == "chat.final"


@pytest.mark.parametrize(
    ("ceiling", "said"),
    [
        ("exec", "must be a dict"),
        ({"denied": ["exec"]}, "unknown key 'denied'"),
        ({"modes": ["agent"]}, "it must include 'ask'"),
        ({"deny": ["exce"]}, "Did you mean exec?"),
        ({"deny": ["group:shell"]}, "'group:shell'"),
    ],
)
async def test_invalid_ceiling_blocks_requests_and_is_in_health_and_log(
    jp_fetch, jp_ws_fetch, jp_serverapp, caplog, ceiling, said
):
    health = json.loads((await jp_fetch("onyx", "health")).body)
    assert health["status"] == "degraded"
    assert said in health["components"]["ceiling"]["message"]
    assert "administrator" in health["components"]["ceiling"]["hint"]
    for _ in range(2):
        with pytest.raises(HTTPClientError) as refused:
            await jp_ws_fetch("onyx", "ws")
        assert refused.value.code == 503
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("onyx", "knowledge", "uploads", method="POST", body="", params={"name": "a.txt"})
    assert refused.value.code == 503
    assert said in json.loads(refused.value.response.body)["message"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--OnyxApp.ceiling={'deny': ['exec'], 'modes': ['ask']}", None),
        ("--OnyxApp.cieling={'deny': ['exec']}", "c.OnyxApp.cieling: unknown option"),
        ("--OnyxApp.ceiling=exec", "must be a dict"),
    ],
)
async def test_command_line_overrides_user_file_and_misspelt_option_blocks_requests(tmp_path, onyx_home, option, said):
    server = RealServer(tmp_path, onyx_home)
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "jupyter_server_config.py").write_text("c.OnyxApp.ceiling = {}\n")
    server.start(option)
    try:
        await server.up()
        if said is None:
            client = await server.client()
            assert (await client.ask("health.check"))["ceiling"]["modes"] == ["ask"]
            await client.close()
        else:
            with pytest.raises(HTTPClientError):
                await server.client()
            assert said in server.log.read_text()
    finally:
        server.kill()
