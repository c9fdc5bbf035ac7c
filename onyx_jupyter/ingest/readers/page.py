"""Extracts what a person would read of an HTML page, as Markdown. It loads nothing that the page refers to."""

from __future__ import annotations

import logging
import re
from typing import BinaryIO

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.document import Document, Section

MAX_TITLE_CHARS = 300
_SPACES = re.compile(r"\s+")


def read_page(name: str, file: BinaryIO) -> Document:
    """One section. Raises: DocumentUnreadable."""
    title, text = page_text(file.read())
    if not text:
        raise DocumentUnreadable("The page contains no text; a script may generate it. Save it as a PDF.")
    return Document([Section(text, "markdown")], title=title or "")


def page_text(page: str | bytes, url: str | None = None) -> tuple[str | None, str]:
    """Title and text, which is empty if there is none. Blocks, longer for long pages."""
    import trafilatura

    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)  # it logs each odd page as an error
    tree = trafilatura.load_html(page)
    if tree is None:  # an HTML fragment rather than a page
        piece = page if isinstance(page, str) else page.decode("utf-8", "replace")
        page = f"<html><body>{piece}</body></html>"
        tree = trafilatura.load_html(page)
    if tree is None:
        return None, ""
    found = trafilatura.extract_metadata(tree, default_url=url).title
    text = trafilatura.extract(
        page, url=url, output_format="markdown", include_links=True, include_comments=True, favor_recall=True
    )
    text = text or trafilatura.html2txt(page)  # short pages: better everything than nothing
    return _SPACES.sub(" ", found).strip()[:MAX_TITLE_CHARS] if found else None, text.strip()
