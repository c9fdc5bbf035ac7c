"""Where the browser is, and how it is started: without a sandbox, which a container has none to give, and offline."""

import shutil

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_chromium() -> str | None:
    """Its path, or None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)
