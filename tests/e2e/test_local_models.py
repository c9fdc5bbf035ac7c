"""A model for this machine, in the panel: fetched, paused, found again after a reload, resumed, and let go."""

import mmap
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from onyx_jupyter.providers.local_files.catalogue import CATALOGUE
from onyx_jupyter.providers.local_files.storage_folders import find_file, part_of, shared_folders
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Sidebar
from tests.providers.local_files.file_server import FileServer

MODEL = CATALOGUE[-1]
WAIT_MS = 30_000

pytestmark = pytest.mark.skipif(
    find_file(MODEL, shared_folders()) is not None, reason="this installation has that model already"
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FileServer]:
    """A slow one, with a file of the right length that takes no room."""
    sparse = tmp_path / "zeros"
    with sparse.open("w+b") as file:
        file.truncate(MODEL.size_bytes)
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    with FileServer({MODEL.file_name: content}, piece_bytes=1_000_000, pause_s=0.05) as server:
        yield server


@pytest.fixture
def lab(tmp_path: Path, server: FileServer) -> Iterator[LabServer]:
    lab = LabServer(tmp_path, {"local": {"modelsUrl": server.url}})
    lab.start()
    yield lab
    lab.stop()


def row(sidebar: Sidebar) -> Locator:
    return sidebar.node.locator(f"[data-onyx=local-model][data-id='{MODEL.id}']")


def press(sidebar: Sidebar, name: str) -> None:
    row(sidebar).locator(f"[data-onyx=local-model-{name}]").click()


def test_model_is_downloaded_paused_resumed_and_removed(lab: LabServer, tabs: Tabs) -> None:
    lab.notebook("models.ipynb")
    part = part_of(lab.home / "models", MODEL)
    sidebar, _ = tabs.open(lab, "models.ipynb", "models")
    sidebar.models.select_option(label="Local models…")
    expect(sidebar.hook("local-models-panel")).to_be_focused()
    expect(row(sidebar)).to_contain_text("491 MB · Apache-2.0")
    assert not part.exists()
    press(sidebar, "fetch")
    expect(row(sidebar)).to_have_attribute("data-state", "fetching")
    expect(row(sidebar).locator("[data-onyx=fetch-state]")).to_contain_text("of 491 MB from 127.0.0.1", timeout=WAIT_MS)
    expect(row(sidebar).get_by_role("progressbar")).not_to_have_attribute("value", "0", timeout=WAIT_MS)
    press(sidebar, "pause")
    expect(row(sidebar)).to_have_attribute("data-state", "paused", timeout=WAIT_MS)
    assert 0 < part.stat().st_size < MODEL.size_bytes
    sidebar.page.reload()
    sidebar.show()
    sidebar.models.select_option(label="Local models…")
    expect(row(sidebar)).to_contain_text("Paused at")
    press(sidebar, "resume")
    expect(row(sidebar)).to_have_attribute("data-state", "fetching")
    press(sidebar, "remove")
    expect(row(sidebar).locator("[data-onyx=local-model-question]")).to_contain_text("downloaded again")
    press(sidebar, "remove-yes")
    expect(row(sidebar)).to_have_attribute("data-state", "missing", timeout=WAIT_MS)
    assert not part.exists()
    sidebar.hook("local-models-panel").press("Escape")
    expect(sidebar.input).to_be_focused()
    assert tabs.uncaught == []
