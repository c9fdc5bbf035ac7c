"""The web search backends: SearXNG, Brave or ddgs, as configured. No result or error contains a key."""

from __future__ import annotations

import asyncio
import base64
import html
import importlib.util
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote, urlencode, urlsplit

from onyx_jupyter.config.schema import WebConfig
from onyx_jupyter.errors import AddressNotAllowed, ToolError
from onyx_jupyter.security.address_guard import AddressGuard, Target, plain_url
from onyx_jupyter.web.client import WebAnswer, WebClient

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
BRAVE_MAX_RESULTS = 20
MAX_ANSWER_BYTES = 2_000_000
MAX_TITLE_CHARS = 200
MAX_SNIPPET_CHARS = 500
DDGS_TIMEOUT_S = 10
DDGS_TOTAL_S = 40.0
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
NOT_CONFIGURED = (
    "No web search is set up. The user can set one of these in onyx.json: tools.web.searxngUrl (the address of a "
    "SearXNG server), tools.web.braveApiKey (a key of the Brave Search API); or install the keyless one: "
    "pip install 'onyx-jupyter[web]'."
)


@dataclass(frozen=True, slots=True)
class Found:
    """One result, each part one line without markup."""

    title: str
    url: str
    snippet: str


class SearchBackend(Protocol):
    """A way to search the web; `where` says where the query is sent, without any secret."""

    @property
    def title(self) -> str: ...

    @property
    def where(self) -> str: ...

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        """The best first; an empty list if nothing is found. Raises: ToolError."""
        ...


def search_backend(web: WebConfig) -> SearchBackend:
    """The backend named by `tools.web.search`; for `auto` the first one set up. Raises: ToolError (what is missing)."""
    wanted = web.search
    if wanted == "searxng" or (wanted == "auto" and web.searxng_url):
        if not web.searxng_url:
            raise ToolError("tools.web.search is searxng, and tools.web.searxngUrl is not set in onyx.json.")
        return SearxngSearch(web.searxng_url, web.allow_private)
    if wanted == "brave" or (wanted == "auto" and web.brave_api_key):
        if not web.brave_api_key:
            raise ToolError("tools.web.search is brave, and tools.web.braveApiKey is not set in onyx.json.")
        return BraveSearch(web.brave_api_key.get_secret_value(), web.allow_private)
    if importlib.util.find_spec("ddgs") is None:
        missing = "tools.web.search is ddgs, and its package is missing: pip install 'onyx-jupyter[web]'."
        raise ToolError(missing if wanted == "ddgs" else NOT_CONFIGURED)
    return DdgsSearch()


class SearxngSearch:
    """A SearXNG (or SearX) server named by the user: may be at any address, but only for searching."""

    title = "SearXNG"

    def __init__(self, url: str, allow_private: Sequence[str] = ()) -> None:
        """`url` may contain a user and a password, which become an Authorization header."""
        parts = urlsplit(url)
        place = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
        self._credentials = _basic(parts.username, parts.password)
        self._base = _configured(place.geturl().rstrip("/"), "tools.web.searxngUrl")
        self._client = WebClient(AddressGuard([*allow_private, self._base.entry]))

    @property
    def where(self) -> str:
        return f"SearXNG at {self._base.origin}"

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        url = f"{self._base.url.rstrip('/')}/search?{urlencode({'q': query, 'format': 'json'})}"
        headers = {"accept": "application/json", **self._credentials}
        answer = await self._client.request("GET", url, headers=headers, max_bytes=MAX_ANSWER_BYTES)
        if answer.status == 403:
            raise ToolError(
                f"{self.where} refused (HTTP 403). It has to allow JSON: `formats: [html, json]` under `search` in its "
                "settings.yml."
            )
        if not answer.ok:
            raise ToolError(f"{self.where} answered HTTP {answer.status}.")
        return _found(_json(answer, self.where).get("results"), "title", "url", "content")[:limit]


