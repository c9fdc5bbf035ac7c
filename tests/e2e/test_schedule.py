"""The jobs panel: from an empty home to a job that runs, is paused, and tells what it did while nobody was there."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from onyx_jupyter.testing.script import Call
from tests.e2e.conftest import Tabs
from tests.e2e.jobs_panel import JobsPanel
from tests.e2e.lab_server import LabServer
from tests.e2e.pictures import picture
from tests.e2e.sidebar import Sidebar
from tests.e2e.stage import Stage

AWAY_MS = 14_000  # longer than a reload takes


@pytest.fixture
def opened(tabs: Tabs, fresh_lab: LabServer, name: str) -> Callable[[], tuple[Sidebar, JobsPanel]]:
    def open_panel() -> tuple[Sidebar, JobsPanel]:
        sidebar = tabs.open_new(fresh_lab, name)
        sidebar.hook("menu").click()
        sidebar.page.locator(".lm-Menu-item", has_text="Scheduled").click()
        panel = JobsPanel(sidebar.page)
        expect(panel.node).to_be_visible()
        return sidebar, panel

    return open_panel


def test_a_job_is_scheduled_runs_is_paused_and_tells_what_it_did_while_nobody_was_there(
    opened: Callable[[], tuple[Sidebar, JobsPanel]], fresh_lab: LabServer, stage: Stage
) -> None:
    sidebar, panel = opened()
    expect(panel.hook("jobs-empty")).to_contain_text("starts by itself")
    picture(panel.page, "jobs-1-empty")
    stage.play(*["All is quiet."] * 300)
    panel.schedule_every("Look around", 2, "seconds")
    expect(panel.hook("job-facts")).to_contain_text("In a conversation of its own")
    runs = panel.hook("job-run-entry").and_(panel.page.locator("[data-outcome=ok]"))
    expect(runs.nth(1)).to_contain_text("All is quiet.")
    expect(panel.notices).to_have_count(0)  # who looks at it needs no other word
    picture(panel.page, "jobs-2-running")
    panel.page.locator(".lm-TabBar-tab", has_text=".ipynb").click()
    expect(panel.notices).to_contain_text("Look around: All is quiet.")
    panel.notices.get_by_role("button", name="Show").click()
    panel.hook("job-pause").click()
    panel.wait_for_state("paused")
    expect(panel.job("Look around")).to_have_attribute("data-state", "paused")

    runs.first.click()
    panel.hook("job-open-session").click()
    expect(sidebar.answers.last).to_have_text("All is quiet.")
    expect(sidebar.said.last).to_have_text(re.compile(r"^Scheduled: Look around\s*Look around$"))
    panel.hook("job-resume").click()
    expect(panel.hook("job-pause")).to_be_visible()

    # The page is closed, the job goes on.
    address = panel.page.url
    panel.page.goto("about:blank")
    panel.page.wait_for_timeout(AWAY_MS)
    panel.page.goto(address)
    notice = panel.notices.filter(has_text="While you were away")
    expect(notice).to_have_text(re.compile(r"While you were away: \d+ scheduled runs"), timeout=60_000)
    picture(panel.page, "jobs-3-return")
    notice.get_by_role("button", name="Show").click()
    expect(panel.hook("away-group")).to_contain_text(re.compile(r"Look around.*\d+ runs.*All is quiet\.", re.DOTALL))
    picture(panel.page, "jobs-4-away")
    panel.hook("away-done").click()
    expect(panel.hook("away-row")).to_have_count(0)

    panel.job("Look around").click()
    panel.hook("job-remove").click()
    panel.page.locator(".jp-Dialog").get_by_role("button", name="Delete").click()
    expect(panel.hook("jobs-empty")).to_be_visible()
    expect(panel.hook("job")).to_have_count(0)


def test_what_nobody_was_there_to_allow_can_be_allowed_afterwards_and_runs_again(
    opened: Callable[[], tuple[Sidebar, JobsPanel]], fresh_lab: LabServer, stage: Stage
) -> None:
    fresh_lab.set("@jupyterlab/apputils-extension/themes", {"theme": "JupyterLab Dark"})
    _, panel = opened()
    touch = Call("exec", {"command": "touch ran"})
    stage.play([touch], "I may not do that.", [touch], "Done.")
    panel.schedule_every("Touch a file", 3, "hours")
    panel.hook("job-run").click()
    expect(panel.hook("job-denied")).to_contain_text("Nobody was there to allow exec.")
    assert not fresh_lab.files.joinpath("ran").exists()
    picture(panel.page, "jobs-5-denied")
    panel.hook("job-allow").click()
    expect(panel.hook("job-run-entry").first).to_contain_text("Done.")
    expect(panel.hook("job-denied")).to_have_count(0)
    assert fresh_lab.files.joinpath("ran").exists()
    expect(panel.hook("job-facts")).to_contain_text("exec")

    panel.hook("job-edit").click()
    panel.hook("job-rhythm").select_option("cron")
    panel.hook("job-cron").fill("0 0 30 2 *")
    expect(panel.hook("job-preview")).to_contain_text("ever comes due")
    expect(panel.hook("job-save")).to_be_disabled()
    picture(panel.page, "jobs-6-impossible")
    panel.hook("job-rhythm").select_option("weekly")
    panel.hook("job-save").click()
    expect(panel.hook("job-state")).to_contain_text("on Monday")
    panel.page.set_viewport_size({"width": 760, "height": 800})
    picture(panel.page, "jobs-7-narrow")


def test_heartbeat_looks_when_asked_waits_quietly_and_is_switched_off(
    opened: Callable[[], tuple[Sidebar, JobsPanel]], fresh_lab: LabServer, stage: Stage
) -> None:
    _, panel = opened()
    row = panel.hook("heartbeat")
    expect(row).to_contain_text("nothing to do")
    row.click()
    expect(panel.hook("heartbeat-now")).to_be_disabled()
    fresh_lab.home.joinpath("workspace", "HEARTBEAT.md").write_text("- Look at the disk\n", "utf-8")
    panel.hook("heartbeat-switch").nth(1).check()  # quiet; it reads the state again
    expect(panel.hook("heartbeat-now")).to_be_enabled()
    stage.play("The disk is nearly full.")
    panel.hook("heartbeat-now").click()
    expect(panel.hook("job-run-entry")).to_contain_text("The disk is nearly full.")
    expect(panel.notices).to_have_count(0)
    picture(panel.page, "jobs-8-heartbeat")
    assert "a person asks to look now" in str(stage.asked[0].body)
    panel.hook("heartbeat-switch").first.uncheck()
    expect(row).to_contain_text("off")
    panel.page.reload()
    expect(panel.hook("heartbeat")).to_contain_text("off", timeout=60_000)
