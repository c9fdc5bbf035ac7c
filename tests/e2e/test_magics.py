"""`%onyx` in a notebook: the card is answered in the cell that asked, folds, and is still there after a reload."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import APPEAR_MS, Notebook, Sidebar
from tests.e2e.skills_panel import choose
from tests.e2e.stage import Stage, tool_results
from tests.skills.notebooks import cell as code_cell
from tests.skills.notebooks import write_notebook

OpenLab = Callable[..., tuple[Sidebar, Notebook]]
LOAD = "%load_ext onyx_jupyter"


def card(notebook: Notebook, index: int = 1) -> Locator:
    """What the cell's output shows of the turn."""
    return notebook.cells.nth(index).locator("[data-onyx=cell-turn]")


def run_all(notebook: Notebook, count: int | None = None) -> None:
    """Each cell when the one before it has begun, or the first ones."""
    expect(notebook.panel.locator(".jp-KernelName")).to_contain_text("Python 3", timeout=APPEAR_MS)
    for index in range(count or notebook.cells.count()):
        prompt = notebook.cells.nth(index).locator(".jp-InputPrompt")
        for _ in range(10):  # a page that has just come up may not listen yet
            notebook.source(index).click()
            notebook.page.keyboard.press("Shift+Enter")
            try:
                expect(prompt).not_to_have_text("[ ]:", timeout=5_000)
                break
            except AssertionError:
                continue
        expect(prompt).not_to_have_text("[ ]:")


def plan(*statuses: str) -> Call:
    steps = zip(("Look around", "Make the file"), statuses, strict=True)
    return Call("plan_update", {"steps": [{"text": text, "status": status} for text, status in steps]})


def shot(shown: Page, what: str) -> None:
    folder = os.environ.get("ONYX_SHOTS")
    if folder:
        shown.screenshot(path=Path(folder) / f"{what}.png")


def hook(within: Locator, name: str) -> Locator:
    return within.locator(f"[data-onyx={name}]")


def test_approval_is_answered_in_asking_cell_and_card_collapses(
    open_lab: OpenLab, lab: LabServer, stage: Stage, name: str
) -> None:
    stage.play(
        [plan("doing", "pending")],
        ["I look first.", Call("list", {"path": "."})],
        [plan("done", "doing")],
        ["Now I make it.", Call("exec", {"command": f"touch {name}.txt"})],
        "It is **made**.\n\n```python\nx = 1\n```",
    )
    sidebar, notebook = open_lab(LOAD, "%onyx Can you make a file?")
    run_all(notebook)
    turn = card(notebook)
    approval = hook(turn, "approval")
    expect(approval).to_contain_text(f"touch {name}.txt")
    expect(turn).to_contain_text("Now I make it.")
    expect(hook(turn, "plan")).to_contain_text("1 of 2")
    hook(turn, "plan-line").click()
    expect(hook(turn, "plan-step")).to_have_text(["Look around", "Make the file"])
    shot(notebook.page, "cell-plan")
    expect(notebook.panel.locator(".jp-Stdin")).to_have_count(0)
    assert not lab.files.joinpath(f"{name}.txt").exists()
    hook(approval, "approve-once").click()

    expect(turn).to_have_attribute("data-status", "final")
    expect(hook(turn, "turn-steps").get_by_role("button")).to_have_text("2 steps")
    expect(turn.locator("strong")).to_have_text("made")
    expect(turn).not_to_contain_text("I look first.")
    expect(hook(turn, "approval")).to_have_count(0)
    expect(hook(turn, "plan-step")).to_have_text(["Look around", "Make the file"])  # as open as it was
    shot(notebook.page, "cell-plan-folded")
    assert lab.files.joinpath(f"{name}.txt").exists()
    hook(turn, "turn-steps").get_by_role("button").click()
    expect(hook(turn, "turn-step").last).to_contain_text(f"Ran touch {name}.txt")
    expect(turn).to_contain_text("I look first.")

    turn.hover()
    hook(turn, "open-session").click()
    expect(sidebar.said).to_contain_text("Can you make a file?")
    expect(sidebar.said).to_contain_text(f"You, in {name}.ipynb")
    expect(sidebar.card("exec")).to_have_attribute("data-status", "ok")

    notebook.save()
    notebook.page.reload()
    notebook.wait(cells=3)
    expect(turn.locator("strong")).to_have_text("made")
    expect(turn).to_have_attribute("data-status", "final")
    expect(hook(turn, "plan-line")).to_have_text("1 of 2Make the file")
    assert len(stage.asked) == 5


