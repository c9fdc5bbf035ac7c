"""Where the server is, from the environment and Jupyter's runtime files."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.server_address import ServerAddress, find_server

HUB = {"JUPYTERHUB_API_TOKEN": "of the hub", "JUPYTERHUB_SERVICE_PREFIX": "/user/ada/"}


@pytest.fixture
def listening() -> Iterator[int]:
    """A port on which somebody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent() -> Iterator[int]:
    """A port on which nobody does."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def write(folder: Path, pid: int, /, **facts: Any) -> None:
    given = {"port": 1, "token": f"token-{pid}", "hostname": "localhost", "base_url": "/", "secure": False, **facts}
    (folder / f"jpserver-{pid}.json").write_text(json.dumps(given))


def test_server_that_started_kernel_is_preferred(tmp_path: Path, listening: int) -> None:
    write(tmp_path, 7, port=8888, hostname="0.0.0.0", base_url="/user/ada/", secure=True)
    write(tmp_path, 8, port=listening, root_dir=str(tmp_path))
    found = find_server({"JPY_PARENT_PID": "7"}, tmp_path, tmp_path)
    assert found == ServerAddress("https://127.0.0.1:8888/user/ada/", "token-7", is_local=True)
    assert found.socket_url == "wss://127.0.0.1:8888/user/ada/onyx/ws"
    # A browser knows this server by another name; one that its person named is known by that.
    assert found.page("Onyx:runs/a b.ipynb") == "/user/ada/lab/tree/Onyx%3Aruns/a%20b.ipynb"
    assert ServerAddress("https://x.example/", "").page("a.ipynb") == "https://x.example/lab/tree/a.ipynb"


def test_otherwise_nearest_running_server_of_folder_is_used(tmp_path: Path, listening: int, silent: int) -> None:
    inner = tmp_path / "project" / "deep"
    inner.mkdir(parents=True)
    write(tmp_path, 1, port=listening, root_dir=str(tmp_path))
    write(tmp_path, 2, port=listening, root_dir=str(tmp_path / "project"))
    write(tmp_path, 3, port=silent, root_dir=str(inner))
    write(tmp_path, 4, port=listening, root_dir=str(tmp_path / "elsewhere"))
    (tmp_path / "jpserver-5.json").write_text("{ torn")
    assert find_server({"JPY_PARENT_PID": "99"}, tmp_path, inner / "n.ipynb").token == "token-2"
    os.utime(tmp_path / "jpserver-1.json", (1, 1))
    write(tmp_path, 6, port=listening, root_dir=str(tmp_path))
    assert find_server({}, tmp_path, tmp_path).token == "token-6"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:8888", "http://localhost:8888/"),
        ("https://hub.example/user/ada/lab?token=secret", "https://hub.example/user/ada/"),
        ("http://[::1]:8888/x/", "http://[::1]:8888/x/"),
    ],
)
def test_environment_variables_take_precedence(tmp_path: Path, url: str, expected: str) -> None:
    write(tmp_path, 7)
    found = find_server({"ONYX_URL": url, "ONYX_TOKEN": "mine", "JPY_PARENT_PID": "7"}, tmp_path, tmp_path)
    assert found == ServerAddress(expected, "mine")


def test_hub_server_token_is_used_on_a_hub(tmp_path: Path) -> None:
    write(tmp_path, 7, token="", base_url="/user/ada/")
    assert find_server({**HUB, "JPY_PARENT_PID": "7"}, tmp_path, tmp_path).token == "of the hub"


def test_hub_token_is_sent_to_no_other_server(tmp_path: Path, listening: int) -> None:
    somewhere = find_server({**HUB, "ONYX_URL": "http://colleague:8888/user/ada/"}, tmp_path, tmp_path)
    assert somewhere.token == ""
    write(tmp_path, 7, token="", base_url="/user/eve/")
    assert find_server({**HUB, "JPY_PARENT_PID": "7"}, tmp_path, tmp_path).token == ""
    write(tmp_path, 8, port=listening, token="", base_url="/user/ada/", root_dir=str(tmp_path))
    assert find_server(HUB, tmp_path, tmp_path).token == ""
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    found = {"port": listening, "token": "", "base_url": "/user/ada/", "root_dir": str(tmp_path)}
    write(tmp_path, 8, **found, pid=ended.pid)
    assert find_server(HUB, tmp_path, tmp_path).token == ""
    write(tmp_path, 8, **found, pid=os.getpid())  # it lives: what runs beside the kernels, as nbconvert, finds it so
    assert find_server(HUB, tmp_path, tmp_path).token == "of the hub"


def test_error_says_what_was_searched_without_token(tmp_path: Path, silent: int) -> None:
    write(tmp_path, 3, port=silent, root_dir=str(tmp_path))
    with pytest.raises(MagicError) as caught:
        find_server({"JPY_PARENT_PID": "12"}, tmp_path, tmp_path)
    message = f"{caught.value} {caught.value.hint}"
    for words in ("ONYX_URL is not set", "jpserver-12.json", str(tmp_path), "ONYX_TOKEN"):
        assert words in message
    assert "token-3" not in message
    with pytest.raises(MagicError, match="not a valid server URL"):
        find_server({"ONYX_URL": "localhost:8888"}, tmp_path, tmp_path)
    write(tmp_path, 7, sock="/run/jupyter.sock")
    with pytest.raises(MagicError, match="UNIX socket"):
        find_server({"JPY_PARENT_PID": "7"}, tmp_path, tmp_path)
