"""What the settings panel asks for: the list of providers, and the search for servers when none answers."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import ProviderProcess
from benchmarks.socket_client import SocketClient
from benchmarks.streaming import reply_delays_ms

ROUNDS = 9
SILENT = 10
METHOD = (
    f"A real server. {SILENT} configured servers that accept a connection and never answer, {SILENT} addresses at "
    "which nothing listens and one on a network that leads nowhere (RFC 5737); `providers.list` with and without "
    "`refresh`, from the request to its reply. Memory is the server's proportional set size (PSS) with a connection "
    "open, before and after answers of a server that is asked directly."
)


def measure() -> Group:
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(SILENT)]
        closed = [socket.create_server(("127.0.0.1", 0)) for _ in range(SILENT)]
        addresses = [f"http://127.0.0.1:{one.getsockname()[1]}/v1" for one in (*silent, *closed)]
        for one in closed:
            one.close()
        addresses.append("http://192.0.2.1/v1")
        providers = {f"server-{number}": {"baseUrl": address} for number, address in enumerate(addresses)}
        with _server({"providers": providers}) as server, SocketClient(server.port, server.token) as client:
            client.call("providers.list")
            listed = [_took_ms(client, refresh=False) for _ in range(ROUNDS)]
            refreshed = [_took_ms(client, refresh=True) / 1000 for _ in range(3)]
    before_mb, after_mb = _memory_mb()
    return Group(
        "Settings panel",
        METHOD,
        [
            Figure("list of providers, with the prices already read", listed, "ms", 300),
            Figure("servers looked for, none of which answers", refreshed, "s", 2),
            Figure("memory with the sidebar open", [before_mb], "MB", 130, digits=0),
            Figure("  after answers of a server that is asked directly", [after_mb], "MB", 130, digits=0),
        ],
    )


def _server(configuration: dict[str, object]) -> JupyterProcess:
    return JupyterProcess(configuration={**configuration, "memory": {"embedder": "none"}})


def _took_ms(client: SocketClient, *, refresh: bool) -> float:
    began_s = time.monotonic()
    client.call("providers.list", refresh=refresh)
    return 1000 * (time.monotonic() - began_s)


def _memory_mb() -> tuple[float, float]:
    with (
        ProviderProcess() as provider,
        _server(provider.configuration) as server,
        SocketClient(server.port, server.token) as client,
    ):
        for method in ("models.list", "agents.list", "health.check", "sessions.list"):
            client.call(method)
        time.sleep(5)  # what is loaded for the first answer is loaded by then
        before = server.process.memory_full_info().pss / 1e6
        reply_delays_ms(client, "stamps 100 50")
        return before, server.process.memory_full_info().pss / 1e6
