"""A real server with a scripted model, and kernels of it with the magics loaded."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import websocket

from tests.e2e.lab_server import TOKEN, LabServer, until
from tests.e2e.stage import Stage
from tests.magics.cells import Cells, api


@pytest.fixture(scope="session")
def provider() -> Iterator[Stage]:
    stage = Stage()
    with stage.server:
        yield stage
    stage.close()


def answers(server: LabServer) -> bool:
    """Whether somebody listens by now: the file that says where comes a moment before."""
    with contextlib.suppress(OSError):
        return bool(api(server, "api/status"))
    return False


@pytest.fixture(scope="session")
def lab(provider: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    server = LabServer(tmp_path_factory.mktemp("magics"), provider.config())
    server.start()
    until(lambda: answers(server))
    yield server
    server.stop()


@pytest.fixture
def stage(provider: Stage) -> Iterator[Stage]:
    """The provider with an empty script. Afterwards: nobody asked it more than the test had planned."""
    provider.play()
    yield provider
    assert provider.server.failures == []


@pytest.fixture
def kernel(lab: LabServer, request: pytest.FixtureRequest) -> Iterator[Cells]:
    """A kernel of a notebook of this test, with the magics loaded."""
    name = f"{request.node.name.removeprefix('test_')[:40]}.ipynb"
    lab.notebook(name, "1")
    cells = Cells(lab, name)
    loaded = cells.run("%load_ext onyx_jupyter")
    assert loaded.status == "ok", loaded.traceback
    yield cells
    cells.close()


class Peer:
    """Another client of the same server, such as a sidebar."""

    def __init__(self, lab: LabServer) -> None:
        url = lab.url("onyx/ws").partition("?")[0].replace("http", "ws", 1)
        self._socket = websocket.create_connection(url, header=[f"Authorization: token {TOKEN}"], timeout=60)
        self._asked = 0

    def ask(self, method: str, **params: Any) -> Any:
        self._asked += 1
        self._socket.send(json.dumps({"id": str(self._asked), "method": method, "params": params}))
        while True:
            frame = json.loads(self._socket.recv())
            if frame.get("id") == str(self._asked):
                assert "error" not in frame, frame
                return frame["result"]

    def event(self, name: str, matches: Callable[[Any], bool] = lambda data: True) -> Any:
        while True:
            frame = json.loads(self._socket.recv())
            if frame.get("event") == name and matches(frame["data"]):
                return frame["data"]

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def peer(lab: LabServer) -> Iterator[Peer]:
    client = Peer(lab)
    yield client
    client.close()
