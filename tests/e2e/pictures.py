"""Pictures of a page at work, for a person who wants to look at what a test saw."""

import os
from pathlib import Path

from playwright.sync_api import Page


def picture(page: Page, what: str) -> None:
    """Saved only if ONYX_SHOTS names a folder."""
    if folder := os.environ.get("ONYX_SHOTS"):
        page.screenshot(path=Path(folder) / f"{what}.png")
