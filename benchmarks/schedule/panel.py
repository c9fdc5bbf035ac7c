"""How long the jobs panel takes to open in a real browser, with ten thousand jobs."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from playwright.sync_api import Page

from benchmarks.browser import open_lab
from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.schedule.made_jobs import MANY, quiet_jobs, write_jobs

ROUNDS = 7
METHOD = (
    f"A real server with {MANY:,} jobs and JupyterLab in headless Chromium: from the click on the menu's entry until "
    "the first job is visible. The panel is closed between the rounds; the first round reads the file of jobs."
)


def measure() -> Group:
    with JupyterProcess(configuration={"memory": {"embedder": "none"}}) as server:
        write_jobs(server.home / "schedule", quiet_jobs(MANY, datetime.now(UTC)))
        with open_lab(server) as page:
            opened = [_open_ms(page) for _ in range(ROUNDS)]
            search = _search_ms(page)
    return Group(
        "Jobs panel",
        METHOD,
        [
            Figure(f"open, {MANY:,} jobs", opened, "ms", 300, digits=0),
            Figure("  the first time", [opened[0]], "ms", digits=0),
            Figure("  found by its name, from the last letter", [search], "ms", digits=0),
        ],
    )


def _open_ms(page: Page) -> float:
    page.locator("[data-onyx=sidebar] [data-onyx=menu]").click()
    item = page.locator('.lm-Menu-item[data-command="onyx:jobs"]')
    item.wait_for()
    began_s = time.monotonic()
    item.click()
    page.locator("[data-onyx=jobs-panel] [data-onyx=job]").first.wait_for()
    took_ms = 1000 * (time.monotonic() - began_s)
    page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabCloseIcon").first.click()
    page.locator("[data-onyx=jobs-panel]").wait_for(state="detached")
    return took_ms


def _search_ms(page: Page) -> float:
    _show(page)
    page.locator("[data-onyx=job-search]").fill(f"quiet-{MANY - 1}"[:-1])
    page.wait_for_timeout(1000)
    began_s = time.monotonic()
    page.locator("[data-onyx=job-search]").fill(f"quiet-{MANY - 1}")
    page.locator(f"[data-onyx=job][data-job=quiet-{MANY - 1}]").wait_for()
    return 1000 * (time.monotonic() - began_s)


def _show(page: Page) -> None:
    page.locator("[data-onyx=sidebar] [data-onyx=menu]").click()
    page.locator('.lm-Menu-item[data-command="onyx:jobs"]').click()
    page.locator("[data-onyx=jobs-panel] [data-onyx=job]").first.wait_for()
