"""Who gets in: whoever Jupyter lets in, from no page but its own."""

import json

import pytest
from jupyter_server.auth.authorizer import AllowAllAuthorizer
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

from onyx_jupyter.clock import SystemClock
from onyx_jupyter.features.status.wire import Health
from onyx_jupyter.security.audit import AuditLog
from onyx_jupyter.server.refusals import PER_MINUTE, Refusals
from onyx_jupyter.testing.fake_clock import FakeClock
from tests.waiting import until


def url_of(app, path: str = "onyx/ws", scheme: str = "ws") -> str:
    return f"{scheme}://localhost:{app.port}{app.base_url}{path}"


@pytest.mark.parametrize("header", [{}, {"Authorization": "token wrong"}, {"Authorization": "Bearer wrong"}])
async def test_without_correct_token_access_is_denied(jp_serverapp, jp_ws_fetch, header, caplog):
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("onyx", "ws", headers={"Authorization": "", **header})
    assert refused.value.code == 403
    await until(lambda: "Couldn't authenticate WebSocket connection" in caplog.text)


async def test_wrong_token_in_url_is_denied_and_not_logged(jp_serverapp, http_server, caplog):
    with pytest.raises(HTTPClientError) as refused:
        await websocket_connect(url_of(jp_serverapp) + "?token=wrong-0123456789")
    assert refused.value.code == 403
    await until(lambda: "Couldn't authenticate WebSocket connection" in caplog.text)
    assert "wrong-0123456789" not in caplog.text


async def test_correct_token_works_in_header_and_url(jp_serverapp, http_server, connect, caplog):
    token = jp_serverapp.identity_provider.token
    assert (await (await connect()).ask("health.check"))["status"] == "ok"
    socket = await websocket_connect(url_of(jp_serverapp) + f"?token={token}")
    await socket.write_message('{"id":"a","method":"health.check"}')
    assert json.loads(await socket.read_message())["result"]["status"] == "ok"
    socket.close()
    started = caplog.text.rindex("Opening websocket")
    assert token not in caplog.text[started:]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "https://localhost.evil.example", "null", "http://localhost:1"]
)
@pytest.mark.parametrize("place", ["header", "address"])
async def test_foreign_origin_is_denied_even_with_correct_token(
    jp_serverapp, jp_ws_fetch, jp_auth_header, origin, place
):
    token = jp_serverapp.identity_provider.token
    headers = {"Origin": origin, "Authorization": f"token {token}" if place == "header" else ""}
    params = {"token": token} if place == "address" else {}
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("onyx", "ws", headers=headers, params=params)
    assert refused.value.code == 403


async def test_jupyters_own_page_gets_access(jp_serverapp, connect, jp_http_port):
    client = await connect(headers={"Origin": f"http://localhost:{jp_http_port}"})
    assert (await client.ask("health.check"))["status"] == "ok"


async def test_http_health_needs_token_and_matches_socket(jp_fetch, connect):
    for headers in ({"Authorization": ""}, {"Authorization": "token wrong"}):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("onyx", "health", headers=headers)
        assert refused.value.code == 403
    response = await jp_fetch("onyx", "health")
    body = json.loads(response.body)
    Health.model_validate(body)
    over_socket = await (await connect()).ask("health.check")
    assert {**body, "uptime": 0} == {**over_socket, "uptime": 0}


async def test_rejected_client_starts_nothing(jp_serverapp, jp_ws_fetch, onyx_home):
    with pytest.raises(HTTPClientError):
        await jp_ws_fetch("onyx", "ws", headers={"Authorization": ""})
    await until(lambda: refusals(onyx_home))
    assert {path.stem for path in onyx_home.iterdir()} == {"audit", "onyx"}


async def test_rejected_client_is_audited_without_credentials(
    jp_serverapp, jp_ws_fetch, jp_fetch, jp_auth_header, onyx_home, http_server
):
    attempts = [
        lambda: websocket_connect(url_of(jp_serverapp) + "?token=wrong-0123456789"),
        lambda: jp_ws_fetch("onyx", "ws", headers={"Origin": "http://evil.example", **jp_auth_header}),
        lambda: jp_fetch("onyx", "health", headers={"Authorization": "token wrong-0123456789"}),
    ]
    for count, attempt in enumerate(attempts, start=1):
        with pytest.raises(HTTPClientError) as refused:
            await attempt()
        assert refused.value.code == 403
        await until(lambda count=count: len(refusals(onyx_home)) == count)
    without_login, foreign, over_http = refusals(onyx_home)
    assert (without_login["reason"], without_login["door"]) == ("no valid login", f"{jp_serverapp.base_url}onyx/ws")
    assert foreign["origin"] == "http://evil.example"
    assert foreign["reason"].startswith("not allowed for ")
    assert (over_http["reason"], over_http["door"]) == ("no valid login", f"{jp_serverapp.base_url}onyx/health")
    assert "from" in over_http
    assert "0123456789" not in (onyx_home / "audit.jsonl").read_text()
    assert (await AuditLog(onyx_home / "audit.jsonl", SystemClock()).verify()).ok


async def test_accepted_client_is_not_audited_as_rejected(connect, jp_fetch, onyx_home):
    await (await connect()).ask("health.check")
    await jp_fetch("onyx", "health")
    with pytest.raises(HTTPClientError):
        await jp_fetch("onyx", "health", headers={"Authorization": ""})
    await until(lambda: refusals(onyx_home))
    assert len(refusals(onyx_home)) == 1


async def test_flood_of_rejections_is_counted_without_filling_disk(onyx_home):
    clock = FakeClock()
    noting = Refusals(clock)
    for _ in range(PER_MINUTE + 40):
        noting.note({"door": "x"})
    clock.advance(60)
    noting.note({"door": "last"})
    await until(lambda: len(refusals(onyx_home)) == PER_MINUTE + 1)
    assert [item for item in refusals(onyx_home) if "leftOutBefore" in item] == [refusals(onyx_home)[-1]]
    assert (refusals(onyx_home)[-1]["door"], refusals(onyx_home)[-1]["leftOutBefore"]) == ("last", 40)
    await noting.close()


def refusals(onyx_home):
    path = onyx_home / "audit.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [item for item in map(json.loads, lines) if item["event"] == "refused"]


@pytest.mark.parametrize("path", ["ws", "health"])
async def test_client_rejected_by_authorizer_has_no_access(jp_serverapp, jp_ws_fetch, jp_fetch, path, monkeypatch):
    refused_for = []

    class NobodyOnOnyx(AllowAllAuthorizer):
        def is_authorized(self, handler, user, action, resource):
            refused_for.append((action, resource))
            return resource != "onyx"

    monkeypatch.setitem(jp_serverapp.web_app.settings, "authorizer", NobodyOnOnyx())
    with pytest.raises(HTTPClientError) as refused:
        await (jp_ws_fetch if path == "ws" else jp_fetch)("onyx", path)
    assert refused.value.code == 403
    assert refused_for[-1][1] == "onyx"
