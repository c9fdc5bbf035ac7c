"""The tools that search and read the web. They never reach this machine or its network unless configured to."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.messages import ToolResult
from onyx_jupyter.protocols import ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool, whole_call
from onyx_jupyter.toolsets.toolset import FixedToolset
from onyx_jupyter.web.client import WebAnswer, open_client
from onyx_jupyter.web.readable_page import TEXT_TYPES, describe_binary, is_html, readable
from onyx_jupyter.web.search_backends import Found, search_backend

MAX_PAGE_BYTES = 3_000_000
DEFAULT_PAGE_CHARS = 12_000
MAX_PAGE_CHARS = 100_000
DEFAULT_RESULTS = 5
MAX_RESULTS = 20
_SUMMARY_CHARS = 70
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]{0,8000}")
_OWN_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect"}
    | {"keep-alive", "proxy-authorization", "proxy-connection", "accept-encoding"}
)
_SHOWN_HEADERS = (
    "content-type",
    "content-length",
    "location",
    "last-modified",
    "etag",
    "cache-control",
    "retry-after",
    "allow",
    "link",
    "www-authenticate",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
)


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=400, pattern=r"\S", description="What to search for.")
    limit: int = Field(default=DEFAULT_RESULTS, ge=1, le=MAX_RESULTS, description="Maximum number of results.")


class FetchPageArguments(Arguments):
    url: str = Field(min_length=1, description="The page, with http:// or https://.")
    max_chars: int = Field(
        default=DEFAULT_PAGE_CHARS, ge=200, le=MAX_PAGE_CHARS, description="Maximum characters of its text."
    )


class HttpArguments(Arguments):
    url: str = Field(min_length=1, description="With http:// or https://.")
    method: Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] = "GET"
    headers: dict[str, str] = Field(default_factory=dict, max_length=50)
    body: str | None = Field(default=None, max_length=1_000_000, description="Sent as UTF-8.")


async def _search_preview(arguments: SearchArguments, context: ToolContext) -> ToolPreview:
    backend = search_backend(context.web)
    preview = whole_call("web_search", arguments)
    details = {**preview.details, "through": backend.where}
    return replace(preview, summary=f"Search the web for “{_shorten(arguments.query)}”", details=details)


@tool(
    name="web_search",
    activity=Activity("search_web", "query"),
    arguments=SearchArguments,
    description="Searches the web; returns titles, addresses and snippets. Read a page with web_fetch.",
    risk="network",
    family="web",
    deferred=True,
    preview=_search_preview,
)
async def web_search_tool(arguments: SearchArguments, context: ToolContext) -> ToolResult:
    """Queries the configured search service; the results count as external text."""
    backend = search_backend(context.web)
    found = await backend.search(arguments.query, arguments.limit)
    if not found:
        return ToolResult(f"{backend.title} found nothing for {arguments.query!r}.", origin="own")
    return ToolResult(_listed(found[: arguments.limit]), external=f"a search with {backend.title}")


async def _fetch_preview(arguments: FetchPageArguments, context: ToolContext) -> ToolPreview:
    url = open_client(context.web).guard.parse(arguments.url).url
    preview = whole_call("web_fetch", arguments)
    details = {**preview.details, "method": "GET", "url": url}
    return replace(preview, summary=f"Read {_shorten(url)}", details=details)


@tool(
    name="web_fetch",
    activity=Activity("read_page", "url", "address"),
    arguments=FetchPageArguments,
    description="Reads a web page as Markdown, or a text file as it is.",
    risk="network",
    family="web",
    deferred=True,
    preview=_fetch_preview,
)
async def web_fetch_tool(arguments: FetchPageArguments, context: ToolContext) -> ToolResult:
    """Reads one page; for HTML, the readable text."""
    accept = {"accept": "text/html, text/markdown, text/plain;q=0.9, */*;q=0.5"}
    answer = await open_client(context.web).request("GET", arguments.url, headers=accept, max_bytes=MAX_PAGE_BYTES)
    title, text = await asyncio.to_thread(_page, answer)
    lines = [*([f"Title: {title}"] if title else []), f"Address: {answer.url}"]
    lines += [] if answer.ok else [f"Status: HTTP {answer.status}"]
    left = max(0, len(text) - arguments.max_chars)
    notes = [f"[… {left} more characters; a larger maxChars shows more]"] if left else []
    notes += [f"[Only the first {MAX_PAGE_BYTES} bytes were read.]"] if answer.truncated else []
    output = "\n\n".join(["\n".join(lines), text[: arguments.max_chars], *notes])
    return ToolResult(output, ok=answer.ok, truncated=bool(notes), external=answer.url)


async def _http_preview(arguments: HttpArguments, context: ToolContext) -> ToolPreview:
    _check_headers(arguments.headers)
    url = open_client(context.web).guard.parse(arguments.url).url
    preview = whole_call("http_fetch", arguments)
    summary = f"{arguments.method} {_shorten(url)}"
    return replace(preview, summary=summary, details={**preview.details, "url": url})


@tool(
    name="http_fetch",
    activity=Activity("send_request", "method url", "address"),
    arguments=HttpArguments,
    description=(
        "Makes an HTTP request (an API, say) and returns status, headers and body. Only GET and HEAD follow redirects."
    ),
    risk="network",
    family="web",
    deferred=True,
    preview=_http_preview,
)
async def http_fetch_tool(arguments: HttpArguments, context: ToolContext) -> ToolResult:
    """Makes one HTTP request to the address that was shown; only GET and HEAD follow redirects."""
    _check_headers(arguments.headers)
    answer = await open_client(context.web).request(
        arguments.method,
        arguments.url,
        headers=arguments.headers,
        body=arguments.body,
        max_bytes=context.max_output_bytes,
    )
    headers = [f"{name}: {value}" for name in _SHOWN_HEADERS if (value := answer.headers.get(name)) is not None]
    body = answer.text() if _is_text(answer) else describe_binary(answer)
    if answer.truncated:
        body += f"\n[… the response continues after {context.max_output_bytes} bytes]"
    output = "\n".join([f"HTTP {answer.status} from {answer.url}", *headers, "", body]).rstrip()
    return ToolResult(output, ok=answer.ok, truncated=answer.truncated, external=answer.url)


def _page(answer: WebAnswer) -> tuple[str | None, str]:
    """Title and text of the response."""
    if is_html(answer):
        return readable(answer)
    return None, answer.text() if _is_text(answer) else describe_binary(answer)


def _is_text(answer: WebAnswer) -> bool:
    """By the server's media type; if there is none, by the bytes themselves."""
    if answer.media_type:
        return bool(TEXT_TYPES.fullmatch(answer.media_type))
    return b"\0" not in answer.body[:2000]


def _check_headers(headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise InvalidArguments(f"`headers`: {name!r} or its value contains what no header can (one line, ASCII).")
        if name.lower() in _OWN_HEADERS:
            raise InvalidArguments(f"`headers`: {name} is set by the request itself. Leave it out.")


def _listed(found: Sequence[Found]) -> str:
    entries = []
    for number, result in enumerate(found, start=1):
        lines = [f"{number}. {result.title or result.url}", f"   {result.url}"]
        entries.append("\n".join([*lines, *([f"   {result.snippet}"] if result.snippet else [])]))
    return "\n\n".join(entries)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SUMMARY_CHARS else f"{line[:_SUMMARY_CHARS]}…"


TOOLSET = FixedToolset("web", (web_search_tool, web_fetch_tool, http_fetch_tool))
