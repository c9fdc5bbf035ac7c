"""A local model through the socket, with the real prompt: loading, the first token, speed and memory."""

from __future__ import annotations

import contextlib
import threading
import time
import urllib.request
from dataclasses import dataclass

import psutil

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.socket_client import Event, SocketClient

ROUNDS = 3
TOKENS = 60
_TIMEOUT_S = 300.0
_POLL_S = 0.03
_MODULE = "onyx_jupyter.providers.local_server_process"
_QUESTION = "Tell me about the history of the city of Paris."
METHOD = (
    "Each run is a new server, a new `ONYX_HOME` and a new model process, so nothing is cached. The model is the one "
    "that set-up fetches. Loaded is when the process's own health check says so (looked at every 30 ms); the first "
    "token is the first `chat.delta` on the socket; the speed is that of the 60 events after it, one a token."
)


@dataclass(frozen=True)
class _Round:
    load_s: float
    first_token_s: float
    cpu_to_first_token_s: float
    tokens_per_s: float
    rss_mb: float


def measure() -> Group:
    rounds = [_round() for _ in range(ROUNDS)]

    def of(name: str) -> list[float]:
        return [getattr(one, name) for one in rounds]

    return Group(
        "Local model",
        METHOD,
        [
            Figure("question → model loaded", of("load_s"), "s"),
            Figure("model loaded → first token", of("first_token_s"), "s", 8),
            Figure("  CPU of the model process in that time", of("cpu_to_first_token_s"), "s"),
            Figure("speed", of("tokens_per_s"), "tokens/s", digits=1),
            Figure("resident memory of the model process", of("rss_mb"), "MB", digits=0),
        ],
    )


def _round() -> _Round:
    with JupyterProcess() as server, SocketClient(server.port, server.token) as client:
        session = client.call("sessions.create")["sessionKey"]
        loading = _Loading(server.process)
        began = time.monotonic()
        run_id = client.call("chat.send", sessionKey=session, message=_QUESTION)["runId"]
        first = client.wait_for("chat.delta", timeout_s=_TIMEOUT_S)
        loaded_at, process, cpu_before_s = loading.result()
        cpu_s = sum(process.cpu_times()[:2]) - cpu_before_s
        tokens_per_s = _tokens_per_s(client, first)
        rss_mb = process.memory_info().rss / 1e6
        client.call("chat.abort", runId=run_id)
        return _Round(
            load_s=loaded_at - began,
            first_token_s=first.at_ns / 1e9 - loaded_at,
            cpu_to_first_token_s=cpu_s,
            tokens_per_s=tokens_per_s,
            rss_mb=rss_mb,
        )


def _tokens_per_s(client: SocketClient, first: Event) -> float:
    """Over the first tokens only: a small model may go on for long, and the last ones add no information."""
    last, count = first, 0
    while count < TOKENS:
        event = client.wait_for("chat.delta", "chat.final", timeout_s=_TIMEOUT_S)
        if event.name == "chat.final":
            break
        last, count = event, count + 1
    return count / ((last.at_ns - first.at_ns) / 1e9) if count else 0.0


class _Loading:
    """Finds the model process from outside and notes when it is ready, and what it had used by then."""

    def __init__(self, server: psutil.Process) -> None:
        self._server = server
        self._found: tuple[float, psutil.Process, float] | None = None
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def result(self) -> tuple[float, psutil.Process, float]:
        """time.monotonic() of the moment, the process, and its CPU seconds until then."""
        self._thread.join(5)
        if self._found is None:
            raise RuntimeError("The model process was not seen getting ready.")
        return self._found

    def _watch(self) -> None:
        deadline = time.monotonic() + 180
        while self._found is None and time.monotonic() < deadline:
            time.sleep(_POLL_S)
            for process in self._server.children():
                with contextlib.suppress(psutil.Error, OSError):
                    if _MODULE in process.cmdline() and _is_ready(process):
                        self._found = time.monotonic(), process, sum(process.cpu_times()[:2])


def _is_ready(process: psutil.Process) -> bool:
    for connection in process.net_connections("tcp4"):
        if connection.status == psutil.CONN_LISTEN:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://127.0.0.1:{connection.laddr.port}/health", timeout=1) as response:
                return bool(response.status == 200)
    return False
