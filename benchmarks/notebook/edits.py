"""How long an edit in an open notebook of a thousand cells takes until the tab has acknowledged it, and reading it."""

from __future__ import annotations

import json
import random
import shutil
import urllib.request
from typing import Any

import nbformat
from playwright.sync_api import sync_playwright

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from tests.e2e.chromium import ARGUMENTS

CELLS = 1_000
EDITS = 200
READS = 15
PATH = "large.ipynb"
METHOD = (
    f"A notebook of {CELLS:,} cells with outputs, open in JupyterLab in headless Chromium. {EDITS} edits in a row, "
    "each of one cell on the hash of its source, from the call of the document service to the tab's acknowledgement; "
    "then it is read from the tab. It is saved, and its file equals the one in which nbformat made the same edits."
)
_APPEAR_MS = 60_000


def measure() -> Group:
    with JupyterProcess(extensions=("benchmarks.notebook.edits_probe",)) as server, sync_playwright() as playwright:
        notebook = _notebook()
        nbformat.write(notebook, server.root / PATH)
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.url}lab/tree/{PATH}?token={server.token}&reset")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=_APPEAR_MS)
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=_APPEAR_MS)
        edits = _edit(notebook)
        found = _ask(server, edits)
        if found["backend"] != "browser":
            raise RuntimeError(f"The notebook was edited by way of {found['backend']}.")
        page.locator('.jp-NotebookPanel-toolbar [data-jp-item-name="save"] jp-button').click()
        page.locator(".lm-TabBar-tab.jp-mod-dirty").wait_for(state="detached", timeout=_APPEAR_MS)
        browser.close()
        _same(nbformat.read(server.root / PATH, as_version=4), notebook)
    return Group(
        "Edits of an open notebook",
        METHOD,
        [
            Figure(f"an acknowledged edit, {CELLS:,} cells", found["edits"], "ms", 100, digits=1),
            Figure("reading all of it from the tab", found["reads"], "ms", digits=1),
        ],
    )


def _notebook() -> Any:
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number in range(CELLS):
        output = nbformat.v4.new_output("stream", name="stdout", text=f"{number}\n" * 20)
        source = f"x{number} = {number}\n" + f"print(x{number})  # é\n" * 10
        cell = nbformat.v4.new_code_cell(source, outputs=[output], execution_count=number + 1, id=f"c{number}")
        notebook.cells.append(cell)
    return notebook


def _edit(notebook: Any) -> list[tuple[str, str, str]]:
    """Makes the edits in nbformat's notebook, and gives them: id, source before, source after."""
    chance = random.Random(7)
    edits = []
    for number in range(EDITS):
        cell = notebook.cells[chance.randrange(CELLS)]
        before = cell.source
        at = chance.randrange(len(before))
        cell.source = f"{before[:at]}edit {number} 😀{before[at + chance.randrange(5) :]}"
        edits.append((cell.id, before, cell.source))
    return edits


def _ask(server: JupyterProcess, edits: list[tuple[str, str, str]]) -> dict[str, Any]:
    body = json.dumps({"path": PATH, "sources": edits, "reads": READS}).encode()
    request = urllib.request.Request(
        f"{server.url}edits-probe", body, {"Authorization": f"token {server.token}"}, method="POST"
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as response:
        found: dict[str, Any] = json.loads(response.read())
        return found


def _same(saved: Any, expected: Any) -> None:
    """All of every cell, but for the mark of trust that the tab's notebook is signed by."""
    for cell in saved.cells:
        cell.metadata.pop("trusted", None)
    if saved.cells != expected.cells:
        wrong = next(one.id for one, other in zip(saved.cells, expected.cells, strict=True) if one != other)
        raise RuntimeError(f"The saved notebook is not what nbformat makes of it: cell {wrong} differs.")
