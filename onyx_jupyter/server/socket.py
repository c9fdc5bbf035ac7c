"""The socket's transport: Jupyter's authentication, the Origin check, frames in and out. It knows no method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection
    from onyx_jupyter.server.service import Service

MAX_FRAME_BYTES = 4 * 1024 * 1024


class SocketHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """GET {base_url}onyx/ws. Without a login or from a foreign page 403; a frame over 4 MiB closes with 1009."""

    _connection: Connection | None = None

    def initialize(self, service: Callable[[], Awaitable[Service]]) -> None:
        self._service = service

    @property
    def max_message_size(self) -> int:
        return MAX_FRAME_BYTES

    def skip_check_origin(self) -> bool:
        """Never: Jupyter lets a token in the URL pass from any page, but a leaked link must not open this socket."""
        return False

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        self._service_ready = await self._service()
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        super().open(*args, **kwargs)
        self.set_nodelay(True)
        user = getattr(self.current_user, "display_name", None) or "user"
        self._connection = self._service_ready.connect(self._send, user)

    async def on_message(self, message: str | bytes) -> None:
        if self._connection is not None:
            await self._connection.receive(message)

    def on_close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _send(self, frame: str) -> None:
        try:
            self.write_message(frame)
        except WebSocketClosedError:
            self.on_close()
