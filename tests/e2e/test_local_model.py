"""No account, no configuration, no network: the model that set-up fetched answers in the sidebar."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright, expect

from onyx_jupyter.providers.network_guard import FORBID_VARIABLE
from tests.e2e.chromium import ARGUMENTS
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import PACKAGE, LabServer, can_cut_off
from tests.local_model import MODEL, needs_local_model

ANSWER_MS = 120_000


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
) -> Iterator[Tabs]:
    """A browser that shares the server's network: it has no way out either."""
    browser = chromium
    if can_cut_off():
        wrapper = tmp_path / "chromium"
        wrapper.write_text(f'#!/bin/sh\nexec {" ".join(offline_lab.enter_network())} {chromium} "$@"\n', "utf-8")
        wrapper.chmod(0o700)
        browser = str(wrapper)
    launched = playwright.chromium.launch(executable_path=browser, args=list(ARGUMENTS))
    yield Tabs(launched.new_context(**browser_context_args))
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


NOTHING_INSTALLED = """\
import onyx_jupyter.providers.local_files.places as places
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


def test_without_a_model_one_line_and_buttons_say_what_to_do_and_the_message_is_kept(
    start: Callable[..., LabServer], tabs: Tabs
) -> None:
    sidebar, _ = tabs.open(start(), "none.ipynb", "none")
    line = sidebar.hook("no-model")
    expect(line).to_contain_text("No model can answer yet: search, run skills by form, connect a provider")
    expect(line).to_contain_text(re.compile(r"or fetch Qwen2\.5 Coder \S+ \(\S+ [GM]B\)\.$"))
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


def test_smollm2_in_onyx_json_is_told_what_to_choose_instead_and_the_offer_stands_there(
    start: Callable[..., LabServer], tabs: Tabs
) -> None:
    lab = start(agents={"defaults": {"model": "local/smollm2"}})
    sidebar, _ = tabs.open(lab, "none.ipynb", "none")
    expect(sidebar.hook("no-model")).to_contain_text("local/smollm2 is not part of Onyx any more")
    expect(sidebar.hook("no-model")).to_contain_text(MODEL.id)
    expect(sidebar.hook("offer-fetch")).to_be_visible()
    sidebar.ask("Explain my notebook")
    expect(sidebar.problems).to_contain_text("local/smollm2 is not part of Onyx any more")
    expect(sidebar.problems.locator("[data-onyx=offer-fetch]")).to_be_visible()
    assert tabs.uncaught == []
