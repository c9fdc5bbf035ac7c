"""A server extension that edits an open notebook as a tool does, and times it. Loaded by the benchmark that asks."""

from __future__ import annotations

import json
import time
from typing import Any

from jupyter_server.base.handlers import JupyterHandler
from tornado import web

from onyx_jupyter.notebook.cells import cell_hash
from onyx_jupyter.protocols import EditCell


class EditsHandler(JupyterHandler):
    """POST `{path, sources: [[cell id, source now, new one]], reads}`: milliseconds of each edit and reading."""

    def initialize(self, app: Any) -> None:
        self._app = app

    @web.authenticated
    async def post(self) -> None:
        asked = json.loads(self.request.body)
        notebooks = (await self._app.service()).documents
        edits_ms, reads_ms = [], []
        for cell_id, before, after in asked["sources"]:
            began = time.perf_counter()
            await notebooks.apply(asked["path"], [EditCell(cell_id, after, cell_hash(before))])
            edits_ms.append((time.perf_counter() - began) * 1000)
        for _ in range(asked["reads"]):
            began = time.perf_counter()
            view = await notebooks.read(asked["path"])
            reads_ms.append((time.perf_counter() - began) * 1000)
        sources = {cell.id: cell.source for cell in view.cells}
        self.finish(json.dumps({"edits": edits_ms, "reads": reads_ms, "backend": view.backend, "sources": sources}))


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "benchmarks.notebook.edits_probe"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    (app,) = server_app.extension_manager.extension_apps["onyx_jupyter"]
    server_app.web_app.add_handlers(".*$", [(server_app.base_url + "edits-probe", EditsHandler, {"app": app})])
