"""How fast a provider's byte becomes an event, and what a reply costs on the socket and on the disk."""

from __future__ import annotations

import json
import subprocess
import sys
import time

from benchmarks.figures import Figure, Group, percentile
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import CHUNK_CHARS, ProviderProcess
from benchmarks.socket_client import SocketClient

ROUNDS = 5
STAMPS = 400
RATE = 100
CHUNKS = 1500
CHUNK_RATE = 500
REPLY_BYTES = CHUNKS * CHUNK_CHARS
TRAFFIC_ROUNDS = 3
_SETTLE_S = 0.5
_UPKEEP_S = 3.0
METHOD = (
    "Three processes on one machine and one clock: the provider writes the moment of writing into each chunk, the "
    "client on the socket subtracts it from the moment of receiving the whole frame. "
    f"{RATE} chunks a second, {STAMPS} a run; LiteLLM alone and a bare HTTP client read the same stream in turn, to "
    f"tell whose time it is. Traffic is every byte the client receives from `chat.send` to `chat.final`. What is "
    f"written is every byte the server hands to files in that time (Linux: `wchar` of the process, without its log), "
    "so the file that protects a reply under way counts, although it is deleted at the end. The question and the reply "
    "go into the index together when nothing more is said for a while, or somebody searches: what is written then "
    "(words, vectors, the table's list of files) is told apart."
)


def measure() -> Group:
    onyx: list[list[float]] = []
    litellm: list[list[float]] = []
    http: list[list[float]] = []
    cpu_ms: list[float] = []
    with (
        ProviderProcess() as provider,
        JupyterProcess(configuration=provider.configuration) as server,
        SocketClient(server.port, server.token) as client,
    ):
        reply_delays_ms(client, f"stamps 100 {RATE}")  # loads the provider library
        for _ in range(ROUNDS):
            cpu_before = server.cpu_s()
            onyx.append(reply_delays_ms(client, f"stamps {STAMPS} {RATE}"))
            cpu_ms.append(1000 * (server.cpu_s() - cpu_before) / STAMPS)
            litellm.append(_library("litellm", provider))
            http.append(_library("http", provider))
        traffic, written, stored, indexed = zip(*(_cost(client, server) for _ in range(TRAFFIC_ROUNDS)), strict=True)
    return Group(
        "Streaming",
        METHOD,
        [
            Figure("provider's byte → chat.delta, p50", _percentiles(onyx, 0.5), "ms", 2, "NBI 6.2: 1.2 ms"),
            Figure("  p95", _percentiles(onyx, 0.95), "ms"),
            Figure("  LiteLLM alone, p50", _percentiles(litellm, 0.5), "ms"),
            Figure("  bare HTTP client, p50", _percentiles(http, 0.5), "ms"),
            Figure("  CPU of the server a chunk", cpu_ms, "ms"),
            Figure(
                f"socket bytes of {REPLY_BYTES / 1000:g} kB in {CHUNKS:,} chunks",
                [size / 1000 for size in traffic],
                "kB",
                200,
                "NBI 302 kB, jupyter-ai 4.8 MB",
                1,
            ),
            Figure("written to files ÷ the reply's size", [size / REPLY_BYTES for size in written], "×", 3),
            Figure("  disk pages written", [size / 1000 for size in stored], "kB", digits=1),
            Figure("  into the index, later", [size / REPLY_BYTES for size in indexed], "×"),
        ],
    )


def reply_delays_ms(client: SocketClient, question: str) -> list[float]:
    """Milliseconds of every stamp on its way."""
    session = client.call("sessions.create")["sessionKey"]
    client.call("chat.send", sessionKey=session, message=question)
    taken_ms: list[float] = []
    while (event := client.wait_for("chat.delta", "chat.final")).name == "chat.delta":
        taken_ms += [(event.at_ns - int(stamp)) / 1e6 for stamp in event.data["text"].split()]
    return taken_ms


def _library(how: str, provider: ProviderProcess) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.library_latency", how, provider.base_url, f"stamps {STAMPS} {RATE}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    taken_ms: list[float] = json.loads(done.stdout.splitlines()[-1])
    return taken_ms


def _cost(client: SocketClient, server: JupyterProcess) -> tuple[int, int, int, int]:
    """Bytes received, bytes handed to files, bytes of disk pages, and bytes for the index, for one reply."""
    _index_what_was_said(client)
    session = client.call("sessions.create")["sessionKey"]
    time.sleep(_SETTLE_S)
    received, (written, stored) = client.received_bytes, server.written_bytes()
    client.call("chat.send", sessionKey=session, message=f"chunks {CHUNKS} {CHUNK_RATE}")
    final = client.wait_for("chat.final")
    if len(final.data["text"]) != REPLY_BYTES:
        raise RuntimeError(f"The reply has {len(final.data['text'])} characters instead of {REPLY_BYTES}.")
    received_after = client.received_bytes
    time.sleep(_SETTLE_S)
    written_after, stored_after = server.written_bytes()
    _index_what_was_said(client)
    indexed, _ = server.written_bytes()
    return received_after - received, written_after - written, stored_after - stored, indexed - written_after


def _index_what_was_said(client: SocketClient) -> None:
    """A search has the rest put there at once; afterwards there is time for the table's upkeep."""
    client.call("sessions.search", query="chunks")
    time.sleep(_UPKEEP_S)


def _percentiles(rounds: list[list[float]], share: float) -> list[float]:
    return [percentile(values, share) for values in rounds]
