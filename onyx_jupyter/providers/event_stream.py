"""Streamed answers over HTTP without a client library: JSON objects in server-sent events.

Bytes that arrive together are handed on together, so that many answers at once cost a server few steps each.
Source: WHATWG HTML, "Server-sent events" (the `data` lines).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

_CONNECT_S = 15.0
_MAX_BODY_BYTES = _MAX_LINE_BYTES = 16_000_000
_DONE = b"[DONE]"


class HttpFailure(Exception):
    """A failed answer, with the attributes that error_map reads: `body` is the provider's `error` object."""

    def __init__(self, status_code: int | None, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        super().__init__(str(body.get("message") or f"HTTP {status_code}"))
        self.status_code = status_code
        self.body = body
        self.headers = headers


async def new_client() -> httpx.AsyncClient:
    """A client for any number of answers at once; created in a thread, since loading certificates is slow."""
    return await asyncio.to_thread(_client)


@asynccontextmanager
async def event_batches(
    client: httpx.AsyncClient, url: str, headers: Mapping[str, str], body: Mapping[str, Any], timeout_s: float
) -> AsyncIterator[AsyncIterator[list[dict[str, Any]]]]:
    """The objects of the answer, those that came together in one list; leaving closes the connection at once.

    A server that does not stream gives one object, its whole answer. `timeout_s` is the longest wait for the next byte.
    Raises: HttpFailure, httpx.HTTPError.
    """
    import httpx

    async with client.stream(
        "POST",
        url,
        json=dict(body),
        headers=dict(headers),
        timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
    ) as response:
        if not response.is_success:
            raise HttpFailure(response.status_code, error_object(await _body(response)), dict(response.headers))
        async with aclosing(_batches(response)) as batches:
            yield batches


def error_object(body: bytes) -> dict[str, Any]:
    """The provider's `error` object if there is one, else the text of the body."""
    try:
        found = json.loads(body)
    except ValueError:
        return {"message": body.decode("utf-8", "replace")[:500]}
    if isinstance(found, list) and found:  # Google's form
        found = found[0]
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        return error if error.get("message") else error | {"message": str(error.get("detail") or error)[:500]}
    return {"message": str(error)[:500]}


def _client() -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


async def _batches(response: httpx.Response) -> AsyncGenerator[list[dict[str, Any]], None]:
    if "application/json" in response.headers.get("content-type", ""):
        yield [_whole(await _body(response))]
        return
    rest = b""
    async for data in response.aiter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise HttpFailure(None, {"message": "a line of the response is too long"}, {})
        objects, failure = _objects(lines)
        if objects:
            yield objects
        if failure is not None:
            raise failure
    if (last := _object(rest)) is not None:
        yield [last]


def _objects(lines: list[bytes]) -> tuple[list[dict[str, Any]], Exception | None]:
    """The objects in the lines, up to the first that cannot be read: what came before it counts."""
    objects: list[dict[str, Any]] = []
    for line in lines:
        try:
            found = _object(line)
        except (ValueError, HttpFailure) as failure:
            return objects, failure
        if found is not None:
            objects.append(found)
    return objects, None


def _object(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a `data` line; None for every other line. Raises: ValueError, HttpFailure."""
    if not line.startswith(b"data:"):
        return None
    data = line[5:].strip()
    if not data or data == _DONE:
        return None
    found = json.loads(data)
    if not isinstance(found, dict):
        raise json.JSONDecodeError("no object", data.decode("utf-8", "replace")[:200], 0)
    if found.get("error"):
        error = error_object(data)
        code = error.get("code")
        raise HttpFailure(code if isinstance(code, int) else None, error, {})
    return found


def _whole(body: bytes) -> dict[str, Any]:
    """Raises: ValueError, HttpFailure."""
    answer = json.loads(body)
    if not isinstance(answer, dict) or answer.get("error"):
        raise HttpFailure(None, error_object(body), {})
    return answer


async def _body(response: httpx.Response) -> bytes:
    """The body, up to a limit: an HTML page may have any size."""
    body = b""
    async for data in response.aiter_bytes():
        body += data
        if len(body) > _MAX_BODY_BYTES:
            break
    return body
