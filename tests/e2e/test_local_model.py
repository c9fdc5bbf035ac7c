"""No account, no configuration, no network: the model that set-up fetched answers in the sidebar."""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright, expect

from benchmarks.agent.example_data import WELCOME
from benchmarks.agent.first_minute import TASKS
from benchmarks.agent.server_notebook import read_cells
from benchmarks.agent.task import Turn, touched_cells
from onyx_jupyter.providers.network_guard import FORBID_VARIABLE
from tests.e2e.chromium import ARGUMENTS
from tests.e2e.conftest import FAILED, Tabs, keep_traces
from tests.e2e.lab_server import PACKAGE, LabServer, can_cut_off
from tests.e2e.sidebar import Notebook, Sidebar
from tests.local_model import MODEL, needs_local_model

ANSWER_MS = 120_000
FIRST_MINUTE_MS = 240_000
FIRST_MINUTE = {task.id: task for task in TASKS}


@pytest.fixture
def offline_lab(tmp_path: Path) -> Iterator[LabServer]:
    """As on a fresh machine: no onyx.json, no key, every provider forbidden, and no network where that can be had."""
    lab = LabServer(tmp_path, environment={FORBID_VARIABLE: "1"}, offline=can_cut_off())
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def offline_tabs(
    offline_lab: LabServer,
    playwright: Playwright,
    chromium: str,
    browser_context_args: dict[str, Any],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    name: str,
) -> Iterator[Tabs]:
    """A browser that shares the server's network: it has no way out either."""
    browser = chromium
    if can_cut_off():
        wrapper = tmp_path / "chromium"
        wrapper.write_text(f'#!/bin/sh\nexec {" ".join(offline_lab.enter_network())} {chromium} "$@"\n', "utf-8")
        wrapper.chmod(0o700)
        browser = str(wrapper)
    launched = playwright.chromium.launch(executable_path=browser, args=list(ARGUMENTS))
    tabs = Tabs(launched.new_context(**browser_context_args))
    yield tabs
    if request.node.stash.get(FAILED, False):
        keep_traces(Path(request.config.getoption("--output")) / name, tabs, [offline_lab])
    launched.close()


@needs_local_model
def test_question_is_answered_without_configuration_and_network(offline_lab: LabServer, offline_tabs: Tabs) -> None:
    offline_lab.notebook("offline.ipynb")
    sidebar, _ = offline_tabs.open(offline_lab, "offline.ipynb", "offline")
    expect(sidebar.empty).to_contain_text("a small model on this machine")
    expect(sidebar.hook("connect-model")).to_be_visible()
    sidebar.ask("What is pandas? Answer in one short sentence.")
    expect(sidebar.answers.last).not_to_be_empty(timeout=ANSWER_MS)
    expect(sidebar.runs.last).to_have_attribute("data-status", "final", timeout=ANSWER_MS)
    assert sum('"chat.delta"' in frame for frame in offline_tabs.console) > 1
    expect(sidebar.problems).to_have_count(0)
    assert offline_tabs.uncaught == []


def has_card(sidebar: Sidebar) -> bool:
    """Whether the answer under way waits for a yes; False once it has come."""
    ended = sidebar.runs.last.and_(sidebar.page.locator("[data-status]:not([data-status=running])"))
    expect(sidebar.hook("approve-once").or_(ended).last).to_be_visible(timeout=FIRST_MINUTE_MS)
    return ended.count() == 0


def say_yes(sidebar: Sidebar) -> None:
    """To the card that stands there; another one may come."""
    card = sidebar.approvals.get_attribute("data-approval-id")
    sidebar.hook("approve-once").click()
    expect(sidebar.node.locator(f"[data-approval-id='{card}']")).to_have_count(0)


def ask(sidebar: Sidebar, name: str) -> None:
    """That question of the benchmark's first minute; its answer has begun when this returns."""
    runs = sidebar.runs.count()
    sidebar.ask(FIRST_MINUTE[name].messages[0])
    expect(sidebar.runs).to_have_count(runs + 1)


def what_is_lacking(name: str, sidebar: Sidebar, notebook: Notebook, path: Path) -> str:
    """In the answer under way and in the cells that it brings, as the benchmark judges; each card gets its yes."""
    before = read_cells(path)
    while has_card(sidebar):
        say_yes(sidebar)
    sidebar.wait_for_end()
    answer = sidebar.answers.last.inner_text()
    notebook.save()
    after = read_cells(path)
    task = FIRST_MINUTE[name]
    verdict = task.judge([Turn(task.messages[0], answer, cells=after, touched=touched_cells(before, after))])
    return "" if verdict.right else f"{name}: {verdict.missing}. It said: {answer}"


