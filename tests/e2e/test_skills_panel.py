"""The skills panel: a packaged skill with other values, its result and copy; a notebook saved, run and trusted."""

import shutil
from collections.abc import Callable
from pathlib import Path

import palmerpenguins
from playwright.sync_api import expect

from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Notebook, Sidebar, source_of
from tests.e2e.skills_panel import RUN_MS, SkillsPanel, choose

PENGUINS = Path(palmerpenguins.__file__).parent / "data" / "penguins.csv"


def test_packaged_skill_runs_with_other_values_and_keeps_copy(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer
) -> None:
    shutil.copy(PENGUINS, lab.files / "penguins.csv")
    earlier = set((lab.home / "runs").rglob("*.ipynb"))  # the server is that of other tests, too
    sidebar, notebook = open_lab("1")
    panel = SkillsPanel(sidebar.page)
    panel.show()
    panel.hook("skill-search").fill("distributions")
    expect(panel.hook("skill")).to_have_count(1)
    panel.skill("profile-table").click()
    expect(panel.skill("profile-table")).to_have_attribute("data-state", "ready")

    # What is missing is said in its place, and nothing runs.
    panel.hook("skill-run").click()
    expect(panel.field("path").locator("[data-onyx=field-error]")).to_be_visible()
    expect(panel.field("path").locator("input")).to_be_focused()
    panel.fill("max_rows", "many")
    expect(panel.field("max_rows").locator("[data-onyx=field-error]")).to_be_visible()
    expect(panel.run).to_have_count(0)

    # With values of one's own it goes on cell by cell, to tables and pictures.
    panel.fill("path", "penguins.csv")
    panel.fill("max_rows", "300")
    panel.fill("columns", "species, body_mass_g")
    panel.hook("skill-run").click()
    expect(panel.hook("skill-progress")).to_contain_text("Cell ", timeout=RUN_MS)
    expect(panel.hook("skill-stop")).to_be_visible()
    panel.wait_for("ok")
    result = panel.hook("skill-outputs")
    expect(result).to_contain_text("300 rows × 2 columns")
    expect(result.locator("table")).to_contain_text("body_mass_g")
    expect(result.locator("img").first).to_be_visible()
    expect(panel.hook("skill-run")).to_be_visible()

    # A wrong file fails with the skill's own words, and the run before is still there to be looked at.
    panel.fill("path", "nothing.csv")
    panel.hook("skill-run").click()
    panel.wait_for("failed")
    expect(panel.hook("skill-error")).to_contain_text("path: there is no file 'nothing.csv'")
    panel.hook("skill-history-run").nth(1).click()
    expect(result).to_contain_text("300 rows × 2 columns")
    expect(panel.field("path").locator("input")).to_have_value("penguins.csv")

    # The executed copy opens as a notebook, with the values and the outputs.
    panel.hook("open-copy").click()
    expect(notebook.panel).to_contain_text("Profile a table")
    given = notebook.cells.filter(has_text="max_rows = 300")
    expect(given).to_have_count(1)
    expect(notebook.panel.locator(".jp-OutputArea-output img").first).to_be_visible()
    assert len(set((lab.home / "runs").rglob("*.ipynb")) - earlier) == 2


def test_current_notebook_becomes_skill_runs_and_is_trusted_again_when_changed(
    open_lab: Callable[..., tuple[Sidebar, Notebook]], lab: LabServer
) -> None:
    sidebar, notebook = open_lab("rows = 3  # how many", "print('rows:', rows * 2)")
    page = sidebar.page
    choose(page, "File", "onyx:save-as-skill")
    panel = SkillsPanel(page)
    draft = panel.hook("skill-draft")
    parameters = panel.field("parameters").locator("textarea")
    expect(parameters).to_have_value("# Parameters\nrows: int = 3  # how many")

    # Errors stand where they belong, and what was typed stays.
    panel.fill("name", "Double Rows")
    panel.fill("description", "Doubles a number of rows.")
    panel.hook("draft-save").click()
    expect(panel.field("name").locator("[data-onyx=field-error]")).to_contain_text("lower-case")
    panel.fill("name", "double-rows")
    panel.fill("parameters", "rows: int = ")
    panel.hook("draft-save").click()
    expect(panel.field("parameters").locator("[data-onyx=field-error]")).to_contain_text("does not parse")
    panel.fill("parameters", "rows: int = 3  # how many rows")
    panel.hook("draft-save").click()
    expect(draft).to_have_count(0)

    # It is in the list, trusted, and runs.
    expect(panel.skill("double-rows")).to_have_attribute("aria-current", "true")
    expect(panel.skill("double-rows")).to_have_attribute("data-state", "ready")
    expect(panel.field("rows")).to_contain_text("how many rows")
    panel.fill("rows", "21")
    panel.hook("skill-run").click()
    panel.wait_for("ok")
    expect(panel.hook("skill-outputs")).to_contain_text("rows: 42")
    notebook_tab = page.locator(".lm-DockPanel-tabBar .lm-TabBar-tab", has_text=".ipynb").first
    notebook_tab.click()
    assert source_of(notebook.source(0)) == "rows = 3  # how many"

    # Changed on disk, it does not run until the difference was looked at.
    saved = lab.home / "workspace" / "skills" / "double-rows.ipynb"
    text = saved.read_text("utf-8")
    saved.write_text(text.replace("rows * 2", "rows * 3"), "utf-8")
    panel.show()
    expect(panel.skill("double-rows")).to_have_attribute("data-state", "untrusted")
    expect(panel.hook("skill-run")).to_be_disabled()
    difference = panel.hook("skill-trust").locator("[data-onyx=diff]")
    expect(difference.locator(".onyx-mod-added")).to_contain_text("rows * 3")
    expect(difference.locator(".onyx-mod-removed")).to_contain_text("rows * 2")
    panel.hook("trust").click()
    expect(panel.skill("double-rows")).to_have_attribute("data-state", "ready")
    panel.hook("skill-run").click()
    expect(panel.hook("skill-history-run")).to_have_count(2)
    panel.wait_for("ok")
    expect(panel.hook("skill-outputs")).to_contain_text("rows: 63")  # with what was typed before
    panel.hook("open-skill").click()
    expect(notebook.panel).to_contain_text("rows * 3")
