"""The notebook tools over notebooks that a tab has open, called as the agent calls them: preview, then run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from onyx_jupyter.errors import NotebookError
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.protocols import NotebookView, ToolPreview
from onyx_jupyter.testing.fake_clock import fake_ids
from onyx_jupyter.toolsets.context import ToolContext
from tests.features.tool_calls import ToolCalls
from tests.notebook.fake_tab import FakeTab, tab_cell

PATH = "churn.ipynb"


class FakeKernels:
    """Kernels of notebooks: `ran` is what ran by count, `restarted` lists paths, `error` is what a restart meets."""

    def __init__(self) -> None:
        self.restarted: list[str] = []
        self.error: NotebookError | None = None
        self.ran: dict[int, str] | None = None

    async def executed(self, path: str) -> dict[int, str]:
        if self.ran is None:
            raise NotebookError("no_kernel", f"{path} has no kernel.")
        return self.ran

    async def restart(self, path: str) -> None:
        if self.error is not None:
            raise self.error
        self.restarted.append(path)


class Desk:
    """`churn.ipynb` is open in `tab`; `said` is what the tools told the person while they worked."""

    def __init__(self, make_context: Callable[..., ToolContext], cells: list[dict[str, Any]]) -> None:
        tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=0)
        self.tab = FakeTab(tabs)
        self.tab.show(PATH, [dict(cell) for cell in cells])
        self.said: list[str] = []
        self.kernels = FakeKernels()
        self.context = make_context(
            notebooks=BrowserBackend(tabs), kernels=self.kernels, progress=self.said.append, open_notebooks=self._open
        )
        self.calls = 0
        self._calls = ToolCalls()

    async def run(self, name: str, **arguments: Any) -> ToolResult:
        """Without a preview."""
        return await self._calls.run(self.context, name, **arguments)

    async def preview(self, name: str, **arguments: Any) -> ToolPreview:
        return await self._calls.preview(self.context, name, **arguments)

    async def call(self, name: str, *, meanwhile: Callable[[], None] = lambda: None, **arguments: Any) -> ToolResult:
        """As a run does it; `meanwhile` happens between the yes and the call."""
        self.calls += 1
        self.context = replace(self.context, call_id=f"c{self.calls}")
        await self.preview(name, path=PATH, **arguments)
        meanwhile()
        return await self.run(name, path=PATH, **arguments)

    def new_run(self) -> None:
        """The next message's run begins."""
        self.context = replace(self.context, run_id=f"{self.context.run_id}+")

    @property
    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.tab.notebooks[PATH]]

    @property
    def ids(self) -> list[str]:
        return [cell["id"] for cell in self.tab.notebooks[PATH]]

    def type(self, cell_id: str, source: str) -> None:
        """The person writes into a cell."""
        next(cell for cell in self.tab.notebooks[PATH] if cell["id"] == cell_id)["source"] = source

    async def view(self) -> NotebookView:
        return await self.context.notebooks.read(PATH)

    def _open(self) -> tuple[list[str], str | None]:
        return list(self.tab.notebooks), PATH


def lettered(count: int, source: str = "value = {n}") -> list[dict[str, Any]]:
    """Code cells a, b, c …"""
    return [tab_cell(chr(ord("a") + n), source.format(n=n)) for n in range(count)]
