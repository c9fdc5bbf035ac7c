"""The Jupyter server extension: registers the handlers. It loads Onyx itself only when the first client comes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_server.extension.application import ExtensionApp

from onyx_jupyter.server.drive.handlers import drive_handlers
from onyx_jupyter.server.refusals import Refusals
from onyx_jupyter.server.rest import EmbeddedModelHandler, HealthHandler
from onyx_jupyter.server.socket import SocketHandler
from onyx_jupyter.server.uploads import KnowledgeUploadHandler

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service


class OnyxExtension(ExtensionApp):
    """`onyx/ws`, `onyx/health` and Onyx's files under Jupyter's base URL."""

    name = "onyx_jupyter"
    extension_url = "/lab"
    load_other_extensions = True

    _service: Service | None = None
    _loading: asyncio.Lock
    _refusals: Refusals

    def initialize_handlers(self) -> None:
        """Called by Jupyter while the server starts."""
        self._loading = asyncio.Lock()
        self._refusals = Refusals()
        doors = {"service": self.service, "refusals": self._refusals}
        self.handlers.extend(
            [
                (r"onyx/ws", SocketHandler, doors),
                (r"onyx/health", HealthHandler, doors),
                (r"onyx/embedded-model", EmbeddedModelHandler, doors),
                (r"onyx/knowledge/uploads", KnowledgeUploadHandler, doors),
                *drive_handlers(doors),
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
        await self._refusals.close()
        if self._service is not None:
            await self._service.close()


def _import_service():  # type: ignore[no-untyped-def]
    import onyx_jupyter.server.service as module

    return module
