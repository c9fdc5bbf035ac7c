"""A server extension that measures how late the event loop is. It is loaded by the benchmark that asks for it alone."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from tornado import web

INTERVAL_S = 0.01


class Probe:
    """A timer that notes by how many milliseconds it is late."""

    def __init__(self) -> None:
        self.lags_ms: list[float] = []

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(INTERVAL_S)
            self.lags_ms.append((loop.time() - before - INTERVAL_S) * 1000)


class LagHandler(JupyterHandler):
    """Gives what was measured since the last time."""

    def initialize(self, probe: Probe) -> None:
        self._probe = probe

    @web.authenticated
    async def get(self) -> None:
        found, self._probe.lags_ms = self._probe.lags_ms, []
        self.finish(json.dumps({"lagsMs": found}))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "benchmarks.lag_probe"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    probe = Probe()
    server_app.web_app.add_handlers(".*$", [(server_app.base_url + "lag-probe", LagHandler, {"probe": probe})])
    server_app.io_loop.add_callback(probe.run)
