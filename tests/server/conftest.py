"""A real Jupyter server with the extension, its home in a temporary folder, its model on a scripted server."""

import json

import pytest

from onyx_jupyter.testing.scripted_server import ScriptedServer
from tests.server.client import Client

KEY = "sk-test-0123456789abcdef-secret"


class Replies:
    """What the model says, set by each test in order or by `each` request; `requests` is what it was asked."""

    def __init__(self) -> None:
        self.next = []
        self.each = lambda request: self.next.pop(0) if self.next else "ok"
        self.server = ScriptedServer(lambda request: self.each(request), api_key=KEY, goes_on=False)

    @property
    def requests(self):
        return self.server.completions


@pytest.fixture
def replies():
    replies = Replies()
    with replies.server:
        yield replies


@pytest.fixture
def onyx_home(tmp_path, replies, monkeypatch):
    home = tmp_path / "onyx-home"
    home.mkdir(mode=0o700)
    config = {
        "agents": {"defaults": {"model": "scripted/model"}},
        # The embedded one works everywhere, and takes half a second of each server.
        "memory": {"embedder": "none"},
        "providers": {"scripted": {"baseUrl": replies.server.base_url, "apiKey": KEY, "models": ["model"]}},
    }
    (home / "onyx.json").write_text(json.dumps(config))
    monkeypatch.setenv("ONYX_HOME", str(home))
    return home


@pytest.fixture
def embedded_embedder(onyx_home):
    """Searches by meaning too, with the model that comes with the package."""
    file = onyx_home / "onyx.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"memory": {"embedder": "local"}}))


@pytest.fixture
def jp_server_config(onyx_home):
    # A token that is the same each time: a random one may begin with the letter on which a piece of an answer ends,
    # and that letter then comes with the next piece: it might begin the token or a base64 form of it (here capitals).
    token = {"token": "AA-token-of-this-server"}
    return {"ServerApp": {"jpserver_extensions": {"onyx_jupyter": True}}, "IdentityProvider": token}


@pytest.fixture
def connect(jp_ws_fetch, jp_asyncio_loop):
    """Opens sockets, and closes them after the test."""
    clients = []

    async def open_client(**kwargs):
        client = Client(await jp_ws_fetch("onyx", "ws", **kwargs))
        clients.append(client)
        return client

    yield open_client

    async def close_all():
        for client in clients:
            await client.close()

    jp_asyncio_loop.run_until_complete(close_all())
