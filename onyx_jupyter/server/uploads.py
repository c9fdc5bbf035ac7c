"""POST {base_url}onyx/knowledge/uploads: adds one file to the knowledge, sent as bytes. Refused files are not kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from tornado import web

from onyx_jupyter.errors import DocumentUnreadable, OnyxError
from onyx_jupyter.server.refusals import Guarded, Refusals

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service

TOO_LARGE, OF_NO_KNOWN_KIND = 413, 415


@web.stream_request_body
class KnowledgeUploadHandler(Guarded, APIHandler):
    """`?name=` is the file's name; the answer is the item, which is read in the background.

    Jupyter's login, the requesting page, the permission, and the declared size and name are checked before the first
    byte is accepted.
    """

    def initialize(self, service: Callable[[], Awaitable[Service]], refusals: Refusals) -> None:
        super().initialize(service, refusals)
        self._body = bytearray()
        self._size_bytes = 0

    async def prepare(self) -> None:  # type: ignore[override]  # as APIHandler has it
        await super().prepare()
        if not self._finished:
            await self._admitted()
            self._name = self.get_query_argument("name")
            self._onyx = (await self._service()).onyx
            await self._onyx.ready()
            told = self.request.headers.get("Content-Length", "")
            self._is_refused(int(told) if told.isdigit() else 0)

    def data_received(self, chunk: bytes) -> None:
        """Bytes beyond the limit are counted but not kept; the length may not have been declared."""
        from onyx_jupyter.ingest.copies import MAX_UPLOAD_BYTES  # already loaded with Onyx

        self._size_bytes += len(chunk)
        if self._size_bytes <= MAX_UPLOAD_BYTES:
            self._body += chunk
        else:
            self._body.clear()

    @web.authenticated
    async def post(self) -> None:
        if self._is_refused(self._size_bytes):
            return
        from onyx_jupyter.features.knowledge.documents import KNOWLEDGE, item_data
        from onyx_jupyter.operations.keys import CONFIGURED

        try:
            item = await self._onyx.get(KNOWLEDGE).documents.add_upload(self._name, bytes(self._body))
        except OnyxError as error:
            self.set_status(500)
            self.finish({"message": str(error), "hint": error.hint})
        else:
            self.finish(self._onyx.get(CONFIGURED).redact_data(item_data(item)))

    @authorized(action="execute")
    async def _admitted(self) -> None:
        """Raises HTTPError if the user has no permission."""

    def _is_refused(self, size_bytes: int) -> bool:
        """Sends the reason if the file is too large or of an unsupported kind."""
        from onyx_jupyter.ingest.copies import MAX_UPLOAD_BYTES, check_upload, upload_title

        try:
            check_upload(upload_title(self._name), size_bytes)
        except DocumentUnreadable as error:
            self.set_status(TOO_LARGE if size_bytes > MAX_UPLOAD_BYTES else OF_NO_KNOWN_KIND)
            self.finish({"message": str(error)})
            return True
        return False
