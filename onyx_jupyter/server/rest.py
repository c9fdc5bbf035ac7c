"""Handlers for plain HTTP requests."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from onyx_jupyter.server.not_served import NotServed
from onyx_jupyter.server.refusals import Guarded


class HealthHandler(Guarded, APIHandler):
    """GET {base_url}onyx/health: the same as the socket's `health.check`."""

    @web.authenticated
    @authorized(action="read")
    async def get(self) -> None:
        try:
            self.finish(await (await self._service()).onyx.health())
        except NotServed as refused:
            self.finish(refused.health())
