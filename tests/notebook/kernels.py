"""Real kernels for tests: a notebook's session on a real Jupyter server, and what runs in it."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async

from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.document_service import kernel_sessions, notebook_paths
from onyx_jupyter.notebook.kernel_client import new_client
from onyx_jupyter.notebook.kernel_run import KernelRun
from onyx_jupyter.notebook.kernel_service import KernelService
from onyx_jupyter.protocols import CellRun
from onyx_jupyter.testing.fake_clock import fake_ids
from tests.notebook import shout_kernel
from tests.notebook.files import cell, write_notebook


def add_shouting_kernel(server_app: Any, folder: Path) -> None:
    """A kernel of a language that is not Python, as `loud-env`, with its specification in the folder."""
    place = folder / "kernels" / "loud-env"
    place.mkdir(parents=True)
    command = [sys.executable, shout_kernel.__file__, "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Shout", "language": shout_kernel.LANGUAGE}
    (place / "kernel.json").write_text(json.dumps(spec), "utf-8")
    server_app.kernel_spec_manager.kernel_dirs.append(str(place.parent))


def quiet(line: str) -> None:
    """Nobody watches."""


class Person:
    """Somebody who runs cells in the same kernel from a front end, and sees how they ended."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def press(self, code: str) -> str:
        """Shift-Enter: the cell is in the kernel's queue from now on."""
        return str(self._client.execute(code))

    async def ended(self, pressed: str) -> str:
        """The status of its reply."""
        while True:
            reply = await ensure_async(self._client.get_shell_msg(timeout=60))
            if reply["parent_header"].get("msg_id") == pressed:
                return str(reply["content"]["status"])


class KernelPlace:
    """The notebook `work.ipynb` on a real server; `service` is what is tested, `run` is what a person does."""

    def __init__(self, server_app: Any, root: Path) -> None:
        self.server_app = server_app
        self.manager = server_app.kernel_manager
        self.root = root
        paths = notebook_paths(server_app)
        self.sessions = kernel_sessions(server_app, paths)
        self.tabs = TabRequests(fake_ids(), paths, reconnect_s=0)
        self.service = KernelService(self.manager, self.sessions, self.tabs)
        self.kernel_id = ""
        write_notebook(root / "work.ipynb", [cell("a", "x = 1")])

    async def start(self, path: str = "work.ipynb", kernel_name: str = "python3") -> str:
        self.kernel_id = await self.sessions.find_or_start(path, kernel_name)
        return self.kernel_id

    async def run(self, code: str, progress: Any = quiet) -> CellRun:
        """As a cell that is run. The kernel is started where it is not."""
        if not self.kernel_id:
            await self.start()
        return await KernelRun(self.manager, self.kernel_id, progress).run(code)

    @asynccontextmanager
    async def person(self) -> AsyncIterator[Person]:
        client = new_client(self.manager.get_kernel(self.kernel_id))
        client.start_channels(hb=False)
        try:
            await client.wait_for_ready(timeout=60)
            yield Person(client)
        finally:
            client.stop_channels()

    async def value(self, expression: str) -> str:
        """What the expression gives in the kernel now, as the text of its repr."""
        run = await self.service.execute("work.ipynb", f"print(repr({expression}), end='')", quiet)
        assert run.status == "ok", run.outputs
        return "".join(output["text"] for output in run.outputs if output["output_type"] == "stream")