class BraveSearch:
    """The Brave Search API."""

    title = "Brave Search"

    def __init__(self, api_key: str, allow_private: Sequence[str] = (), url: str = BRAVE_URL) -> None:
        self._api_key = api_key
        self._url = url
        self._client = WebClient(AddressGuard(allow_private))

    @property
    def where(self) -> str:
        return f"Brave Search at {plain_url(self._url).origin}"

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        url = f"{self._url}?{urlencode({'q': query, 'count': min(limit, BRAVE_MAX_RESULTS)})}"
        headers = {"accept": "application/json", "x-subscription-token": self._api_key}
        answer = await self._client.request("GET", url, headers=headers, max_bytes=MAX_ANSWER_BYTES, follow=False)
        if answer.status in (401, 403, 422):
            raise ToolError(f"Brave Search refused (HTTP {answer.status}). Check tools.web.braveApiKey in onyx.json.")
        if answer.status == 429:
            raise ToolError("Brave Search wants fewer searches: its limit for this key is reached. Try again later.")
        if answer.status != 200:
            raise ToolError(f"Brave Search answered HTTP {answer.status}.")
        web = _json(answer, self.title).get("web")
        return _found(web.get("results") if isinstance(web, dict) else None, "title", "url", "description")[:limit]


class DdgsSearch:
    """The package `ddgs`, which asks public search engines without a key. It sends its requests itself."""

    title = "ddgs"
    where = "public search engines, through the package ddgs"

    def __init__(self, open_ddgs: Callable[[], Any] | None = None) -> None:
        self._open = open_ddgs or _open_ddgs

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        try:
            async with asyncio.timeout(DDGS_TOTAL_S):
                found = await asyncio.to_thread(self._ask, query, limit)
        except TimeoutError as error:
            raise ToolError(
                f"ddgs took longer than {DDGS_TOTAL_S:g} s. Try again, or set up another search."
            ) from error
        return _found(found, "title", "href", "body")[:limit]

    def _ask(self, query: str, limit: int) -> list[dict[str, Any]]:
        searcher = self._open()
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            results: list[dict[str, Any]] = searcher.text(query, max_results=limit)
        except RatelimitException as error:
            raise ToolError("ddgs: the search engines want fewer searches. Try again later.") from error
        except TimeoutException as error:
            raise ToolError("ddgs: the search engines did not answer in time.") from error
        except DDGSException as error:
            if "No results found" in str(error):
                return []
            raise ToolError(f"ddgs: the search failed ({type(error).__name__}).") from error
        return results


def _open_ddgs() -> Any:
    try:
        from ddgs import DDGS
    except ImportError as error:
        raise ToolError("The package ddgs is missing: pip install 'onyx-jupyter[web]'.") from error
    return DDGS(timeout=DDGS_TIMEOUT_S)


def _found(results: Any, title: str, url: str, snippet: str) -> list[Found]:
    """The usable results of a backend's list: each once, with a web address."""
    found: dict[str, Found] = {}
    for result in results if isinstance(results, list) else []:
        address = result.get(url) if isinstance(result, dict) else None
        if isinstance(address, str) and re.match(r"https?://\S+$", address) and address not in found:
            found[address] = Found(
                _line(result.get(title), MAX_TITLE_CHARS), address, _line(result.get(snippet), MAX_SNIPPET_CHARS)
            )
    return list(found.values())


def _line(text: Any, max_chars: int) -> str:
    plain = " ".join(html.unescape(_TAG.sub("", text)).split()) if isinstance(text, str) else ""
    return plain if len(plain) <= max_chars else f"{plain[:max_chars]}…"


def _json(answer: WebAnswer, who: str) -> Mapping[str, Any]:
    try:
        data = json.loads(answer.body)
    except ValueError as error:
        raise ToolError(f"{who} did not answer with JSON. Check the address in tools.web.") from error
    if not isinstance(data, dict):
        raise ToolError(f"{who} answered with JSON of another shape. Check the address in tools.web.")
    return data


def _configured(url: str, key: str) -> Target:
    try:
        return plain_url(url)
    except AddressNotAllowed as error:
        raise ToolError(f"{key} in onyx.json cannot be used. {error}") from error


def _basic(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    pair = f"{unquote(user)}:{unquote(password or '')}"
    return {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
