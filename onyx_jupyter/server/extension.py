"""The Jupyter server extension: registers the handlers. It loads Onyx itself only when the first client comes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_server.extension.application import ExtensionApp

from onyx_jupyter.server.rest import EmbeddedModelHandler, HealthHandler
from onyx_jupyter.server.socket import SocketHandler

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service


class OnyxExtension(ExtensionApp):
    """`onyx/ws` and `onyx/health` under Jupyter's base URL."""

    name = "onyx_jupyter"
    extension_url = "/lab"
    load_other_extensions = True

    _service: Service | None = None
    _loading: asyncio.Lock

    def initialize_handlers(self) -> None:
        """Called by Jupyter while the server starts."""
        self._loading = asyncio.Lock()
        self.handlers.extend(
            [
                (r"onyx/ws", SocketHandler, {"service": self.service}),
                (r"onyx/health", HealthHandler, {"service": self.service}),
                (r"onyx/embedded-model", EmbeddedModelHandler, {"service": self.service}),
            ]
        )

    async def service(self) -> Service:
        """The one service of this server, built on first use: its imports run in a thread."""
        async with self._loading:
            if self._service is None:
                module = await asyncio.to_thread(_import_service)
                self._service = module.Service(self.serverapp)
            return self._service

    async def stop_extension(self) -> None:
        """Called by Jupyter when the server shuts down."""
        if self._service is not None:
            await self._service.close()


def _import_service():  # type: ignore[no-untyped-def]
    import onyx_jupyter.server.service as module

    return module
