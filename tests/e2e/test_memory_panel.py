"""The memory panel: what stands there is found, opened from an answer, followed by hand, compared and brought back."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.lab_server import LabServer, until
from tests.e2e.memory_panel import MemoryPanel
from tests.e2e.sidebar import Notebook, Sidebar
from tests.e2e.stage import Stage

PATH = "memory/2026-03-14.md"
BEFORE = "# 2026-03-14\n\n## 09:12\n\n- The heron survey counts nests by drone.\n- Its budget is 40,000 crowns.\n"
AFTER = BEFORE.replace("40,000 crowns", "55,000 crowns, raised by the council")


def test_memory_is_searched_compared_and_restored(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer, stage: Stage
) -> None:
    file = lab.home / "workspace" / PATH
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(BEFORE, "utf-8")
    sidebar, notebook = open_lab("1")
    notebook.wait_for_kernel()
    page = sidebar.page

    # From lines that an answer names, at these lines.
    stage.play(f"The survey counts nests by drone ({PATH}:5).")
    sidebar.ask("How are the herons counted?")
    sidebar.wait_for_end()
    sidebar.hook("memory-citation").click()
    panel = MemoryPanel(page)
    expect(panel.marked()).to_have_text("The heron survey counts nests by drone.")
    expect(panel.file(PATH)).to_have_attribute("aria-current", "true")

    # The search has the keyboard; the best result opens with Enter, and arrows lead to the others.
    expect(panel.search).to_be_focused()
    page.keyboard.type("heron budget crowns")
    result = panel.hook("memory-result").and_(page.locator(f'[data-path="{PATH}"]')).first
    expect(result.locator("mark").last).to_be_visible()
    expect(result.locator("[data-onyx=score]")).to_have_attribute("aria-label", re.compile(r"^Score [01]\.\d\d\n"))
    panel.press("ArrowDown", "ArrowUp", "Enter")
    expect(panel.marked().last).to_contain_text("40,000 crowns")

    # Changed by hand, it is found and shown as it is now.
    file.write_text(AFTER, "utf-8")
    panel.search.fill("raised by the council")
    expect(result).to_contain_text("raised by the council")
    panel.press("Enter")
    expect(panel.marked().last).to_contain_text("55,000 crowns")
    expect(result).to_have_attribute("aria-current", "true")

    # Its versions say what changed, and a former one comes back, and goes again.
    panel.hook("memory-show-versions").press("Enter")
    expect(panel.versions).to_have_count(2)
    expect(panel.version(2)).to_contain_text("You")
    panel.version(2).press("ArrowDown")
    expect(panel.version(1)).to_be_focused()
    panel.press("Enter")
    expect(panel.diff.locator(".cm-deletedChunk")).to_contain_text("40,000 crowns")
    expect(panel.diff.locator(".cm-insertedLine, .cm-changedLine").first).to_contain_text("raised by the council")
    panel.hook("memory-restore").press("Enter")
    expect(panel.notices).to_contain_text(f"{PATH} was restored to version 1.")
    assert file.read_text("utf-8") == BEFORE
    expect(panel.versions).to_have_count(3)
    panel.notices.get_by_text("Undo").press("Enter")
    until(lambda: file.read_text("utf-8") == AFTER)
    expect(panel.version(4)).to_contain_text("restored version 2")

    # What the agent finds there is a list in its card, which leads to the lines.
    stage.play([Call("memory_search", {"query": "heron nests drone"})], "By drone.")
    sidebar.ask("Look it up once more")
    sidebar.wait_for_end()
    card = sidebar.card("memory_search")
    card.locator("button").first.click()
    found = card.locator(f'[data-onyx=memory-result][data-path="{PATH}"]').first
    expect(card.locator("[data-onyx=tool-output]")).to_have_count(0)
    found.press("Enter")
    expect(panel.marked().filter(has_text="heron")).to_be_visible()

    # What was said and never noted is found below what was, and opens where it was said.
    said = panel.hook("memory-conversation").filter(has_text="The survey counts nests by drone")
    panel.search_until("survey counts nests", said)
    said.click()
    expect(sidebar.answers.first).to_be_focused()

    # Where there is room for one part alone, the keyboard goes along with what is seen.
    panel.node.evaluate("node => (node.style.maxWidth = '280px')")
    panel.hook("memory-back").press("Enter")
    panel.search.fill("heron nests drone")
    expect(result).to_be_visible()
    panel.search.press("Enter")
    expect(panel.hook("memory-back")).to_be_focused()
    panel.press("Enter")
    expect(panel.search).to_be_focused()
    panel.node.evaluate("node => (node.style.maxWidth = '')")
    panel.press("Enter")
    expect(panel.text).to_contain_text("55,000 crowns")

    # It opens in JupyterLab's editor, and after a reload the panel shows the same file.
    panel.hook("memory-editor").press("Enter")
    expect(page.locator(".jp-FileEditor:visible .cm-content")).to_contain_text("55,000 crowns")
    page.reload()
    sidebar.show()
    expect(page.locator(".jp-FileEditor:visible .cm-content")).to_contain_text("55,000 crowns")
    panel.show()
    expect(panel.text).to_contain_text("55,000 crowns")
    file.unlink()
