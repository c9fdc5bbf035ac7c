"""Makes the pictures of docs/images/: a real JupyterLab with the example notebook, at work in a real kernel.

    .venv/bin/python -m scripts.screenshots [--model local/…] [name …]
    .venv/bin/python -m scripts.screenshots --stand-in --into /tmp/pictures [name …]

In the README a model of this machine answers (`local_pictures.py`): the fetched one, or `--model`. What takes a larger
one is played by a scripted model, whose words stand below; the numbers in them are those that the kernel prints.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import palmerpenguins
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from onyx_jupyter.providers.local_files.catalogue import CatalogueModel
from onyx_jupyter.testing.script import Call, Reply, Say, Tokens
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer
from scripts.local_pictures import LOCAL_PICTURES, STAND_IN, find_model, stand_in
from scripts.routine_pictures import ROUTINE_PICTURES, report
from scripts.studio import NOTEBOOK, ROOT, SIZE_PX, Studio, scroll_to
from tests.e2e.chromium import ARGUMENTS, find_chromium
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.review import Review
from tests.e2e.settings_panel import SettingsPanel
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.skills_panel import SkillsPanel
from tests.e2e.stage import inserted_cell_id

IMAGES = ROOT / "docs/images"
PENGUINS = Path(palmerpenguins.__file__).parent / "data" / "penguins.csv"
MODEL = "my-server/assistant"
MEMORY_PX = {"width": 1280, "height": 700}
SETTINGS_PX = {"width": 1280, "height": 720}
SKILLS_PX = {"width": 1060, "height": 1240}
MAX_BYTES = 200_000

QUESTION = "Is the contract or the number of support calls the better predictor of churn?"
PLOT = """\
figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.8), sharey=True, layout="constrained")
by_contract = customers.groupby("contract")["churned"].mean()
by_calls = customers.groupby(customers["support_calls"].clip(upper=4))["churned"].mean()
left.bar(by_contract.index, by_contract, color="#6d5bd0", width=0.6)
right.plot(by_calls.index, by_calls, color="#6d5bd0", marker="o")
left.set(xlabel="contract", ylabel="share who left")
right.set(xlabel="support calls (4 or more)", xticks=range(5))
left.yaxis.set_major_formatter("{x:.0%}")
plt.show()"""
FINDING = """\
**The contract.** 36 % of those who pay monthly left, against 4 % with two years: a factor of ten.

| support calls | left |
|---|---|
| none | 13 % |
| 2 | 26 % |
| 4 or more | 48 % |

Support calls matter too, but they set groups apart by less than a factor of four, and only 58 customers called four \
times or more."""
SECOND_QUESTION = "Say in the plot how many customers each bar stands for"
EDIT = PLOT.replace(
    'left.set(xlabel="contract", ylabel="share who left")',
    'left.bar_label(left.containers[0], customers["contract"].value_counts()[by_contract.index])\n'
    'left.set(xlabel="contract (customers)", ylabel="share who left")',
)

MEMORIES = """\
# Memory

## Work

- The **fiscal year starts in April**, so the first quarter is April to June.
- Churn is counted per contract, never per customer.

## Preferences

- Plots: colour-blind safe palettes, no pie charts.
- Answers in short sentences.
"""

DAY = """\
# 2026-10-16

## 09:12

