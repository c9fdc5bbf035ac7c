"""The payloads are live: without protection they load and run. A test of the real page that uses them can fail."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import onyx_jupyter
from tests.e2e.lab_server import PYTHON_3, LabServer, until
from tests.e2e.rendering.control import acting, drawing
from tests.e2e.rendering.corpus import Payload, payloads
from tests.e2e.rendering.listener import Listener

MERMAID = (
    Path(onyx_jupyter.__file__).parents[1] / "labextension" / "node_modules" / "mermaid" / "dist" / "mermaid.min.js"
)
# What an unprotected page does not draw by itself: diagrams and formulas have a control of their own below.
DRAWN_BY_OTHERS = ("mathjax", "mermaid", "mermaid-kinds", "jupyterlab")


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as listener:
        yield listener


@pytest.fixture
def control(page: Page) -> Page:
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("popup", lambda popup: popup.close())
    return page


def of(listener: Listener, *groups: str) -> list[Payload]:
    return [payload for payload in payloads(listener.host) if payload.group in groups and payload.acts]


def test_unprotected_page_executes_every_payload_except_documented_ones(control: Page, listener: Listener) -> None:
    groups = {payload.group for payload in payloads()} - set(DRAWN_BY_OTHERS)
    shown = of(listener, *groups)
    acted = acting(control, listener, shown)
    assert len(acted) >= 300
    assert [payload.name for payload in shown if not payload.inert and payload.name not in acted] == []


def test_mermaid_without_safeguards_loads_and_runs(control: Page, listener: Listener) -> None:
    named = {"mermaid-image-node", "mermaid-label-img", "mermaid-click-javascript", "mermaid-front-matter"}
    others = {"gantt-click", "class-style", "kanban-html", "sequence-properties", "state-class-def"}
    acted = drawing(control, listener, of(listener, "mermaid", "mermaid-kinds"), MERMAID, named | others)
    assert named | others <= acted
    assert len(acted) >= 30


def test_jupyterlab_loads_addresses_in_markdown_cell_formulas_and_diagrams(
    control: Page, listener: Listener, lab: LabServer
) -> None:
    shown = {one.name: one for one in payloads(listener.host)}
    named = ["math-style-cursor", "math-mmltoken-src", "math-mmltoken-fontfamily", "mermaid-image-node"]
    cells = [{"cell_type": "markdown", "id": name, "metadata": {}, "source": shown[name].text} for name in named]
    notebook = {"cells": cells, "metadata": PYTHON_3, "nbformat": 4, "nbformat_minor": 5}
    lab.files.joinpath("control.ipynb").write_text(json.dumps(notebook), "utf-8")
    control.goto(lab.url("lab/workspaces/control/tree/control.ipynb", reset=""))
    expect(control.locator(".jp-MarkdownOutput mjx-container").first).to_be_visible()
    until(lambda: listener.names >= set(named))
