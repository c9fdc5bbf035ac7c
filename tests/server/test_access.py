"""Who gets in: whoever Jupyter lets in, from no page but its own."""

import json

import pytest
from jupyter_server.auth.authorizer import AllowAllAuthorizer
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

from onyx_jupyter.server.wire.status import Health
from tests.waiting import until


def url_of(app, path: str = "onyx/ws", scheme: str = "ws") -> str:
    return f"{scheme}://localhost:{app.port}{app.base_url}{path}"


@pytest.mark.parametrize("header", [{}, {"Authorization": "token wrong"}, {"Authorization": "Bearer wrong"}])
async def test_without_the_right_token_there_is_no_access(jp_serverapp, jp_ws_fetch, header, caplog):
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("onyx", "ws", headers={"Authorization": "", **header})
    assert refused.value.code == 403
    await until(lambda: "Couldn't authenticate WebSocket connection" in caplog.text)


async def test_a_wrong_token_in_the_address_gives_no_access_and_is_in_no_log(jp_serverapp, http_server, caplog):
    with pytest.raises(HTTPClientError) as refused:
        await websocket_connect(url_of(jp_serverapp) + "?token=wrong-0123456789")
    assert refused.value.code == 403
    await until(lambda: "Couldn't authenticate WebSocket connection" in caplog.text)
    assert "wrong-0123456789" not in caplog.text


async def test_the_right_token_opens_in_header_and_address(jp_serverapp, http_server, connect, caplog):
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
async def test_a_foreign_page_gets_no_access_even_with_the_right_token(
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


async def test_health_over_http_needs_the_token_and_says_the_same(jp_fetch, connect):
    for headers in ({"Authorization": ""}, {"Authorization": "token wrong"}):
        with pytest.raises(HTTPClientError) as refused:
            await jp_fetch("onyx", "health", headers=headers)
        assert refused.value.code == 403
    response = await jp_fetch("onyx", "health")
    body = json.loads(response.body)
    Health.model_validate(body)
    over_socket = await (await connect()).ask("health.check")
    assert {**body, "uptime": 0} == {**over_socket, "uptime": 0}


async def test_a_refused_client_starts_nothing(jp_serverapp, jp_ws_fetch, onyx_home):
    with pytest.raises(HTTPClientError):
        await jp_ws_fetch("onyx", "ws", headers={"Authorization": ""})
    assert sorted(path.name for path in onyx_home.iterdir()) == ["onyx.json"]


@pytest.mark.parametrize("path", ["ws", "health"])
async def test_whom_jupyters_authorizer_refuses_has_no_access(jp_serverapp, jp_ws_fetch, jp_fetch, path, monkeypatch):
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
