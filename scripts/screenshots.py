"""Makes the pictures of docs/images/: a real JupyterLab with the example notebook, and a scripted model.

    .venv/bin/python -m scripts.screenshots [name …]

The words of the answers are written down below; everything else is the product at work: the notebook runs in a real
kernel, and the numbers in the answers are those that it prints.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import palmerpenguins
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from onyx_jupyter.testing.script import Call, Reply, Say, Tokens
from onyx_jupyter.testing.scripted_server import Received, ScriptedServer
from tests.e2e.chromium import ARGUMENTS, find_chromium
from tests.e2e.lab_server import LabServer
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.review import Review
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.skills_panel import SkillsPanel
from tests.e2e.stage import inserted_cell_id

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs/images"
NOTEBOOK = "welcome.ipynb"
PENGUINS = Path(palmerpenguins.__file__).parent / "data" / "penguins.csv"
MODEL = "my-server/assistant"
SIZE_PX = {"width": 1280, "height": 800}
MEMORY_PX = {"width": 1280, "height": 700}
SKILLS_PX = {"width": 1060, "height": 1240}
SIDEBAR_PX = 372
NARROW_PX = 280
THEME = "@jupyterlab/apputils-extension/themes"
MOST_BYTES = 200_000

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


class Studio:
    """One server and one browser; each picture has a window of its own."""

    def __init__(self, lab: LabServer, browser: Browser) -> None:
        self._lab = lab
        self._browser = browser

    def window(self, name: str) -> tuple[Sidebar, Notebook]:
        """A fresh copy of the example, all of it run, with the sidebar beside it."""
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

    def _end_kernels(self, page: Page) -> None:
        """So that the cells count from one again."""
        for kernel in page.request.get(self._lab.url("api/kernels")).json():
            page.request.delete(self._lab.url(f"api/kernels/{kernel['id']}"))

    def ask(self, sidebar: Sidebar) -> None:
        sidebar.models.select_option(MODEL)
        sidebar.ask(QUESTION)
        expect(sidebar.approvals).to_contain_text("by_contract")

    def finish(self, sidebar: Sidebar, notebook: Notebook) -> None:
        sidebar.hook("approve-once").click()
        expect(sidebar.approvals.locator("[data-onyx=approval-source]")).to_be_visible()
        sidebar.hook("approve-once").click()
        sidebar.wait_for_end()
        expect(notebook.panel.locator(".jp-OutputArea-output img")).to_have_count(2)
        notebook.save()

    def paint(self, theme: str) -> None:
        self._lab.set(THEME, {"theme": theme})


def empty(studio: Studio) -> Page:
    sidebar, notebook = studio.window("empty")
    scroll_to(notebook, "Welcome to Onyx")
    expect(sidebar.empty).to_contain_text("a small model on this machine")
    return sidebar.page


def approval(studio: Studio) -> Page:
    sidebar, notebook = studio.window("approval")
    studio.ask(sidebar)
    scroll_to(notebook, "See it")
    return sidebar.page


def done(studio: Studio) -> Page:
    sidebar, notebook = studio.window("done")
    studio.ask(sidebar)
    studio.finish(sidebar, notebook)
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
    sidebar, notebook = studio.window("narrow")
    studio.ask(sidebar)
    studio.finish(sidebar, notebook)
    widen(sidebar, NARROW_PX)
    sidebar.ask(SECOND_QUESTION)
    expect(sidebar.approvals).to_contain_text("bar_label")
    scroll_to(notebook, "Your turn")
    return sidebar.page


def review(studio: Studio) -> Page:
    """An edit with its diff, to keep or to revert; the cell itself was kept before."""
    sidebar, notebook = studio.window("review")
    studio.ask(sidebar)
    studio.finish(sidebar, notebook)
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
    """The menu of `@`, and an error with what one can do about it."""
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
    """The form of a packaged skill on real data, and what its run gave."""
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
    expect(panel.hook("memory-status")).to_contain_text("meaning and words")
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


PICTURES: Mapping[str, Callable[[Studio], Page]] = {
    "empty": empty,
    "approval": approval,
    "done": done,
    "cell": cell,
    "dark": dark,
    "narrow": narrow,
    "review": review,
    "context": context,
    "skills": skills,
    "memory": memory,
}


def widen(sidebar: Sidebar, width_px: float) -> None:
    """Draws the sidebar's edge until it is this wide."""
    box = sidebar.node.bounding_box()
    assert box is not None
    edge, middle = box["x"] - 2, box["y"] + box["height"] / 2
    mouse = sidebar.page.mouse
    mouse.move(edge, middle)
    mouse.down()
    mouse.move(edge + box["width"] - width_px, middle, steps=4)
    mouse.up()


def scroll_to(notebook: Notebook, heading: str) -> None:
    """This heading at the top, nothing selected by the pointer."""
    notebook.panel.get_by_role("heading", name=heading).evaluate("heading => heading.scrollIntoView({block: 'start'})")
    notebook.page.mouse.move(SIZE_PX["width"] / 2, SIZE_PX["height"] - 2)


def shoot(name: str, page: Page) -> int:
    """Saves the picture; returns its size in bytes."""
    expect(page.get_by_text("Saving completed")).to_have_count(0)
    target = IMAGES / f"{name}.png"
    picture = Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    picture.save(target, optimize=True)
    return target.stat().st_size


def main(names: list[str]) -> None:
    unknown = set(names) - set(PICTURES)
    if unknown:
        raise SystemExit(f"There is no picture {', '.join(sorted(unknown))}; there are {', '.join(PICTURES)}.")
    executable = find_chromium()
    if executable is None:
        raise SystemExit("There is no Chromium on this machine (Debian: sudo apt-get install chromium).")
    expect.set_options(timeout=60_000)
    IMAGES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        ScriptedServer(answer, models=["assistant"]) as provider,
        sync_playwright() as playwright,
    ):
        # No default model: the first picture is that of a fresh machine.
        config = {"providers": {"my-server": {"baseUrl": provider.base_url, "models": ["assistant"]}}}
        lab = LabServer(Path(folder) / "lab", config)
        lab.start()
        browser = playwright.chromium.launch(executable_path=executable, args=list(ARGUMENTS))
        try:
            for name in names or PICTURES:
                page = PICTURES[name](Studio(lab, browser))
                size = shoot(name, page)
                page.context.close()
                print(f"{name}.png  {size / 1000:.0f} kB")
                if size > MOST_BYTES:
                    raise SystemExit(f"{name}.png is larger than {MOST_BYTES / 1000:.0f} kB.")
        finally:
            browser.close()
            lab.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
