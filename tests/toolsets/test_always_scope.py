"""The scope of "always" for real tools: equivalent calls match, different ones do not."""

from collections.abc import Callable
from typing import Any

import pytest

from onyx_jupyter.app.features import all_tools
from onyx_jupyter.human_requests.approval_scope import Scope, scope_of
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.notebook.browser_backend import BrowserBackend
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.notebook.paths import NotebookPaths
from onyx_jupyter.testing.fake_clock import fake_ids
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.registry import ToolRegistry
from tests.notebook.fake_tab import FakeTab, tab_cell


class Desk:
    """All tools over a folder and a notebook that a tab has open."""

    def __init__(self, make_context: Callable[..., ToolContext]) -> None:
        tabs = TabRequests(fake_ids(), NotebookPaths(None), reconnect_s=0)
        self.tab = FakeTab(tabs)
        self.show("x = 1")
        self.context = make_context(notebooks=BrowserBackend(tabs))
        self.root = self.context.server_root

    def show(self, source: str) -> None:
        self.tab.show("a.ipynb", [tab_cell("c", source)])

    async def scope(self, name: str, **arguments: Any) -> Scope:
        tool, checked = ToolRegistry(all_tools()).validate(ToolCall("1", name, arguments))
        call = ToolCall("1", name, checked.canonical())
        return scope_of(call, await tool.preview(checked, self.context))


@pytest.fixture
def desk(make_context: Callable[..., ToolContext]) -> Desk:
    return Desk(make_context)


async def test_command_grant_covers_real_folder_and_not_timeout(desk: Desk) -> None:
    desk.root.joinpath("data").mkdir()
    desk.root.joinpath("link").symlink_to("data")
    first = await desk.scope("exec", command="ls -l", cwd="data")
    assert (await desk.scope("exec", command="ls  '-l'", cwd="./link/", timeoutMs=5)).items == first.items
    assert first.always_text == f"`ls -l`, exactly so, in {desk.root / 'data'}, in every session, until you revoke it"
    for other in ({"command": "ls -l"}, {"command": "ls", "cwd": "data"}):
        assert not set((await desk.scope("exec", **other)).items) & set(first.items)


async def test_file_grant_covers_real_path_and_full_content(desk: Desk) -> None:
    first = await desk.scope("write", path="a.txt", content="one")
    for same in ("./a.txt", str(desk.root / "a.txt")):
        assert (await desk.scope("write", path=same, content="one")).items[0].digest == first.items[0].digest
    desk.root.joinpath("a.txt").write_text("other")
    assert (await desk.scope("write", path="a.txt", content="one")).items[0].digest == first.items[0].digest
    assert (await desk.scope("write", path="a.txt", content="two")).items[0].digest != first.items[0].digest
    desk.root.joinpath("a.txt").unlink()
    desk.root.joinpath("a.txt").symlink_to("elsewhere.txt")
    assert (await desk.scope("write", path="a.txt", content="one")).items[0].digest != first.items[0].digest


async def test_cell_grant_covers_source_to_run(desk: Desk) -> None:
    first = await desk.scope("notebook_run_cell", path="a.ipynb", cellId="c")
    assert (await desk.scope("notebook_run_cell", path="./a.ipynb", cellId="c")).items == first.items
    desk.show("import shutil; shutil.rmtree('data')")
    changed = await desk.scope("notebook_run_cell", path="a.ipynb", cellId="c")
    assert changed.items[0].digest != first.items[0].digest
    assert changed.session_keys == first.session_keys  # for the session every cell of the notebook was allowed


async def test_edit_grant_covers_new_source(desk: Desk) -> None:
    first = await desk.scope("notebook_edit_cell", path="a.ipynb", cellId="c", source="y = 1")
    other = await desk.scope("notebook_edit_cell", path="a.ipynb", cellId="c", source="y = 2")
    assert first.items[0].digest != other.items[0].digest
