"""A cell that an answer names is a link to that cell of that notebook, wherever it stands by then."""

import json
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage


def test_cell_reference_links_to_notebook_and_stays_on_same_cell(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage, name: str
) -> None:
    other = lab.notebook(f"{name}_second.ipynb", "'first'", "'meant'")
    sidebar, notebook = open_lab("'in front'", "'not meant'")
    page, links = sidebar.page, sidebar.hook("cell-reference")
    stage.play([Call("notebook_outline", {"path": other.name})], "It is in cell 2, not in cell 9.", "See cell 2.")
    sidebar.ask("Where is it in the other one?")
    sidebar.wait_for_end()
    sidebar.ask("And here?")
    expect(links).to_have_text(["cell 2", "cell 9", "cell 2"])
    titles = [link.get_attribute("title") for link in links.all()]
    assert titles == [
        f"Show it in {other.name}",
        f"Show what is now cell 9 of {other.name}",
        f"Show what is now cell 2 of {name}.ipynb",
    ]

    # Where it has another name, that is said, and nothing else is shown.
    renamed = other.rename(other.with_name(f"{name}-renamed.ipynb"))
    links.first.click()
    expect(told(page)).to_contain_text(f"{other.name} could not be shown. It may have been renamed or removed.")
    expect(notebook.cells).to_have_count(2)

    # Back with another cell before it, and in a page that shows no notebook, the same cell is found.
    insert_first(renamed.rename(other), "'put before'")
    page.goto(lab.url(f"lab/workspaces/{name}", reset=""))
    sidebar.show()
    expect(notebook.panel).to_have_count(0)
    links.first.click()
    notebook.wait(cells=3)
    expect(active(notebook)).to_have_text("'meant'")
    links.last.click()
    expect(active(notebook)).to_have_text("'not meant'")

    # What is not there any more is said, too.
    links.nth(1).click()
    expect(told(page)).to_have_text(f"{other.name} has no cell 9.")
    expect(active(notebook)).to_have_text("'meant'")
    active(notebook).click()
    page.keyboard.press("Escape")
    page.keyboard.type("dd")
    expect(notebook.cells).to_have_count(2)
    links.first.click()
    expect(told(page)).to_have_text(f"{other.name} no longer has this cell.")
    expect(active(notebook)).not_to_have_text("'meant'")


def insert_first(path: Path, source: str) -> None:
    content = json.loads(path.read_text("utf-8"))
    content["cells"].insert(0, {**content["cells"][0], "id": "put-before", "source": source})
    path.write_text(json.dumps(content), "utf-8")


def active(notebook: Notebook) -> Locator:
    return notebook.panel.locator(".jp-Notebook-cell.jp-mod-active .jp-InputArea-editor")


def told(page: Page) -> Locator:
    """The newest notice."""
    return page.locator(".Toastify__toast").first
