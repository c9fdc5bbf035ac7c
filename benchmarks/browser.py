"""Whether JupyterLab in a real browser stays responsive while an answer pours in."""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
from playwright.sync_api import Page, sync_playwright

from benchmarks.figures import Figure, Group
from benchmarks.jupyter_process import JupyterProcess
from benchmarks.provider import ProviderProcess, numbered_word

ROUNDS = 5
RATE = 200
SECONDS = 20
WORDS = RATE * SECONDS
_IDLE_S = 5.0
_APPEAR_MS = 60_000
_SHORTCUT = "Control+Alt+o"
_CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
METHOD = (
    f"JupyterLab in headless Chromium with the sidebar open; {RATE} deltas a second for {SECONDS} s, a Markdown answer "
    "of numbered words with headings, lists and code. A gap is the time between two animation frames; a long task is "
    "what the browser itself reports as one. The same is measured while nothing happens: what shows there is the "
    "machine's doing. At the end every number has to stand in the answer, in order."
)
# Animation frames and long tasks since the last `start()`.
_WATCH = """
window.bench = {
  start() { this.gaps = []; this.tasks = []; this.last = null; },
  report() { return {gaps: this.gaps, tasks: this.tasks}; }
};
window.bench.start();
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) window.bench.tasks.push(entry.duration);
}).observe({type: 'longtask'});
const frame = () => {
  const now = performance.now();
  if (window.bench.last !== null) window.bench.gaps.push(now - window.bench.last);
  window.bench.last = now;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""


@dataclass(frozen=True)
class _Watched:
    """Milliseconds and seconds of one stretch of time."""

    gaps_ms: list[float]
    tasks_ms: list[float]
    cpu_s: float
    seconds: float


@dataclass(frozen=True)
class _Round:
    idle: _Watched
    stream: _Watched
    late_s: float


def measure() -> Group:
    with ProviderProcess() as provider, JupyterProcess(configuration=provider.configuration) as server:
        rounds = [_round(server) for _ in range(ROUNDS)]
    streams = [one.stream for one in rounds]
    return Group(
        "Browser",
        METHOD,
        [
            Figure("longest gap between frames", [max(one.gaps_ms) for one in streams], "ms", 100, digits=0),
            Figure("  gaps over 100 ms", [sum(gap > 100 for gap in one.gaps_ms) for one in streams], "", digits=0),
            Figure("  frames a second", [len(one.gaps_ms) / one.seconds for one in streams], "", digits=1),
            Figure("longest task", [max(one.tasks_ms, default=0.0) for one in streams], "ms", digits=0),
            Figure("  longest gap while idle", [max(one.idle.gaps_ms) for one in rounds], "ms", digits=0),
            Figure("CPU of the browser, cores", [one.cpu_s / one.seconds for one in streams], "", digits=2),
            Figure("last word shown after the provider has sent it", [one.late_s for one in rounds], "s"),
        ],
    )


def _round(server: JupyterProcess) -> _Round:
    with open_lab(server) as page:
        page.evaluate("window.bench.start()")
        idle = _watch(page, _IDLE_S)
        message = page.locator("[data-onyx=sidebar] [data-onyx=input]")
        message.fill(f"markdown {WORDS} {RATE}")
        page.evaluate("window.bench.start()")
        message.press("Enter")
        answer = page.locator("[data-onyx=sidebar] [data-onyx=answer]")
        answer.get_by_text(numbered_word(0)).first.wait_for()
        began = time.monotonic()
        stream = _watch(page, SECONDS)
        late_s = _wait_for_last_word(page, began)
        found = re.findall(r"w\d{4}", answer.first.text_content() or "")
        if found != [numbered_word(index) for index in range(WORDS)]:
            raise RuntimeError(f"The answer in the browser is not what was sent: {len(found)} of {WORDS} words.")
        return _Round(idle, stream, late_s)


@contextlib.contextmanager
def open_lab(server: JupyterProcess) -> Iterator[Page]:
    path = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if path is None:
        raise RuntimeError("There is no Chromium on this machine (Debian: apt-get install chromium).")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(_WATCH)
        page.goto(f"{server.url}lab?token={server.token}&reset")
        page.locator(".jp-SideBar li[data-id=onyx-chat], #onyx-chat").first.wait_for(
            state="attached", timeout=_APPEAR_MS
        )
        page.locator("#jupyterlab-splash").wait_for(state="detached", timeout=_APPEAR_MS)
        message = page.locator("[data-onyx=sidebar] [data-onyx=input]")
        for _ in range(10):  # the first press may come before the page listens to keys
            page.keyboard.press(_SHORTCUT)
            with contextlib.suppress(Exception):
                message.wait_for(state="visible", timeout=2_000)
                break
        page.wait_for_timeout(3_000)
        yield page
        browser.close()


def _watch(page: Page, seconds: float) -> _Watched:
    before_s, began = _browser_cpu_s(), time.monotonic()
    page.wait_for_timeout(seconds * 1000)
    cpu_s, taken_s = _browser_cpu_s() - before_s, time.monotonic() - began
    report = page.evaluate("window.bench.report()")
    return _Watched(report["gaps"], report["tasks"], cpu_s, taken_s)


def _wait_for_last_word(page: Page, began: float) -> float:
    """Seconds after the rhythm's end at which the last word stood in the page, at least 0."""
    last = page.locator("[data-onyx=sidebar] [data-onyx=answer]").get_by_text(numbered_word(WORDS - 1)).first
    last.wait_for(timeout=120_000)
    return max(time.monotonic() - began - WORDS / RATE, 0.0)


def _browser_cpu_s() -> float:
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if "chrom" in process.name():
                total += sum(process.cpu_times()[:2])
    return total
