"""The pictures of what Onyx is told once: onboarding, and scheduled jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from playwright.sync_api import Page, expect

from onyx_jupyter.testing.script import Reply, Tokens
from onyx_jupyter.testing.scripted_server import Received
from scripts.studio import SIZE_PX, Studio
from tests.e2e.jobs_panel import JobsPanel

JOBS_PX = {"width": 1280, "height": 720}
DAILY = "See whether there are new files in data/"
REVIEW = "Sum up what changed in the notebooks this week"
REPORTS = {DAILY: "There is one new file: data/customers-october.csv.", REVIEW: "One notebook changed: welcome.ipynb."}


def report(request: Received) -> Reply | None:
    """What the scripted model answers to a job; None for anything else."""
    text = next((text for task, text in REPORTS.items() if task in request.last_user_text), None)
    return None if text is None else [text, Tokens(1_214, 18)]


def onboarding(studio: Studio) -> Page:
    """A question with choices, and the line that one of them will write."""
    sidebar, _ = studio.window("onboarding")
    sidebar.ask("/onboard")
    question = sidebar.hook("onboarding-question")
    while question.get_attribute("data-question") != "annoyances":
        before = question.get_attribute("data-question") or ""
        sidebar.hook("onboarding-skip").click()
        expect(question).not_to_have_attribute("data-question", before)
    question.press("1")
    question.press("3")
    expect(question).to_contain_text("No filler praise")
    sidebar.page.mouse.move(SIZE_PX["width"] / 2, SIZE_PX["height"] - 2)
    return sidebar.page


def scheduled(studio: Studio) -> Page:
    """Two jobs, one of which has run, and the heartbeat."""
    sidebar, _ = studio.window("scheduled")
    page, panel = sidebar.page, JobsPanel(sidebar.page)
    sidebar.models.select_option(label="assistant")
    sidebar.hook("menu").click()
    page.get_by_role("menuitem", name="Scheduled").click()
    for task, rhythm in ((REVIEW, "weekly"), (DAILY, "workdays")):
        panel.hook("job-new").click()
        panel.hook("job-message").fill(task)
        panel.hook("job-rhythm").select_option(rhythm)
        panel.hook("job-form").get_by_text("More").click()
        panel.hook("job-model").select_option("my-server/assistant")
        expect(panel.hook("job-preview")).to_contain_text("Next: ")
        panel.hook("job-save").click()
        panel.hook("job-run").click()
        expect(panel.hook("job-run-entry")).to_contain_text(REPORTS[task])
    page.set_viewport_size(JOBS_PX)
    page.mouse.move(JOBS_PX["width"] / 2, JOBS_PX["height"] - 2)
    return page


ROUTINE_PICTURES: Mapping[str, Callable[[Studio], Page]] = {"onboarding": onboarding, "scheduled": scheduled}
