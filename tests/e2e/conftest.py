"""Fixtures of the browser tests: Chromium, servers, pages, and what is kept of a test that failed."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, WebSocket, expect
from playwright.sync_api import Error as PlaywrightError

from tests.e2e.chromium import ARGUMENTS, find_chromium
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage

expect.set_options(timeout=30_000)

FAILED = pytest.StashKey[bool]()
PAUSE_MS = 250  # for which a list of the sidebar waits, so that many events in a row make it ask once


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests come last: Playwright keeps an event loop running, beside which others cannot start theirs."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: here in item.path.parents)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
        tabs = getattr(item, "funcargs", {}).get("tabs")
        if tabs is not None:
            # Where only the report is kept, this is all that tells what the page was doing.
            report.sections.append(("what the pages logged last", "\n".join(line[:240] for line in tabs.console[-25:])))
    return report


@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> None:
    """No loop of pytest-jupyter's own: it cannot close one while Playwright's runs."""


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> None:
    """No server inside of the test's process either."""


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the browser."""
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on this machine (Debian: sudo apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def browser_type_launch_args(chromium: str, pytestconfig: pytest.Config) -> dict[str, Any]:
    return {
        "executable_path": chromium,
        "args": list(ARGUMENTS),
        "headless": not pytestconfig.getoption("--headed"),
    }


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    return {"viewport": {"width": 1280, "height": 800}, "locale": "en-US", "service_workers": "block"}


@pytest.fixture(scope="session")
def provider() -> Iterator[Stage]:
    stage = Stage()
    with stage.server:
        yield stage
    stage.close()


@pytest.fixture(scope="session")
def shared_lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """The server of every test that does no harm to it."""
    lab = LabServer(tmp_path_factory.mktemp("lab"), provider.config())
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture(scope="session")
def mortal_lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server for tests that kill it; each of them leaves it running."""
    lab = LabServer(tmp_path_factory.mktemp("mortal"), provider.config(embedder="none"))
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def fresh_lab(provider: Stage, chromium: str, tmp_path: Path) -> Iterator[LabServer]:
    """A server of this test alone, with a home that nobody has used."""
    lab = LabServer(tmp_path / "lab", provider.config(embedder="none"))
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture(scope="session")
def together_lab(provider: Stage, chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """A server on which notebooks are open together (jupyter-collaboration)."""
    lab = LabServer(tmp_path_factory.mktemp("together"), provider.config(embedder="none"), collaboration=True)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def stage(provider: Stage) -> Iterator[Stage]:
    """The provider with an empty script. Afterwards: nobody asked it more than the test had planned."""
    provider.play()
    yield provider
    assert provider.server.failures == []


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name of this test alone, for its notebook and its workspace."""
    return re.sub(r"\W+", "-", request.node.name.removeprefix("test_")).strip("-")[:60]


class Tabs:
    """The pages of one test. What they logged is kept for the case that it fails."""

    def __init__(self, context: BrowserContext) -> None:
        self.context = context
        self.console: list[str] = []
        self.uncaught: list[str] = []
        # Of each page's newest connection: the methods of its requests without a reply, by id, and of those with one.
        self._waiting: dict[Page, dict[str, str]] = {}
        self._answered: dict[Page, set[str]] = {}

    def new(self) -> Page:
        page = self.context.new_page()
        page.on("console", self._logged)
        page.on("pageerror", self._failed)
        page.on("websocket", partial(self._connected, page))
        return page

    def open(self, lab: LabServer, notebook: str, workspace: str) -> tuple[Sidebar, Notebook]:
        """JupyterLab with this notebook in front and the sidebar open."""
        page = self.new()
        page.goto(lab.url(f"lab/workspaces/{workspace}/tree/{notebook}", reset=""))
        sidebar = Sidebar(page)
        sidebar.show()
        return sidebar, Notebook(page)

    def open_new(self, lab: LabServer, name: str) -> Sidebar:
        """The same with a notebook and a workspace of that name, made now; its kernel is there."""
        lab.notebook(f"{name}.ipynb", "1")
        sidebar, notebook = self.open(lab, f"{name}.ipynb", name)
        notebook.wait_for_kernel()  # a notebook takes the focus when it comes
        return sidebar

    def wait_for_replies(self, page: Page, method: str) -> None:
        """Until this page has asked all that the last events made it ask with this method, and was answered."""
        page.evaluate("ms => new Promise(resolve => setTimeout(resolve, ms))", 2 * PAUSE_MS)  # by the page's own clock
        while method in self._waiting[page].values():
            page.wait_for_timeout(20)

    def wait_for_reply(self, page: Page, method: str) -> None:
        """Until this page's newest connection has had a reply to a request by this method."""
        while method not in self._answered[page]:
            page.wait_for_timeout(20)

    def _logged(self, message: ConsoleMessage) -> None:
        self.console.append(f"{message.type}: {message.text}")

    def _connected(self, page: Page, socket: WebSocket) -> None:
        if "/onyx/ws" in socket.url:
            waiting = self._waiting[page] = {}
            answered = self._answered[page] = set()
            self.console.append("socket opened")
            socket.on("framesent", partial(self._sent, waiting))
            socket.on("framereceived", partial(self._received, waiting, answered))
            socket.on("close", lambda _: self.console.append("socket closed"))

    def _sent(self, waiting: dict[str, str], frame: str) -> None:
        self.console.append(f"→ {frame}")
        request = json.loads(frame)
        waiting[request["id"]] = request["method"]

    def _received(self, waiting: dict[str, str], answered: set[str], frame: str) -> None:
        self.console.append(f"← {frame}")
        if (method := waiting.pop(json.loads(frame).get("id"), None)) is not None:
            answered.add(method)

    def _failed(self, error: PlaywrightError) -> None:
        self.console.append(f"uncaught: {error.stack or error.message}")
        if "onyx-jupyter" in (error.stack or ""):
            self.uncaught.append(error.stack or "")


@pytest.fixture
def tabs(context: BrowserContext, request: pytest.FixtureRequest, name: str) -> Iterator[Tabs]:
    """Pages that share cookies and storage, as tabs of one window. No error of ours may go uncaught in them."""
    tabs = Tabs(context)
    yield tabs
    if request.node.stash.get(FAILED, False):
        labs = [value for value in request.node.funcargs.values() if isinstance(value, LabServer)]
        keep_traces(Path(request.config.getoption("--output")) / name, tabs, labs)
    assert tabs.uncaught == []


def keep_traces(folder: Path, tabs: Tabs, labs: list[LabServer]) -> None:
    """Pictures of every page, what the pages logged, and what the servers logged."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(tabs.context.pages, 1):
        with suppress(PlaywrightError):
            page.screenshot(path=folder / f"page-{number}.png")
    folder.joinpath("console.log").write_text("\n".join(tabs.console), "utf-8")
    for number, lab in enumerate(labs, 1):
        shutil.copy(lab.log, folder / f"server-{number}.log")


@pytest.fixture
def lab(shared_lab: LabServer) -> LabServer:
    return shared_lab


@pytest.fixture
def open_lab(tabs: Tabs, lab: LabServer, name: str) -> Callable[..., tuple[Sidebar, Notebook]]:
    """Opens a new notebook of this test with the given code cells, in a new tab."""

    def open_notebook(*sources: str) -> tuple[Sidebar, Notebook]:
        path = lab.notebook(f"{name}.ipynb", *sources)
        sidebar, notebook = tabs.open(lab, path.name, name)
        notebook.wait(cells=len(sources) or 1)  # JupyterLab gives an empty notebook a cell
        return sidebar, notebook

    return open_notebook
