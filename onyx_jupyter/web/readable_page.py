"""The readable text of a web page, as Markdown."""

from __future__ import annotations

import re

from onyx_jupyter.ingest.readers.page import page_text
from onyx_jupyter.web.client import WebAnswer

TEXT_TYPES = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-javascript|ecmascript|sql|x-sh|rtf)"
    r"|application/(?:x-ndjson|jsonl|x-ipynb\+json|x-www-form-urlencoded|graphql|x-tex|x-latex)|image/svg\+xml"
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_NO_TEXT = "(The page has no text of its own; a script may create it.)"


def is_html(answer: WebAnswer) -> bool:
    """Decided by the content type, or without one by the beginning of the body."""
    if answer.media_type:
        return answer.media_type in _HTML_TYPES
    return answer.body[:500].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def readable(answer: WebAnswer) -> tuple[str | None, str]:
    """Title and text of an HTML page. Blocks while it parses a long page: call it in a thread."""
    title, text = page_text(answer.text() if answer.charset else answer.body, answer.url)
    return title, text or _NO_TEXT


def describe_binary(answer: WebAnswer) -> str:
    """Describes a body that is not text."""
    size = f"{'more than ' if answer.truncated else ''}{len(answer.body)} bytes"
    if answer.media_type == "application/pdf" or answer.body.startswith(b"%PDF-"):
        return f"(A PDF of {size}. Its text is not read here: download it and use a program or library for PDFs.)"
    if not answer.body:
        return "(The body is empty.)"
    return f"(No text: {answer.media_type or 'unknown type'}, {size}.)"
