"""Requests to the internet for the web tools: bounded, without cookies, each address checked before connecting.

It uses no proxy from the environment, and checks the target of every redirect before following it.
"""

from __future__ import annotations

import asyncio
import codecs
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from urllib.parse import urljoin

import httpx

from onyx_jupyter.config.schema import WebConfig
from onyx_jupyter.errors import AddressNotAllowed, ToolError
from onyx_jupyter.security.address_guard import AddressGuard, Target

MAX_REDIRECTS = 5
CONNECT_S = 10.0
READ_S = 20.0
TOTAL_S = 60.0
USER_AGENT = "onyx-jupyter"
_REDIRECTS = (301, 302, 303, 307, 308)
_KEPT_ELSEWHERE = frozenset({"accept", "accept-language", "user-agent"})
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
_WEB_CHARSETS = re.compile(
    "utf|us-ascii|ascii|iso-|latin|windows-|cp|koi8|gb|big5|euc|shift|sjis|mac|tis", re.IGNORECASE
)
_ENCODINGS = {"gzip": 16 + zlib.MAX_WBITS, "x-gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """A response: `url` is the final address, `truncated` says whether the body was cut."""

    url: str
    status: int
    headers: httpx.Headers
    body: bytes
    truncated: bool

    @property
    def ok(self) -> bool:
        return self.status < 400

    @property
    def media_type(self) -> str:
        """Lower-case and without parameters; empty if the server sent none."""
        return self._content_type.partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """The character set that the server names, if it is one used on the web."""
        named = _CHARSET.search(self._content_type)
        return named[1] if named and _WEB_CHARSETS.match(named[1]) and _is_known(named[1]) else None

    @property
    def _content_type(self) -> str:
        return str(self.headers.get("content-type", ""))

    def text(self) -> str:
        """The body in the character set that the server names, else in UTF-8."""
        return self.body.decode(self.charset or "utf-8", errors="replace").removeprefix("\ufeff")


class WebClient:
    """Sends each request over its own connections."""

    def __init__(
        self,
        guard: AddressGuard,
        *,
        total_s: float = TOTAL_S,
        transport: Callable[[], httpx.AsyncBaseTransport | None] = lambda: None,
    ) -> None:
        """`transport` replaces the network (tests)."""
        self.guard = guard
        self._total_s = total_s
        self._transport = transport

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        max_bytes: int,
        follow: bool = True,
    ) -> WebAnswer:
        """The answer, after at most five redirects; only GET and HEAD are redirected.

        Raises: AddressNotAllowed, ToolError.
        """
        content = None if body is None else body.encode()
        target = self.guard.parse(url)
        wanted = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": "gzip, deflate"}
        sent = wanted | {name.lower(): value for name, value in (headers or {}).items()}
        try:
            async with asyncio.timeout(self._total_s):
                return await self._follow(method, target, sent, content, max_bytes, follow)
        except TimeoutError as error:
            raise ToolError(f"{target.host} took longer than {self._total_s:g} s, so it was stopped.") from error

    async def _follow(
        self, method: str, target: Target, headers: dict[str, str], content: bytes | None, max_bytes: int, follow: bool
    ) -> WebAnswer:
        for _ in range(MAX_REDIRECTS + 1):
            answer = await self._once(method, target, headers, content, max_bytes)
            location = answer.headers.get("location")
            if not follow or answer.status not in _REDIRECTS or not location or method not in ("GET", "HEAD"):
                return answer
            try:
                following = self.guard.parse(urljoin(target.url, location))
            except (AddressNotAllowed, ValueError) as error:
                reason = str(error) if isinstance(error, AddressNotAllowed) else "It cannot be read."
                raise AddressNotAllowed(
                    f"{target.host} redirects to an address that is not allowed. {reason}"
                ) from error
            if following.origin != target.origin:
                headers = {name: value for name, value in headers.items() if name in _KEPT_ELSEWHERE}
                headers["accept-encoding"] = "gzip, deflate"
            target, content = following, None
        raise ToolError(f"More than {MAX_REDIRECTS} redirects, the last one to {target.host}.")

    async def _once(
        self, method: str, target: Target, headers: Mapping[str, str], content: bytes | None, max_bytes: int
    ) -> WebAnswer:
        """Connects to the first reachable of the checked addresses; the name is not resolved again."""
        addresses = await self.guard.addresses(target)
        context = await asyncio.to_thread(_tls) if target.scheme == "https" else False
        timeout = httpx.Timeout(READ_S, connect=CONNECT_S)
        async with httpx.AsyncClient(
            trust_env=False, follow_redirects=False, verify=context, timeout=timeout, transport=self._transport()
        ) as client:
            for index, address in enumerate(addresses):
                request = _request(client, method, target, address, headers, content)
                try:
                    return await _answer(client, request, target, max_bytes)
                except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                    if index == len(addresses) - 1:
                        raise ToolError(
                            f"{target.host}:{target.port} could not be reached: {_reason(error)}."
                        ) from error
                except httpx.HTTPError as error:  # its message may come from the server
                    raise ToolError(f"{target.host} sent no valid response ({type(error).__name__}).") from error
        raise ToolError(f"{target.host} has no address.")


def open_client(web: WebConfig) -> WebClient:
    """A client with the configured settings."""
    return WebClient(AddressGuard(web.allow_private))


def _request(
    client: httpx.AsyncClient,
    method: str,
    target: Target,
    address: str,
    headers: Mapping[str, str],
    content: bytes | None,
) -> httpx.Request:
    """Connects to the address; Host header, SNI and certificate check use the name."""
    host = f"[{address}]" if ":" in address else address
    extensions = {} if target.address else {"sni_hostname": target.host}
    return client.build_request(
        method,
        httpx.URL(f"{target.scheme}://{host}:{target.port}{target.path}"),
        headers={"host": target.authority, **headers},
        content=content,
        extensions=extensions,
    )


async def _answer(client: httpx.AsyncClient, request: httpx.Request, target: Target, max_bytes: int) -> WebAnswer:
    response = await client.send(request, stream=True)
    try:
        body, truncated = await _read(response, target, max_bytes)
    finally:
        await response.aclose()
    return WebAnswer(target.url, response.status_code, response.headers, body, truncated)


async def _read(response: httpx.Response, target: Target, max_bytes: int) -> tuple[bytes, bool]:
    """At most that many bytes, decompressed; a small response that expands to a huge one is stopped in time."""
    encodings = [name.strip().lower() for name in response.headers.get("content-encoding", "").split(",")]
    encodings = [name for name in encodings if name not in ("", "identity")]
    if len(encodings) > 1 or any(name not in _ENCODINGS for name in encodings):
        raise ToolError(f"{target.host} compressed its response in a way that was not requested and cannot be read.")
    unpack = _Unpacking(_ENCODINGS[encodings[0]]) if encodings else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += unpack.feed(chunk, max_bytes + 1 - len(body)) if unpack else chunk
        except zlib.error as error:
            raise ToolError(f"{target.host} sent a damaged response: it cannot be decompressed.") from error
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


class _Unpacking:
    """Decompresses a stream; `deflate` has a zlib header from some servers and none from others."""

    def __init__(self, window_bits: int) -> None:
        self._unpacker = zlib.decompressobj(window_bits)
        self._may_be_raw = window_bits == zlib.MAX_WBITS

    def feed(self, data: bytes, max_bytes: int) -> bytes:
        try:
            unpacked = self._unpacker.decompress(data, max_bytes)
        except zlib.error:
            if not self._may_be_raw:
                raise
            self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
            unpacked = self._unpacker.decompress(data, max_bytes)
        self._may_be_raw = self._may_be_raw and not data
        return unpacked


@cache
def _tls() -> SSLContext:
    """Loading the certificates is slow, so it happens once and in a thread."""
    return httpx.create_ssl_context()


def _is_known(charset: str) -> bool:
    try:
        codecs.lookup(charset)
    except LookupError:
        return False
    return True


def _reason(error: Exception) -> str:
    cause = error.__cause__ or error
    return "it took too long" if isinstance(error, httpx.ConnectTimeout) else str(cause) or "no connection"
