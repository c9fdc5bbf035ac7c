"""The socket's transport: Jupyter's authentication, the Origin check, frames in and out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ensure_async
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from onyx_jupyter.operations.limits import MAX_FRAME_BYTES
from onyx_jupyter.server.refusals import Guarded

if TYPE_CHECKING:
    from onyx_jupyter.server.connection import Connection

MAX_UNSENT_CHARS = 32 * 1024 * 1024
CLOSE_TRY_AGAIN_LATER = 1013


class SocketHandler(WebSocketMixin, WebSocketHandler, Guarded):
    """GET {base_url}onyx/ws. Without a login or from a foreign page 403; a frame over 4 MiB closes with 1009."""

    _connection: Connection | None = None
    _unsent_chars = 0

    @property
    def max_message_size(self) -> int:
        return MAX_FRAME_BYTES

    def skip_check_origin(self) -> bool:
        """Never: Jupyter accepts a token in the URL from any page, but a leaked link must not open this socket."""
        return False

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        allowed = self.authorizer.is_authorized(self, self.current_user, "execute", self.auth_resource)
        if not await ensure_async(allowed):
            raise HTTPError(403)
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
        """A sleeping tab reads nothing: beyond a limit it is disconnected, and catches up when it returns."""
        if self._unsent_chars > MAX_UNSENT_CHARS:
            self.close(CLOSE_TRY_AGAIN_LATER, "too slow")
            return
        try:
            sending = self.write_message(frame)
        except WebSocketClosedError:
            self.on_close()
            return
        self._unsent_chars += len(frame)
        sending.add_done_callback(lambda future: self._sent(len(frame), future))

    def _sent(self, chars: int, future: asyncio.Future[None]) -> None:
        self._unsent_chars -= chars
        if not future.cancelled():
            future.exception()  # the connection is gone; on_close handles that
