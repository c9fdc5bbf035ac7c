"""How long an edit in an open notebook of a thousand cells takes until the tab has acknowledged it, and reading it."""

from __future__ import annotations

import json
import random
import shutil
import statistics
import urllib.request
from itertools import pairwise
from typing import Any

import nbformat
from playwright.sync_api import sync_playwright

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.socket_client import SocketClient
from onyx_jupyter.testing.script import Call, Reply
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer
from tests.e2e.chromium import ARGUMENTS

CELLS = 1_000
EDITS = 200
CALLS = 60
LIMIT_MS = 100
READS = 15
PATH = "large.ipynb"
METHOD = (
    f"A notebook of {CELLS:,} cells with outputs, open in JupyterLab in headless Chromium. {EDITS} edits in a row, "
    "each of one cell on the hash of its source, from the call of the document service to the tab's acknowledgement; "
    f"then it is read from the tab. Then a scripted model answers with {CALLS} calls of `notebook_edit_cell` at once, "
    "in Auto mode: a call is the time from one result to the next, in which the agent previews it, sees that it may, "
    "writes down what is there, edits, and writes the result into the transcript. All this while JupyterLab still "
    "draws the notebook's cells, then the calls once more when it has drawn them all. The notebook is saved, and its "
    "file equals the one in which nbformat made the same edits."
)
_APPEAR_MS = 60_000
_DRAW_MS = 180_000
_IS_DRAWN = "count => document.querySelectorAll('.jp-Notebook .cm-editor').length >= count"


def measure() -> Group:
    notebook = _notebook()
    replies: list[Reply] = []

    def reply(request: Received) -> Reply:
        return replies.pop(0) if "tools" in request.body else "A title"

    with (
        ScriptedServer(reply) as provider,
        JupyterProcess(
            configuration=_configuration(provider.base_url), extensions=("benchmarks.notebook.edits_probe",)
        ) as server,
        sync_playwright() as playwright,
    ):
        nbformat.write(notebook, server.root / PATH)
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{server.url}lab/tree/{PATH}?token={server.token}&reset")
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for(timeout=_APPEAR_MS)
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=_APPEAR_MS)
        chance = random.Random(7)
        found = _ask(server, _edit(notebook, EDITS, chance))
        if found["backend"] != "browser":
            raise RuntimeError(f"The notebook was edited by way of {found['backend']}.")
        calls_ms = []
        for is_drawn in (False, True):
            if is_drawn:
                page.wait_for_function(_IS_DRAWN, arg=CELLS, timeout=_DRAW_MS)
            replies += [[_call(cell_id, after) for cell_id, _, after in _edit(notebook, CALLS, chance)], "Done."]
            calls_ms.append(_calls(server))
        page.locator('.jp-NotebookPanel-toolbar [data-jp-item-name="save"] jp-button').click()
        page.locator(".lm-TabBar-tab.jp-mod-dirty").wait_for(state="detached", timeout=_APPEAR_MS)
        browser.close()
        _same(nbformat.read(server.root / PATH, as_version=4), notebook)
    in_edits = statistics.median(calls_ms[0]) / statistics.median(found["edits"])
    return Group(
        "Edits of an open notebook",
        METHOD,
        [
            Figure(f"an acknowledged edit, {CELLS:,} cells", found["edits"], "ms", LIMIT_MS, digits=1),
            Figure("a whole call of `notebook_edit_cell`", calls_ms[0], "ms", LIMIT_MS, digits=1),
            Figure("  in acknowledged edits", [in_edits], "×"),
            Figure("  once JupyterLab has drawn all cells", calls_ms[1], "ms", LIMIT_MS, digits=1),
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


def _configuration(base_url: str) -> dict[str, Any]:
    return {
        "agents": {"defaults": {"model": "openai/scripted"}},
        "providers": {"openai": {"baseUrl": base_url, "apiKey": "sk-scripted"}},
    }


def _edit(notebook: Any, count: int, chance: random.Random) -> list[tuple[str, str, str]]:
    """Makes the edits in nbformat's notebook, and gives them: id, source before, source after."""
    edits = []
    for number in range(count):
        cell = notebook.cells[chance.randrange(CELLS)]
        before = cell.source
        at = chance.randrange(len(before))
        cell.source = f"{before[:at]}edit {number} 😀{before[at + chance.randrange(5) :]}"
        edits.append((cell.id, before, cell.source))
    return edits


def _call(cell_id: str, source: str) -> Call:
    return Call("notebook_edit_cell", {"path": PATH, "cellId": cell_id, "source": source}, chunk_chars=None)


def _calls(server: JupyterProcess) -> list[float]:
    """Milliseconds from the result of each call to that of the next one."""
    with SocketClient(server.port, server.token) as client:
        session = client.call("sessions.create")["sessionKey"]
        client.call("chat.send", sessionKey=session, message="Edit", mode="auto")
        finished = [client.wait_for("tool.finished", "exec.approval_request") for _ in range(CALLS)]
        client.wait_for("chat.final")
    if wrong := next((event for event in finished if not event.data.get("ok")), None):
        raise RuntimeError(f"A call did not edit its cell: {wrong.data}")
    moments = [event.at_ns for event in finished]
    return [(after - before) / 1e6 for before, after in pairwise(moments)]


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
