"""Each protocol in which providers are spoken to: what a delta takes on its way, and fifty sessions at once."""

from __future__ import annotations

import os

from benchmarks import many_sessions, streaming
from benchmarks.figures import Figure, Group, percentile
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.many_sessions import many_figures
from benchmarks.provider import ProviderProcess
from benchmarks.providers.openai_address import VARIABLE
from benchmarks.socket_client import SocketClient
from benchmarks.streaming import RATE, STAMPS, reply_delays_ms

ROUNDS = 3
_ADDRESS = "benchmarks.providers.openai_address"
METHOD = f"{many_sessions.METHOD} The way of a delta is measured with one session: {streaming.METHOD.split(';')[0]}."


def measure() -> Group:
    with ProviderProcess() as provider:
        os.environ[VARIABLE] = provider.base_url
        protocols = {
            "Responses": (provider.responses_configuration, (_ADDRESS,)),
            "chat completions": (provider.configuration, ()),
            "Anthropic's Messages": (provider.anthropic_configuration, ()),
        }
        figures = [
            figure
            for name, (configuration, extensions) in protocols.items()
            for figure in [
                *_delays(name, configuration, extensions),
                *many_figures(name, configuration, ROUNDS, extensions),
            ]
        ]
    return Group("Protocols", METHOD, figures)


def _delays(protocol: str, configuration: dict[str, object], extensions: tuple[str, ...]) -> list[Figure]:
    with (
        JupyterProcess(configuration=configuration, extensions=extensions) as server,
        SocketClient(server.port, server.token) as client,
    ):
        reply_delays_ms(client, f"stamps 100 {RATE}")  # opens the connections
        taken = [reply_delays_ms(client, f"stamps {STAMPS} {RATE}") for _ in range(ROUNDS)]
    return [
        Figure(f"{protocol}: provider's byte → chat.delta, p50", [percentile(one, 0.5) for one in taken], "ms", 0.9),
        Figure("  p95", [percentile(one, 0.95) for one in taken], "ms", 1.3),
    ]
