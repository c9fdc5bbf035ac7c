"""Finds the Jupyter server that started this kernel, or the one whose root contains its folder. It never connects."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from onyx_jupyter.errors import MagicError

URL, TOKEN = "ONYX_URL", "ONYX_TOKEN"
HUB_TOKEN, HUB_PREFIX = "JUPYTERHUB_API_TOKEN", "JUPYTERHUB_SERVICE_PREFIX"
PARENT = "JPY_PARENT_PID"
_WILDCARDS = ("", "0.0.0.0", "::", "*")  # nosec B104 # recognised, never listened on
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CONNECT_TIMEOUT_S = 0.5


@dataclass(frozen=True)
class ServerAddress:
    """A server's address: `url` ends in a slash and never contains `token`. `is_local`: found by its runtime file."""

    url: str
    token: str
    is_local: bool = False

    @property
    def socket_url(self) -> str:
        scheme, rest = self.url.split("://", 1)
        return f"{'wss' if scheme == 'https' else 'ws'}://{rest}onyx/ws"

    def page(self, path: str) -> str:
        """Where JupyterLab opens that file: the browser that shows the answer may know the server by another host."""
        return f"{urlsplit(self.url).path if self.is_local else self.url}lab/tree/{quote(path)}"

    @property
    def is_loopback(self) -> bool:
        return urlsplit(self.url).hostname in _LOOPBACK


def find_server(environment: Mapping[str, str], runtime_folder: Path, place: Path) -> ServerAddress:
    """`ONYX_URL`, else the server that started this kernel, else a live one whose root contains `place`.

    `place` is the notebook, or the kernel's folder if that is unknown. Raises: MagicError (no_server).
    """
    if environment.get(URL):
        return _from_environment(environment)
    looked = [f"{URL} is not set"]
    parent = environment.get(PARENT, "")
    started_by = _read(runtime_folder / f"jpserver-{parent}.json") if parent.isdigit() else None
    if started_by is not None:
        return _address(started_by, _hub_token(started_by, environment))
    looked.append(
        f"this kernel was not started by a Jupyter server ({PARENT} is {parent or 'not set'}, "
        f"and there is no jpserver-{parent or '<pid>'}.json in {runtime_folder})"
    )
    for server in _by_depth(runtime_folder, place):
        if _answers(server):
            return _address(server, _hub_token(server, environment) if _is_alive(server.get("pid")) else "")
    looked.append(f"no running server serves {place}")
    raise MagicError(
        "no_server",
        f"No Jupyter server with Onyx found: {'; '.join(looked)}.",
        hint=f"Start JupyterLab in that folder, or set {URL} (http://localhost:8888/) and {TOKEN}.",
    )


def _from_environment(environment: Mapping[str, str]) -> ServerAddress:
    parts = urlsplit(environment[URL])
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MagicError(
            "no_server",
            f"{URL} is not a valid server URL: it needs http:// or https:// and a host.",
            hint=f"For example {URL}=http://localhost:8888/ and the token in {TOKEN}.",
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = f":{parts.port}" if parts.port else ""
    path = parts.path.removesuffix("lab").rstrip("/")
    return ServerAddress(f"{parts.scheme}://{host}{port}{path}/", environment.get(TOKEN, ""))


def _hub_token(server: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """A Hub's server accepts the Hub's token, which is in every kernel's environment and for that server alone."""
    is_the_hubs = server.get("base_url") == environment.get(HUB_PREFIX)
    return environment.get(HUB_TOKEN, "") if is_the_hubs else ""


def _address(server: Mapping[str, Any], hub_token: str = "") -> ServerAddress:
    if server.get("sock"):
        raise MagicError(
            "no_server",
            f"The Jupyter server listens on the UNIX socket {server['sock']}, which Onyx's magics do not support.",
            hint=f"Make it listen on a port too, and set {URL}.",
        )
    host = str(server.get("hostname") or "")
    host = "127.0.0.1" if host in _WILDCARDS else host
    scheme = "https" if server.get("secure") else "http"
    base = str(server.get("base_url") or "/").strip("/")
    shown = f"[{host}]" if ":" in host else host
    url = f"{scheme}://{shown}:{server['port']}/{base + '/' if base else ''}"
    return ServerAddress(url, str(server.get("token") or hub_token), is_local=True)


def _by_depth(runtime_folder: Path, place: Path) -> Iterator[dict[str, Any]]:
    """The servers whose root contains the place: the nearest root first, among equals the latest start."""
    place = _real(place)
    found = []
    for file in runtime_folder.glob("jpserver-*.json"):
        server = _read(file)
        if server is None or not server.get("root_dir"):
            continue
        root = _real(Path(str(server["root_dir"])))
        if root == place or root in place.parents:
            found.append((len(root.parts), _age(file), server))
    found.sort(key=lambda item: item[:2], reverse=True)
    return (server for _, _, server in found)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        server = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return server if isinstance(server, dict) and isinstance(server.get("port"), int) else None


def _answers(server: Mapping[str, Any]) -> bool:
    """Whether anything listens there: a killed server leaves its file behind."""
    host = str(server.get("hostname") or "")
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1" if host in _WILDCARDS else host, server["port"]), _CONNECT_TIMEOUT_S),
    ):
        return True
    return False


def _is_alive(pid: Any) -> bool:
    """Whether it is a process of this user: the port in a killed server's file may belong to anybody by now."""
    if os.name == "nt" or not isinstance(pid, int) or pid <= 0:
        return False
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


def _age(file: Path) -> float:
    with contextlib.suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