The board asked for the churn of each quarter; finance confirmed the fiscal year.
"""

MISTAKE = "churn_by_segment.plot.bar()"


def answer(request: Received) -> Reply:
    """The scripted model: two questions, one step after the other."""
    messages = request.body["messages"]
    begin = max(index for index, message in enumerate(messages) if message["role"] == "user")
    step = sum(message["role"] == "assistant" for message in messages[begin:])
    insertion = {"path": NOTEBOOK, "cellType": "code", "source": PLOT, "afterCellId": "next"}
    if (reported := report(request)) is not None:
        return reported
    if "single word" in request.last_user_text:
        return [Say("yes"), Tokens(31, 2)]
    if SECOND_QUESTION in request.last_user_text and step > 0:
        return [Say("The customers stand above the bars, and the axis says so."), Tokens(3_905, 41)]
    if SECOND_QUESTION in request.last_user_text:
        cell = inserted_cell_id(request)
        edit = {"path": NOTEBOOK, "cellId": cell, "source": EDIT}
        return [Say("I’ll write the number of customers above each bar."), Call("notebook_edit_cell", edit)]
    if step == 0:
        say = "I’ll compare both side by side, on the same scale."
        return [Say(say), Call("notebook_insert_cell", insertion), Tokens(3_120, 164)]
    if step == 1:
        run = {"path": NOTEBOOK, "cellId": inserted_cell_id(request)}
        return [Call("notebook_run_cell", run), Tokens(3_341, 31)]
    return [Say(FINDING), Tokens(3_590, 118)]


def ask(sidebar: Sidebar) -> None:
    sidebar.models.select_option(MODEL)
    sidebar.ask(QUESTION)
    expect(sidebar.approvals).to_contain_text("by_contract")


def finish(sidebar: Sidebar, notebook: Notebook) -> None:
    sidebar.hook("approve-once").click()
    expect(sidebar.approvals.locator("[data-onyx=approval-source]")).to_be_visible()
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    expect(notebook.panel.locator(".jp-OutputArea-output img")).to_have_count(2)
    notebook.save()


def empty(studio: Studio) -> Page:
    sidebar, notebook = studio.window("empty")
    scroll_to(notebook, "Welcome to Onyx")
    expect(sidebar.empty).to_contain_text("a small model on this machine")
    return sidebar.page


def review(studio: Studio) -> Page:
    """An edit with its diff, to keep or to revert; the cell itself was kept before."""
    sidebar, notebook = studio.window("review")
    ask(sidebar)
    finish(sidebar, notebook)
    marks = Review(sidebar.page)
    marks.on(marks.of("added"), "keep").click()
    sidebar.ask(SECOND_QUESTION)
    sidebar.hook("approve-once").click()
    sidebar.wait_for_end()
    marks.on(marks.of("edited"), "diff-toggle").click()
    expect(marks.on(marks.of("edited"), "diff").locator(".cm-deletedChunk")).to_be_visible()
    expect(marks.below("undo")).to_be_visible()
    sidebar.page.set_viewport_size({"width": SIZE_PX["width"], "height": 660})
    scroll_to(notebook, "Your turn")
    return sidebar.page


def context(studio: Studio) -> Page:
    """The `@` menu, and an error with its actions."""
    sidebar, notebook = studio.window("context")
    page = sidebar.page
    notebook.cells.last.click()
    for key in ("Escape", "b", "Enter"):
        page.keyboard.press(key)
    page.keyboard.insert_text(MISTAKE)
    notebook.run(notebook.cells.count() - 1)
    expect(notebook.panel.locator("[data-onyx=error-actions]")).to_be_visible()
    sidebar.models.select_option(MODEL)
    sidebar.input.click()
    sidebar.input.press_sequentially("Who of these called most? @")
    expect(sidebar.hook("mention").and_(page.locator("[data-section=variables]")).first).to_be_visible()
    scroll_to(notebook, "Your turn")
    return page


def cell(studio: Studio) -> Page:
    sidebar, notebook = studio.window("cell")
    keys = sidebar.page.keyboard
    notebook.cells.last.click()
    keys.press("Escape")
    keys.press("b")
    keys.press("Enter")
    for source in ("%load_ext onyx_jupyter", f"%%onyx --model {MODEL}\n{QUESTION}"):
        keys.insert_text(source)
        keys.press("Shift+Enter")
    approval = notebook.panel.locator("[data-onyx=approval]")
    expect(approval).to_contain_text("by_contract")
    approval.evaluate("card => card.scrollIntoView({block: 'end'})")
    sidebar.page.mouse.move(SIZE_PX["width"] / 2, SIZE_PX["height"] - 2)
    return sidebar.page


def skills(studio: Studio) -> Page:
    """The form of a packaged skill on real data, and the result of a run."""
    sidebar, _ = studio.window("skills")
    page, panel = sidebar.page, SkillsPanel(sidebar.page)
    path = studio.add(PENGUINS)
    page.locator(".jp-SideBar .lm-TabBar-tab[data-id=onyx-chat]").click()
    expect(sidebar.node).not_to_be_visible()
    panel.show()
    panel.skill("profile-table").click()
    panel.fill("path", path)
    panel.hook("skill-run").click()
    panel.wait_for("ok")
    expect(panel.hook("skill-outputs").locator("img").first).to_be_visible()
    page.set_viewport_size(SKILLS_PX)
    page.mouse.move(SKILLS_PX["width"] / 2, SKILLS_PX["height"] - 2)
    return page


def memory(studio: Studio) -> Page:
    """A file's versions beside the search that led to it, and what was added since the first of them."""
    studio.remember("memory/2026-10-16.md", DAY)
    studio.remember("MEMORY.md", MEMORIES)
    sidebar, _ = studio.window("memory")
    page, panel = sidebar.page, MemoryPanel(sidebar.page)
    page.locator(".jp-SideBar .lm-TabBar-tab[data-id=onyx-chat]").click()
    expect(sidebar.node).not_to_be_visible()
    panel.show()
    expect(panel.hook("memory-status")).to_contain_text("meaning and keywords")
    panel.search.fill("fiscal year")
    panel.hook("memory-result").and_(page.locator('[data-path="MEMORY.md"]')).first.click()
    expect(panel.text).to_contain_text("April")
    studio.remember("MEMORY.md", MEMORIES.replace("no pie charts", "no pie charts, the same scale on both sides"))
    page.locator("[data-onyx=memory-refresh]").click()
    panel.hook("memory-show-versions").click()
    expect(panel.versions).not_to_have_count(1)
    panel.versions.nth(1).click()
    expect(panel.diff.locator(".cm-changedLine, .cm-insertedLine").first).to_be_visible()
    page.set_viewport_size(MEMORY_PX)
    page.mouse.move(MEMORY_PX["width"] / 2, MEMORY_PX["height"] - 2)
    return page


