"""One JupyterLab and one browser for the pictures, with the actions of a user."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOK = "welcome.ipynb"
SIZE_PX = {"width": 1280, "height": 800}
SIDEBAR_PX = 372
NARROW_PX = 280
THEME = "@jupyterlab/apputils-extension/themes"


class Studio:
    """One server and one browser; each picture has its own window. `local_model` is the one on this machine."""

    def __init__(self, lab: LabServer, browser: Browser, local_model: str) -> None:
        self._lab = lab
        self._browser = browser
        self.local_model = local_model

    def window(self, name: str) -> tuple[Sidebar, Notebook]:
        """A fresh, fully executed copy of the example, with the sidebar beside it."""
        example = ROOT.joinpath("notebooks", NOTEBOOK).read_text("utf-8")
        cells = len(json.loads(example)["cells"])
        self._lab.files.joinpath(NOTEBOOK).write_text(example, "utf-8")
        context = self._browser.new_context(viewport=SIZE_PX, locale="en-US", timezone_id="UTC")
        page = context.new_page()
        self._end_kernels(page)
        page.goto(self._lab.url(f"lab/workspaces/{name}/tree/{NOTEBOOK}", reset=""))
        sidebar, notebook = Sidebar(page), Notebook(page)
        sidebar.show()
        page.keyboard.press("Control+b")
        expect(page.locator("#filebrowser")).not_to_be_visible()
        widen(sidebar, SIDEBAR_PX)
        notebook.wait(cells)
        notebook.wait_for_kernel()
        notebook.cells.first.click()
        page.keyboard.press("Escape")
        # The last cell is text, and running it would add another one.
        for _ in range(cells - 1):
            page.keyboard.press("Shift+Enter")
        expect(notebook.panel.locator(".jp-OutputArea-output img")).to_have_count(1, timeout=60_000)
        notebook.save()
        return sidebar, notebook

    def add(self, file: Path) -> str:
        """Puts a copy into the file browser's top folder; returns its path there."""
        shutil.copy(file, self._lab.files)
        return file.name

    def remember(self, path: str, text: str) -> None:
        """A file of the agent's memory, as a person writes it."""
        file = self._lab.home / "workspace" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def paint(self, theme: str) -> None:
        self._lab.set(THEME, {"theme": theme})

    def _end_kernels(self, page: Page) -> None:
        """Ends all kernels, so that execution counts start at one again."""
        for kernel in page.request.get(self._lab.url("api/kernels")).json():
            page.request.delete(self._lab.url(f"api/kernels/{kernel['id']}"))


def widen(sidebar: Sidebar, width_px: float) -> None:
    """Drags the sidebar's edge until it is this wide."""
    box = sidebar.node.bounding_box()
    assert box is not None
    edge, middle = box["x"] - 2, box["y"] + box["height"] / 2
    mouse = sidebar.page.mouse
    mouse.move(edge, middle)
    mouse.down()
    mouse.move(edge + box["width"] - width_px, middle, steps=4)
    mouse.up()


def scroll_to(notebook: Notebook, heading: str) -> None:
    """Scrolls to this heading, with no selection under the pointer."""
    notebook.panel.get_by_role("heading", name=heading).evaluate("heading => heading.scrollIntoView({block: 'start'})")
    notebook.page.mouse.move(SIZE_PX["width"] / 2, SIZE_PX["height"] - 2)
