"""OpenAI's chat completions over HTTP, streamed, without a client library.

Bytes that arrive together are handed on together, so that many answers at once cost a server few steps each.
Source: OpenAI, "Chat Completions" (stream); WHATWG HTML, "Server-sent events" (the `data` lines).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk

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
async def chat_chunks(
    client: httpx.AsyncClient, base_url: str, api_key: str, body: Mapping[str, Any], timeout_s: float
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    import httpx

    async with client.stream(
        "POST",
        f"{base_url.rstrip('/')}/chat/completions",
        json=dict(body),
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, _CONNECT_S)),
    ) as response:
        if not response.is_success:
            raise HttpFailure(response.status_code, error_object(await _body(response)), dict(response.headers))
        yield _chunks(response)


def _client() -> httpx.AsyncClient:
    import httpx

    return httpx.AsyncClient(limits=httpx.Limits(max_connections=None, max_keepalive_connections=20))


async def _chunks(response: httpx.Response) -> AsyncIterator[ChatChunk]:
    if "application/json" in response.headers.get("content-type", ""):
        yield _merged([_whole(json.loads(await _body(response)))])
        return
    rest = b""
    async for data in response.aiter_bytes():
        *lines, rest = (rest + data).split(b"\n")
        if len(rest) > _MAX_LINE_BYTES:
            raise HttpFailure(None, {"message": "a line of the answer does not end"}, {})
        objects, failure = _objects(lines)
        if objects:
            yield _merged(objects)
        if failure is not None:
            raise failure
    if (last := _object(rest)) is not None:
        yield _merged([last])


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


def _merged(objects: list[dict[str, Any]]) -> ChatChunk:
    texts, thoughts, calls = [], [], []
    reason: str | None = None
    usage: Usage | None = None
    for chunk in objects:
        usage = _usage(chunk.get("usage")) or usage
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            reason = choice.get("finish_reason") or reason
            texts.append(delta.get("content") or "")
            thoughts.append(_thought(delta))
            calls += [_piece(call) for call in delta.get("tool_calls") or ()]
    return ChatChunk("".join(texts), calls, reason, usage, "".join(thoughts))


def _thought(delta: Mapping[str, Any]) -> str:
    """vLLM, SGLang, llama.cpp and DeepSeek use one name, Ollama and OpenRouter the other; some send both."""
    thought = delta.get("reasoning_content") or delta.get("reasoning")
    return thought if isinstance(thought, str) else ""


def _piece(call: Mapping[str, Any]) -> CallPiece:
    function = call.get("function") or {}
    return CallPiece(call.get("index"), call.get("id"), function.get("name"), function.get("arguments"))


def _usage(reported: Mapping[str, Any] | None) -> Usage | None:
    if not reported:
        return None
    details = reported.get("prompt_tokens_details") or {}
    return Usage(
        int(reported.get("prompt_tokens") or 0),
        int(reported.get("completion_tokens") or 0),
        details.get("cached_tokens"),
    )


def _whole(answer: Any) -> dict[str, Any]:
    """The answer of a server that does not stream, as a single chunk."""
    if not isinstance(answer, dict) or answer.get("error"):
        raise HttpFailure(None, error_object(json.dumps(answer).encode()), {})
    choices = [choice | {"delta": choice.get("message")} for choice in answer.get("choices") or ()]
    return answer | {"choices": choices}


async def _body(response: httpx.Response) -> bytes:
    """The body, up to a limit: an HTML page may have any size."""
    body = b""
    async for data in response.aiter_bytes():
        body += data
        if len(body) > _MAX_BODY_BYTES:
            break
    return body


def error_object(body: bytes) -> dict[str, Any]:
    """OpenAI's `error` object if there is one, else the text of the body."""
    try:
        found = json.loads(body)
    except ValueError:
        return {"message": body.decode("utf-8", "replace")[:500]}
    error = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(error, dict):
        return error if error.get("message") else error | {"message": str(error.get("detail") or error)[:500]}
    return {"message": str(error)[:500]}