def opened_and_run(lab: LabServer, tabs: Tabs) -> tuple[Sidebar, Notebook, Path]:
    """The example notebook, as a person has it who did what its first lines say."""
    path = Path(shutil.copy(WELCOME, lab.files))
    sidebar, notebook = tabs.open(lab, path.name, "welcome")
    notebook.wait(cells=len(read_cells(path)))
    notebook.wait_for_kernel()
    sidebar.page.get_by_role("menuitem", name="Run", exact=True).click()
    sidebar.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    expect(notebook.panel.locator(".jp-RenderedImage")).to_have_count(1, timeout=ANSWER_MS)
    notebook.wait_for_kernel()
    notebook.save()
    return sidebar, notebook, path


@needs_local_model
@pytest.mark.timeout(4 * FIRST_MINUTE_MS / 1000)
def test_typical_first_questions_about_example_are_answered_correctly(
    offline_lab: LabServer, offline_tabs: Tabs
) -> None:
    sidebar, notebook, path = opened_and_run(offline_lab, offline_tabs)
    cells = notebook.cells.count()

    # A cell comes when its button is pressed, and not before.
    ask(sidebar, "rate_by_contract")
    assert has_card(sidebar), sidebar.answers.last.inner_text()
    expect(sidebar.approvals).to_contain_text("Insert a code cell")
    expect(notebook.cells).to_have_count(cells)
    lacking = [what_is_lacking("rate_by_contract", sidebar, notebook, path)]
    expect(notebook.cells).to_have_count(cells + 1)

    # What is only to be told, and what has to be computed first.
    for name in ("what", "fee_of_leavers"):
        ask(sidebar, name)
        lacking.append(what_is_lacking(name, sidebar, notebook, path))
    assert list(filter(None, lacking)) == []
    expect(sidebar.problems).to_have_count(0)
    assert offline_tabs.uncaught == []


NOTHING_INSTALLED = """\
import onyx_jupyter.providers.local_files.storage_folders as places
places.shared_folders = lambda: ()
"""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., LabServer]]:
    """Starts a server for which the environment's own model file is not there."""
    labs: list[LabServer] = []

    def start(**config: Any) -> LabServer:
        first = tmp_path / "first"
        first.mkdir()
        (first / "sitecustomize.py").write_text(NOTHING_INSTALLED, "utf-8")
        lab = LabServer(tmp_path, config, environment={"PYTHONPATH": f"{first}{os.pathsep}{PACKAGE.parent}"})
        labs.append(lab)
        lab.start()
        lab.notebook("none.ipynb")
        return lab

    yield start
    for lab in labs:
        lab.stop()


def test_without_model_message_and_buttons_guide_user_and_message_is_kept(
    start: Callable[..., LabServer], tabs: Tabs
) -> None:
    sidebar, _ = tabs.open(start(), "none.ipynb", "none")
    line = sidebar.hook("no-model")
    expect(line).to_contain_text(
        "No model is set up yet. You can search, run skills from their forms, connect a provider"
    )
    expect(line).to_contain_text(re.compile(r"or download Qwen2\.5 Coder \S+ \(\S+ [GM]B\)\.$"))
    expect(sidebar.hook("suggestion")).to_have_count(0)
    words = line.inner_text()
    sidebar.ask("Explain my notebook")
    expect(line).to_contain_text(words)
    expect(sidebar.said).to_contain_text("Explain my notebook")
    expect(sidebar.problems).to_have_count(0)
    expect(line.locator("[data-onyx=offer-fetch]")).to_be_visible()
    expect(line.locator("[data-onyx=retry]")).to_be_visible()
    line.locator("[data-onyx=show-skills]").click()
    expect(sidebar.page.locator("#onyx-skills")).to_be_visible()
    line.locator("[data-onyx=connect-model]").click()
    expect(sidebar.hook("connect-panel")).to_be_visible()
    assert tabs.uncaught == []


def test_smollm2_in_configuration_shows_alternatives_and_offer(start: Callable[..., LabServer], tabs: Tabs) -> None:
    lab = start(agents={"defaults": {"model": "local/smollm2"}})
    sidebar, _ = tabs.open(lab, "none.ipynb", "none")
    expect(sidebar.hook("no-model")).to_contain_text("local/smollm2 is no longer part of Onyx")
    expect(sidebar.hook("no-model")).to_contain_text(MODEL.id)
    expect(sidebar.hook("offer-fetch")).to_be_visible()
    sidebar.ask("Explain my notebook")
    expect(sidebar.problems).to_contain_text("local/smollm2 is no longer part of Onyx")
    expect(sidebar.problems.locator("[data-onyx=offer-fetch]")).to_be_visible()
    assert tabs.uncaught == []
