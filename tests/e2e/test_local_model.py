"""No account, no configuration, no network: the model that set-up fetched answers in the sidebar."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright, expect

from onyx_jupyter.providers.network_guard import FORBID_VARIABLE
from tests.e2e.chromium import ARGUMENTS
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer, can_cut_off
from tests.local_model import FILE, MODEL, needs_local_model

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


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[LabServer]:
    """With the name of a model that is no more in its onyx.json."""
    lab = LabServer(tmp_path, {"agents": {"defaults": {"model": "local/smollm2"}}})
    lab.start()
    yield lab
    lab.stop()


def test_where_no_model_can_answer_one_line_and_buttons_say_what_to_do_and_the_message_is_kept(
    lab: LabServer, tabs: Tabs
) -> None:
    lab.notebook("none.ipynb")
    sidebar, _ = tabs.open(lab, "none.ipynb", "none")
    line = sidebar.empty.locator("[data-onyx=no-model]")
    expect(line).to_contain_text("local/smollm2 is not part of Onyx any more")
    expect(line).to_contain_text(MODEL.id)
    expect(sidebar.hook("suggestion")).to_have_count(0)
    expect(sidebar.hook("offer-fetch")).to_have_count(1 if FILE is None else 0)
    sidebar.ask("Explain my notebook")
    expect(sidebar.problems).to_contain_text("local/smollm2 is not part of Onyx any more")
    expect(sidebar.said).to_contain_text("Explain my notebook")
    expect(sidebar.problems.locator("[data-onyx=retry]")).to_be_visible()
    sidebar.problems.locator("[data-onyx=connect-model]").click()
    expect(sidebar.hook("connect-panel")).to_be_visible()
    assert tabs.uncaught == []
