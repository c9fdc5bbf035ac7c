"""Fifty concurrent streams through one server: whether everything arrives, and how long its event loop blocks."""

from __future__ import annotations

import json
import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.figures import Figure, Group, percentile
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import CHUNK_CHARS, ProviderProcess, piece_text
from benchmarks.socket_client import SocketClient

SESSIONS = 50
RATE = 50
SECONDS = 10
CHUNKS = RATE * SECONDS
ROUNDS = 3
_TIMEOUT_S = 300.0
METHOD = (
    f"Three processes on one machine: the provider writes {RATE} chunks a second into each of {SESSIONS} answers for "
    f"{SECONDS} s, one client on the socket watches all the sessions. The event loop's lag is what a timer of 10 ms in "
    "the server is late. An answer is whole where its text is the provider's to the letter; out of order is a frame "
    "whose number is not the next one of its session."
)


def measure() -> Group:
    with ProviderProcess() as provider:
        figures = [
            *many_figures("OpenAI's protocol", provider.configuration),
            *many_figures("Anthropic's protocol", provider.anthropic_configuration),
        ]
    return Group("Many sessions", METHOD, figures)


def many_figures(
    protocol: str, configuration: Mapping[str, Any], rounds: int = ROUNDS, extensions: Sequence[str] = ()
) -> list[Figure]:
    """What the load costs a new server with that configuration; `extensions` are loaded beside the probe."""
    lags, lost, disordered, taken_s = [], [], [], []
    for _ in range(rounds):
        with (
            JupyterProcess(configuration=configuration, extensions=("benchmarks.lag_probe", *extensions)) as server,
            SocketClient(server.port, server.token) as client,
        ):
            _stream(client, 1)  # opens the connections
            server.get("lag-probe")  # forgets what that took
            incomplete, out_of_order, seconds = _stream(client, SESSIONS)
            found = json.loads(server.read("lag-probe"))["lagsMs"]
        lags.append(found)
        lost.append(incomplete)
        disordered.append(out_of_order)
        taken_s.append(seconds)
    return [
        Figure(f"{protocol}: event loop's lag, p99", [percentile(one, 0.99) for one in lags], "ms", 30),
        Figure("  p50", [percentile(one, 0.5) for one in lags], "ms"),
        Figure("  longest", [max(one) for one in lags], "ms"),
        Figure("  answers that are not whole", lost, "", 0, digits=0),
        Figure("  frames out of order", disordered, "", 0, digits=0),
        Figure(f"  first message → last answer ({SECONDS} s of text)", taken_s, "s"),
    ]


def _stream(client: SocketClient, sessions: int) -> tuple[int, int, float]:
    """Incomplete answers, frames out of order, seconds."""
    keys = [client.call("sessions.create")["sessionKey"] for _ in range(sessions)]
    for key in keys:
        client.call("sessions.subscribe", sessionKey=key)
    began_at = time.monotonic()
    runs = {client.call("chat.send", sessionKey=key, message=f"chunks {CHUNKS} {RATE}")["runId"] for key in keys}
    texts: dict[str, str] = defaultdict(str)
    last: dict[str, int] = {}
    out_of_order = 0
    while runs:
        event = client.next_event(_TIMEOUT_S)
        run_id = event.data.get("runId")
        if run_id is None or "seq" not in event.data:
            continue
        out_of_order += event.data["seq"] != last.get(run_id, event.data["seq"] - 1) + 1
        last[run_id] = event.data["seq"]
        if event.name == "chat.delta":
            texts[run_id] += event.data["text"]
        elif re.fullmatch(r"chat\.(final|error|aborted)", event.name):
            runs.discard(run_id)
    whole = "".join(piece_text(index) for index in range(CHUNKS))
    assert len(whole) == CHUNKS * CHUNK_CHARS
    return sum(text != whole for text in texts.values()), out_of_order, time.monotonic() - began_at
