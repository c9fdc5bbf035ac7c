"""Authentication on the socket of a real Jupyter server."""

import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tornado.httpclient import HTTPClientError
from tornado.websocket import websocket_connect

from tests.waiting import until

TOKEN = "3f9c0a77d1e24b5c"
TOKENS = (
    st.just(TOKEN)
    | st.text(string.ascii_letters + string.digits + "-_.~", max_size=40)
    | st.integers(0, len(TOKEN)).map(lambda end: TOKEN[:end])
    | st.sampled_from([TOKEN.upper(), TOKEN + "0", "0" + TOKEN, TOKEN * 2])
)
HOSTS = st.sampled_from(["evil.example", "localhost", "127.0.0.1", "localhost.evil.example"])


@pytest.fixture
def jp_server_config(tmp_path, monkeypatch):
    monkeypatch.setenv("ONYX_HOME", str(tmp_path / "onyx-home"))
    return {"ServerApp": {"jpserver_extensions": {"onyx_jupyter": True}}, "IdentityProvider": {"token": TOKEN}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(token=TOKENS, place=st.sampled_from(["header", "bearer", "address"]), origin=st.none() | HOSTS)
def test_connection_is_accepted_only_with_token_from_jupyters_own_page(
    jp_ws_fetch, jp_asyncio_loop, jp_http_port, caplog, token, place, origin
):
    """Property 1: For any authentication token, the Gateway SHALL accept the connection if and only if the token
    matches the stored token; invalid tokens SHALL be rejected and the rejection SHALL be logged."""
    caplog.clear()
    headers = {"Authorization": {"header": f"token {token}", "bearer": f"Bearer {token}", "address": ""}[place]}
    if origin is not None:
        headers["Origin"] = f"http://{origin}:{jp_http_port}"
    params = {"token": token} if place == "address" else {}

    async def connects() -> bool:
        try:
            socket = await jp_ws_fetch("onyx", "ws", headers=headers, params=params)
        except HTTPClientError as error:
            await until(lambda: "authenticate WebSocket" in caplog.text or "Cross Origin" in caplog.text)
            return error.code != 403
        await socket.write_message("not json")
        assert "-32700" in await socket.read_message()
        socket.close()
        return True

    accepted = jp_asyncio_loop.run_until_complete(connects())
    assert accepted == (token == TOKEN and origin in (None, "localhost"))
    if token != TOKEN and len(token) >= 8:
        assert token not in caplog.text.replace(TOKEN, "")


def test_without_token_nothing_is_accepted(jp_serverapp, jp_asyncio_loop, http_server):
    """Property 1: … if and only if the token matches the stored token."""

    async def connects() -> None:
        await websocket_connect(f"ws://localhost:{jp_serverapp.port}{jp_serverapp.base_url}onyx/ws")

    with pytest.raises(HTTPClientError):
        jp_asyncio_loop.run_until_complete(connects())
