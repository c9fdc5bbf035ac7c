"""Handlers for plain HTTP requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from onyx_jupyter.server.not_served import NotServed
from onyx_jupyter.server.refusals import Guarded, Refusals

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service


class HealthHandler(Guarded, APIHandler):
    """GET {base_url}onyx/health: the same as the socket's `health.check`."""

    auth_resource = "onyx"

    def initialize(self, service: Callable[[], Awaitable[Service]], refusals: Refusals) -> None:
        self._service = service
        self.refusals = refusals

    @web.authenticated
    @authorized(action="read")
    async def get(self) -> None:
        try:
            self.finish(await (await self._service()).onyx.health())
        except NotServed as refused:
            self.finish(refused.health())
