"""The pictures in which a local model answers, with its own cells and text; nothing is scripted.

A script can stand in for it on machines without the model; those pictures are not published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from onyx_jupyter.config.paths import Home
from onyx_jupyter.providers.local_files.catalogue import CATALOGUE, CatalogueModel
from onyx_jupyter.providers.local_files.storage_folders import find_file, shared_folders
from onyx_jupyter.testing.script import Reply, Say
from onyx_jupyter.testing.scripted_server import Received
from scripts.studio import NARROW_PX, Studio, scroll_to, widen
from tests.e2e.sidebar import Notebook, Sidebar

CELL_QUESTION = "Add a cell that shows the churn rate by contract type."
WORDS_QUESTION = "What does this notebook do?"
# The model may have to be loaded first, on a busy machine.
ANSWER_MS = 600_000
MAX_CELLS = 5
ANSWER_PX = {"width": 1280, "height": 640}

STAND_IN = "stand-in"
STAND_IN_CELL = """\
```python
churn_rate = customers.groupby("contract")["churned"].mean()
print(churn_rate.round(3))
```"""
STAND_IN_ANSWER = "Customers who pay monthly leave most often, those with two years hardly ever."
STAND_IN_WORDS = "The notebook draws customers of a telephone company at random and shows which of them leave."


def find_model(model_id: str | None) -> tuple[CatalogueModel, Path]:
    """The model with this id, else the best whose file is on this machine. Raises: SystemExit."""
    wanted = [model for model in CATALOGUE if model_id in (None, model.id)]
    if not wanted:
        raise SystemExit(f"--model {model_id}: there are {', '.join(model.id for model in CATALOGUE)}.")
    folders = (*shared_folders(), Home.from_environment().models)
    for model in wanted:
        if file := find_file(model, folders):
            return model, file
    raise SystemExit(
        f"There is no file of {' or '.join(model.id for model in wanted)} on this machine, so it cannot answer in a "
        "picture. `make setup` fetches the recommended one; --stand-in tries the pictures with a script."
    )


def stand_in(request: Received) -> Reply:
    """The script that stands in for the model."""
    asked = str(request.body["messages"][-1]["content"])
    if "as one ```python block" in asked:
        return [Say(STAND_IN_CELL, chunk_chars=8, delay_s=0.02)]
    return STAND_IN_ANSWER if asked.startswith("The request was:") else STAND_IN_WORDS


def approval(studio: Studio) -> Page:
    sidebar, notebook = _ask(studio, "approval", CELL_QUESTION)
    expect(sidebar.approvals).to_be_visible(timeout=ANSWER_MS)
    scroll_to(notebook, "See it")
    return sidebar.page


def done(studio: Studio) -> Page:
    sidebar, notebook = _ask(studio, "done", CELL_QUESTION)
    _allow_all(sidebar)
    notebook.save()
    sidebar.page.set_viewport_size(ANSWER_PX)
    scroll_to(notebook, "Your turn")
    return sidebar.page


def dark(studio: Studio) -> Page:
    studio.paint("JupyterLab Dark")
    try:
        page = done(studio)
        expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    finally:
        studio.paint("JupyterLab Light")
    return page


def narrow(studio: Studio) -> Page:
    sidebar, notebook = _ask(studio, "narrow", CELL_QUESTION, NARROW_PX)
    expect(sidebar.approvals).to_be_visible(timeout=ANSWER_MS)
    scroll_to(notebook, "See it")
    return sidebar.page


def explained(studio: Studio) -> Page:
    sidebar, notebook = _ask(studio, "explained", WORDS_QUESTION)
    # An approval instead of a text answer is the wrong picture: waiting for the end then fails.
    expect(sidebar.approvals.or_(_ended(sidebar)).first).to_be_visible(timeout=ANSWER_MS)
    sidebar.wait_for_end()
    scroll_to(notebook, "Welcome to Onyx")
    return sidebar.page


LOCAL_PICTURES: Mapping[str, Callable[[Studio], Page]] = {
    "approval": approval,
    "done": done,
    "dark": dark,
    "narrow": narrow,
    "explained": explained,
}


def _ask(studio: Studio, name: str, question: str, width_px: float | None = None) -> tuple[Sidebar, Notebook]:
    sidebar, notebook = studio.window(name)
    if width_px is not None:
        widen(sidebar, width_px)
    sidebar.models.select_option(studio.local_model)
    sidebar.ask(question)
    return sidebar, notebook


def _allow_all(sidebar: Sidebar) -> None:
    """Approves the cell and each repair of it. Raises: AssertionError if none of them ran."""
    ended = _ended(sidebar)
    for _ in range(MAX_CELLS):
        expect(sidebar.approvals.or_(ended).first).to_be_visible(timeout=ANSWER_MS)
        if ended.count():
            break
        asked = sidebar.approvals.get_attribute("data-approval-id")
        sidebar.hook("approve-once").click()
        expect(sidebar.node.locator(f"[data-approval-id='{asked}']")).to_have_count(0)
    sidebar.wait_for_end()
    expect(sidebar.cards.last).to_have_attribute("data-status", "ok")


def _ended(sidebar: Sidebar) -> Locator:
    return sidebar.node.locator("[data-onyx=run]:not([data-status=running])")
