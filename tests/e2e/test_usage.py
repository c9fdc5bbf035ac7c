"""What answers use stands below them and in a panel, and a reached budget stops paid models and says so."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Hang, Say, Tokens
from tests.e2e.conftest import Tabs
from tests.e2e.lab_server import LabServer
from tests.e2e.sidebar import Sidebar, overflowing
from tests.e2e.stage import Stage
from tests.e2e.test_keyboard_and_width import narrow


@pytest.fixture
def own_lab(provider: Stage, chromium: str, tmp_path: Path) -> Iterator[LabServer]:
    """A server of this test alone, with a budget."""
    config = provider.config(embedder="none")
    lab = LabServer(tmp_path / "lab", {**config, "security": {"budget": {"dayTokens": 2000, "dayUsd": 5}}})
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def open_own(tabs: Tabs, own_lab: LabServer, name: str) -> Callable[[], Sidebar]:
    def opened() -> Sidebar:
        own_lab.notebook(f"{name}.ipynb", "1")
        sidebar, notebook = tabs.open(own_lab, f"{name}.ipynb", name)
        notebook.wait_for_kernel()  # a notebook takes the focus when it comes
        return sidebar

    return opened


def open_panel(sidebar: Sidebar) -> None:
    sidebar.hook("menu").click()
    sidebar.page.get_by_role("menuitem", name="Usage…").click()
    expect(sidebar.hook("usage-panel")).to_be_visible()


def test_a_stopped_answer_says_what_it_used_at_once_and_after_a_reload(
    open_own: Callable[[], Sidebar], stage: Stage
) -> None:
    sidebar = open_own()
    stage.play([Say("One, two, three."), Hang()])
    sidebar.ask("Count")
    expect(sidebar.answers).to_contain_text("One, two, three.")
    sidebar.hook("stop").click()
    sidebar.wait_for_end("aborted")
    line = sidebar.hook("answer-usage")
    expect(line).to_contain_text("≈ ")
    shown = line.inner_text()
    assert shown.endswith(" out · cost unknown")
    assert "an estimate" in (line.get_attribute("title") or "")
    open_panel(sidebar)
    expect(sidebar.hook("usage-cells").locator("tbody tr")).to_contain_text("≈ ")
    sidebar.page.reload()
    sidebar.show()
    expect(line).to_have_text(shown)


def test_usage_stands_below_answers_and_in_the_panel_and_a_reached_budget_is_said(
    open_own: Callable[[], Sidebar], stage: Stage
) -> None:
    sidebar = open_own()
    open_panel(sidebar)
    expect(sidebar.hook("usage-empty")).to_be_visible()
    sidebar.hook("usage-panel").press("Escape")

    stage.play(["One.", Tokens(1204, 396, cached_tokens=1000)], ["Two.", Tokens(400, 100)])
    sidebar.ask("First")
    sidebar.wait_for_end()
    line = sidebar.hook("answer-usage")
    expect(line).to_have_text("1,204 in · 396 out · cost unknown")
    assert "1,000 of them from the cache" in (line.get_attribute("title") or "")
    sidebar.ask("Second")
    expect(sidebar.answers).to_have_count(2)
    sidebar.wait_for_end()
    expect(sidebar.hook("note")).to_contain_text("Today's budget is nearly used up: 1,600 of 2,000 tokens.")

    sidebar.ask("Third")
    expect(sidebar.problems).to_have_attribute("data-code", "budget")
    expect(sidebar.problems).to_contain_text("Today's budget is used up: 2,100 of 2,000 tokens.")
    expect(sidebar.problems.locator(".onyx-Problem-hint")).to_contain_text("security.budget.dayTokens")
    assert len(stage.asked) == 2

    open_panel(sidebar)
    budget = sidebar.hook("usage-budget")
    expect(budget).to_have_count(2)
    reached = budget.and_(sidebar.page.locator("[data-budget=dayTokens]"))
    expect(reached).to_have_attribute("data-level", "reached")
    expect(budget.and_(sidebar.page.locator("[data-budget=dayUsd]"))).to_contain_text("2 calls of unknown cost")
    expect(sidebar.hook("usage-days").locator("tbody tr")).to_have_text("Today2,100unknown")
    expect(sidebar.hook("usage-cells").locator("tbody tr")).to_have_text("scripted/writer answers2,100unknown")
    expect(sidebar.hook("usage-session").locator("tbody tr")).to_have_count(3)
    expect(sidebar.hook("usage-chart").locator("rect")).to_have_count(7)
    narrow(sidebar)
    assert overflowing(sidebar) == []

    # The lines below the answers are those of the transcript after a reload.
    sidebar.page.reload()
    sidebar.show()
    expect(line.first).to_have_text("1,204 in · 396 out · cost unknown")
    expect(sidebar.hook("note")).to_have_count(1)
