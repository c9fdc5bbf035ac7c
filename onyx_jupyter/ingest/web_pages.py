"""Determines the kind of a web page as a document, from what its server says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from onyx_jupyter.errors import DocumentUnreadable
from onyx_jupyter.ingest.readers import reader_of

MAX_PAGE_BYTES = 20_000_000
_SUFFIXES = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/x-ipynb+json": ".ipynb",
    "application/vnd.apache.parquet": ".parquet",
    "application/json": ".json",
    "application/xml": ".xml",
    "application/x-yaml": ".yaml",
}
_UNSPECIFIC_TYPES = ("", "application/octet-stream", "binary/octet-stream", "text/plain", "application/json")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A response: `url` is the final address, `truncated` says that the body was cut off."""

    url: str
    status: int
    media_type: str
    body: bytes
    truncated: bool


# (URL, maximum bytes) → the response, through the same guard as every other request of Onyx.
Fetch = Callable[[str, int], Awaitable[Fetched]]


def suffix_of(page: Fetched) -> str:
    """The suffix of the file for the page. Raises: DocumentUnreadable if it can't be read."""
    if page.status >= 400:
        raise DocumentUnreadable(
            f"The server answered with HTTP {page.status}. Open the address in a browser to see why."
        )
    if page.truncated:
        raise DocumentUnreadable(
            f"It is larger than {MAX_PAGE_BYTES // 1_000_000} MB. Download it and add only the part that matters."
        )
    named = PurePosixPath(unquote(urlsplit(page.url).path)).suffix.lower()
    if page.media_type in _UNSPECIFIC_TYPES and named and reader_of(f"a{named}") is not None:
        return named
    if page.media_type in _SUFFIXES:
        return _SUFFIXES[page.media_type]
    if page.media_type.startswith("text/"):
        return ".txt"
    if page.body.startswith(b"%PDF-"):
        return ".pdf"
    if not page.media_type and page.body[:500].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return ".html"
    raise DocumentUnreadable(f"Its type is {page.media_type or 'unknown'}, which is not supported.")