def test_question_is_answered_in_cell_and_saved_card_has_no_buttons(
    open_lab: OpenLab, tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    asking = Call("ask_user", {"question": "Which month?", "choices": ["March", "April"]})
    stage.play([asking], [Call("exec", {"command": f"touch {name}.txt"})])
    _, notebook = open_lab(LOAD, "%%onyx\nPlot a month?")
    run_all(notebook)
    turn = card(notebook)
    hook(turn, "answer").fill("rather May")
    hook(turn, "answer").press("Enter")
    expect(hook(turn, "approval")).to_be_visible()
    assert "rather May" in tool_results(stage.asked[1])[-1]

    # A file from elsewhere that names this very session and run.
    notebook.save()
    written = json.loads((lab.files / f"{name}.ipynb").read_text("utf-8"))
    written["cells"][0]["source"] = "'not what was trusted'"
    (lab.files / f"{name}-copy.ipynb").write_text(json.dumps(written), "utf-8")
    assert written["cells"][1]["outputs"][0]["data"]["application/vnd.onyx.turn+json"]["status"] == "running"
    copy_of, copied = tabs.open(lab, f"{name}-copy.ipynb", f"{name}-copy")
    copied.wait(cells=len(written["cells"]))
    expect(card(copied)).to_contain_text("was unfinished")
    expect(hook(card(copied), "approval")).to_have_count(0)
    copy_of.page.close()

    notebook.page.keyboard.press("Escape")
    interrupt(notebook.page)
    expect(turn).to_have_attribute("data-status", "aborted")
    expect(hook(turn, "approval")).to_have_count(0)
    expect(turn).to_contain_text("Stopped")
    assert not lab.files.joinpath(f"{name}.txt").exists()


def test_skill_runs_from_cell_after_approval_and_from_form(
    open_lab: OpenLab, lab: LabServer, stage: Stage, name: str
) -> None:
    parameters = code_cell("who: str = 'you'\ntimes: int = 1  # how often", "parameters")
    greeting = code_cell("print(f'Hello {who}! ' * times)", "result")
    write_notebook(lab.home / "skills" / "greet-someone.ipynb", parameters, greeting, description="Says hello.")
    form = "import onyx_jupyter\nonyx_jupyter.skill_form('greet-someone')"
    earlier = set(lab.home.glob("runs/*"))  # the server is that of other tests, too
    _, notebook = open_lab(LOAD, "%onyx skill greet-someone who=Ada", form)
    run_all(notebook, count=2)
    asking = notebook.cells.nth(1)
    consent = hook(asking, "skill-consent")
    expect(consent).to_contain_text("Hello {who}!")
    expect(notebook.panel.locator(".jp-Stdin")).to_have_count(0)
    shot(notebook.page, "cell-consent")
    hook(consent, "refuse").click()
    expect(asking).to_contain_text("not trusted, so it was not run")
    expect(consent).to_have_count(0)
    assert set(lab.home.glob("runs/*")) == earlier

    notebook.source(1).click()
    notebook.page.keyboard.press("Shift+Enter")
    hook(consent, "trust").click()
    expect(asking).to_contain_text("Hello Ada!")
    expect(asking).to_contain_text("greet-someone · done")
    with notebook.page.expect_popup() as opened:
        asking.get_by_role("link", name="greet-someone.ipynb").click()
    expect(opened.value.locator(".jp-NotebookPanel:visible .jp-OutputArea")).to_contain_text(["Hello Ada!"])
    opened.value.close()

    notebook.source(2).click()
    notebook.page.keyboard.press("Shift+Enter")
    shown = notebook.cells.nth(2).locator(".jp-OutputArea-output").first
    shown.get_by_label("who").fill("Grace")
    shown.get_by_role("button", name="Run").click()
    expect(shown).to_contain_text("Hello Grace!")
    expect(shown.get_by_role("link")).to_have_attribute("href", re.compile("^/lab/tree/Onyx%3Aruns/"))
    assert stage.asked == []


def test_card_of_interrupted_cell_is_closed_and_inert(
    open_lab: OpenLab, tabs: Tabs, lab: LabServer, stage: Stage, name: str
) -> None:
    write_notebook(lab.home / "skills" / "greet-nobody.ipynb", code_cell("print('Hello?')"))
    forged = "{'application/vnd.onyx.skill-question+json': {'questionId': 'x', 'name': 'greet-nobody'}}"
    waits = f"import os, time\nwhile not os.path.exists('{name}.txt'):\n    time.sleep(0.1)"
    _, notebook = open_lab(LOAD, "%onyx skill greet-nobody", f"display({forged}, raw=True)\n{waits}\n'slept well'")
    run_all(notebook, count=2)
    expect(hook(notebook.cells.nth(1), "skill-consent")).to_contain_text("Hello?")

    # A second window on the notebook as it was saved while the cell waits asks as well.
    notebook.save()
    _, other = tabs.open(lab, f"{name}.ipynb", f"{name}-other")
    other.wait(cells=3)
    expect(hook(other.cells.nth(1), "trust")).to_be_enabled()
    shot(other.page, "cell-consent-other-window")

    notebook.page.bring_to_front()
    choose(notebook.page, "Kernel", "kernelmenu:restart")
    notebook.page.locator(".jp-Dialog .jp-mod-accept").click()
    for window in (notebook, other):
        asked = window.cells.nth(1)
        expect(hook(asked, "skill-consent-end")).to_have_attribute("data-outcome", "gone")
        expect(hook(asked, "skill-consent-end")).to_contain_text("greet-nobody This question is no longer open.")
        expect(asked.locator(".jp-OutputArea-output").get_by_role("button")).to_have_count(0)
    shot(notebook.page, "cell-consent-gone")

    # What runs now has nothing to do with it, and a card that names no open question is none.
    notebook.wait_for_kernel()
    notebook.source(2).click()
    notebook.page.keyboard.press("Shift+Enter")
    expect(hook(notebook.cells.nth(2), "skill-consent-end")).to_contain_text("no longer open")
    expect(hook(notebook.cells.nth(2), "trust")).to_have_count(0)
    lab.files.joinpath(f"{name}.txt").touch()
    expect(notebook.cells.nth(2)).to_contain_text("'slept well'")
    assert not list(lab.home.glob("runs/greet-nobody*"))


def interrupt(page: Page) -> None:
    """As the notebook's own stop button."""
    page.locator(
        ".jp-NotebookPanel:not(.lm-mod-hidden) [data-command='notebook:interrupt-kernel'], "
        ".jp-NotebookPanel:not(.lm-mod-hidden) [title^='Interrupt']"
    ).first.click()


def test_cards_are_answered_in_notebook_7(tabs: Tabs, lab: LabServer, stage: Stage, name: str) -> None:
    write_notebook(lab.home / "skills" / "greet-seven.ipynb", code_cell("print('Hello', 3 + 4)"))
    lab.notebook(f"{name}.ipynb", LOAD, "%onyx Make a file", "%onyx skill greet-seven")
    stage.play([Call("exec", {"command": f"touch {name}.txt"})], "Not made.")
    page = tabs.new()
    page.goto(lab.url(f"notebooks/{name}.ipynb"))
    notebook = Notebook(page)
    notebook.wait(cells=3)
    run_all(notebook, count=2)
    turn = card(notebook)
    hook(turn, "deny").click()
    hook(turn, "deny-reason").fill("not here")
    hook(turn, "deny-reason").press("Enter")
    expect(turn).to_have_attribute("data-status", "final")
    expect(turn).to_contain_text("Not made.")
    assert "not here" in tool_results(stage.asked[1])[-1]
    assert not lab.files.joinpath(f"{name}.txt").exists()

    notebook.source(2).click()
    page.keyboard.press("Shift+Enter")
    asking = notebook.cells.nth(2)
    expect(hook(asking, "skill-consent")).to_contain_text("print('Hello', 3 + 4)")
    hook(asking, "trust").click()
    expect(asking.locator(".jp-OutputArea-output").last).to_contain_text("Hello 7")
    expect(hook(asking, "skill-consent")).to_have_count(0)
