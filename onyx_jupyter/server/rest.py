"""What is asked for over plain HTTP. It never streams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from jupyter_server.base.handlers import APIHandler
from tornado import web

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service


class HealthHandler(APIHandler):
    """GET {base_url}onyx/health: the same as the socket's `health.check`."""

    def initialize(self, service: Callable[[], Awaitable[Service]]) -> None:
        self._service = service

    @web.authenticated
    async def get(self) -> None:
        self.finish(await (await self._service()).health())
