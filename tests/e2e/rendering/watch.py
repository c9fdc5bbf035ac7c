"""Watches a page for whatever acts: requests, scripts, dialogs, other pages, and elements that are not allowed."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from tests.e2e.rendering.listener import Listener

_LIST = Path(__file__).parents[3] / "labextension/src/rendering/allowed_html.json"
# What is out of sight is laid out, too: a background loads only where it is painted.
_EVERYTHING = ".onyx-Message { content-visibility: visible !important } details { display: block }"
# Ours stand beside what others wrote: formulas, diagrams, colours of code, links' hosts, names that are links.
_NOT_ALLOWED = """allowed => {
    const ours = '.onyx-Formula, .onyx-Diagram, .onyx-LinkTarget, .onyx-Citation, code span';
    const found = [];
    for (const element of document.querySelectorAll('.onyx-Markdown *, .onyx-Output *')) {
        if (element.closest(ours)) {
            continue;
        }
        const own = element.localName === 'a' ? ['title', 'target', 'rel', 'referrerpolicy'] : [];
        const names = [...(allowed.attributes[element.localName] ?? []), ...own];
        const others = [...element.attributes].map(({ name }) => name).filter(name => !names.includes(name));
        if (!allowed.elements.includes(element.localName) && !element.closest('.onyx-Output > img') || others.length) {
            found.push(element.outerHTML.slice(0, 200));
        }
    }
    for (const image of document.querySelectorAll('.onyx-Markdown img, .onyx-Output img')) {
        if (!image.src.startsWith('data:image/')) {
            found.push(image.outerHTML.slice(0, 200));
        }
    }
    return found;
}"""
_IS_DRAWN = """() =>
    [...document.querySelectorAll('[data-onyx=diagram]')].every(
        one => one.querySelector('img, figcaption') || one.textContent.length > 20000
    ) && [...document.querySelectorAll('.onyx-Block')].every(one => one.hasChildNodes())"""
DRAW_MS = 120_000


class Watch:
    """One page, from before its first document on."""

    def __init__(self, page: Page, listener: Listener) -> None:
        self.page = page
        self.listener = listener
        self.acted: list[str] = []
        self._allowed: dict[str, Any] = json.loads(_LIST.read_text("utf-8"))
        page.on("dialog", lambda dialog: (self.acted.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda other: self.acted.append(f"popup {other.url}"))
        page.on("download", lambda download: self.acted.append(f"download {download.url}"))
        page.on("framenavigated", lambda frame: self._went(frame.url) if frame == page.main_frame else None)
        self._pages = 0

    def show_everything(self) -> None:
        """Call it when the page is there."""
        self.page.add_style_tag(content=_EVERYTHING)
        self._pages = 0

    def assert_quiet(self) -> None:
        """When all is drawn: nothing was asked for, nothing ran, and only what is allowed stands there."""
        page, listener = self.page, self.listener
        page.wait_for_function(_IS_DRAWN, timeout=DRAW_MS, polling=250)
        page.evaluate("document.querySelectorAll('.onyx-Markdown details').forEach(one => { one.open = true; })")
        assert page.evaluate(_NOT_ALLOWED, self._allowed) == []
        assert [ran for frame in page.frames if (ran := frame.evaluate("window.__onyxRan"))] == []
        # What the page asks for now comes after whatever was asked for before it.
        with page.expect_response(f"{listener.url}/last"):
            page.evaluate("url => fetch(`${url}/last`).catch(() => undefined)", listener.url)
        assert [request.path for request in listener.seen] == ["/last"]
        assert listener.connections == 1
        assert self.acted == []
        listener.clear()

    def _went(self, url: str) -> None:
        self._pages += 1
        if self._pages > 1 and "/p/" in url:
            self.acted.append(f"went to {url}")