def settings(studio: Studio) -> Page:
    """A server of one's own, its key stored and its connection tested."""
    sidebar, _ = studio.window("settings")
    page, panel = sidebar.page, SettingsPanel(sidebar.page)
    sidebar.models.select_option(label="Connect a model…")
    panel.provider("my-server").click()
    panel.enter_key("a-key-of-this-server")
    panel.hook("refresh-providers").click()
    panel.wait_for_state("connected")
    panel.hook("test-connection").click()
    expect(panel.hook("test-result")).to_contain_text("answered in")
    page.set_viewport_size(SETTINGS_PX)
    page.mouse.move(SETTINGS_PX["width"] / 2, SETTINGS_PX["height"] - 2)
    return page


def usage(studio: Studio) -> Page:
    """Two answers, what each used, and the panel with today's sum."""
    sidebar, notebook = studio.window("usage")
    ask(sidebar)
    finish(sidebar, notebook)
    sidebar.hook("menu").click()
    sidebar.page.get_by_role("menuitem", name="Usage…").click()
    expect(sidebar.hook("usage-days")).to_be_visible()
    return sidebar.page


PICTURES: Mapping[str, Callable[[Studio], Page]] = {
    "empty": empty,
    **LOCAL_PICTURES,
    "cell": cell,
    "review": review,
    "context": context,
    "skills": skills,
    "memory": memory,
    "settings": settings,
    "usage": usage,
    **ROUTINE_PICTURES,
}


def shoot(page: Page, target: Path) -> int:
    """Saves the picture; returns its size in bytes."""
    expect(page.get_by_text("Saving completed")).to_have_count(0)
    picture = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    picture.save(target, optimize=True)
    return target.stat().st_size


def main(arguments: Sequence[str]) -> None:
    options = read(arguments)
    names = options.names or list(PICTURES)
    model = None if options.stand_in or LOCAL_PICTURES.keys().isdisjoint(names) else find_model(options.model)
    executable = find_chromium()
    if executable is None:
        raise SystemExit("There is no Chromium on this machine (Debian: sudo apt-get install chromium).")
    expect.set_options(timeout=60_000)
    options.into.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer(reply, models=["assistant", STAND_IN]) as provider,
        sync_playwright() as playwright,
    ):
        lab = LabServer(Path(folder) / "lab", config(provider.base_url, with_stand_in=options.stand_in))
        if model is not None:
            lend(lab, *model)
        lab.start()
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        studio = Studio(lab, browser, model[0].id if model else f"{STAND_IN}/{STAND_IN}")
        try:
            for name in names:
                page = PICTURES[name](studio)
                size = shoot(page, options.into / f"{name}.png")
                page.context.close()
                print(f"{name}.png  {size / 1000:.0f} kB")
                if size > MAX_BYTES:
                    raise SystemExit(f"{name}.png is larger than {MAX_BYTES / 1000:.0f} kB.")
        finally:
            browser.close()
            lab.stop()


def read(arguments: Sequence[str]) -> argparse.Namespace:
    """Raises: SystemExit."""
    parser = argparse.ArgumentParser(prog="python -m scripts.screenshots")
    parser.add_argument("names", nargs="*", metavar="name", help=f"{', '.join(PICTURES)}; all where none is given")
    parser.add_argument("--model", help="the model of this machine that answers, such as local/qwen2.5-coder-1.5b")
    parser.add_argument("--stand-in", action="store_true", help="a script answers in its place")
    parser.add_argument("--into", type=Path, default=IMAGES, help="another folder than docs/images")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(PICTURES))
    if unknown:
        parser.error(f"there is no picture {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    if options.stand_in and options.into.resolve() == IMAGES:
        parser.error("--stand-in: what a script says goes into no page; name another folder with --into")
    return options


def config(provider_url: str, *, with_stand_in: bool) -> dict[str, Any]:
    """No default model: the first picture is that of a fresh machine."""
    providers: dict[str, Any] = {"my-server": {"baseUrl": provider_url, "models": ["assistant"]}}
    if with_stand_in:
        providers[STAND_IN] = {"baseUrl": provider_url, "models": [STAND_IN], "toolMode": "cell"}
    return {"providers": providers}


def lend(lab: LabServer, model: CatalogueModel, file: Path) -> None:
    """Gives the server the model file, wherever it was found on this machine."""
    models = lab.home / "models"
    models.mkdir()
    models.joinpath(model.file_name).symlink_to(file)


def reply(request: Received) -> Reply:
    return stand_in(request) if request.body.get("model") == STAND_IN else answer(request)


if __name__ == "__main__":
    main(sys.argv[1:])
