"""OpenAI's chat completions, streamed.

Source: OpenAI, "Chat Completions" (stream).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk
from onyx_jupyter.providers.event_stream import event_batches

if TYPE_CHECKING:
    import httpx


@asynccontextmanager
async def chat_chunks(
    client: httpx.AsyncClient, base_url: str, api_key: str, body: Mapping[str, Any], timeout_s: float
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    url = f"{base_url.rstrip('/')}/chat/completions"
    async with (
        event_batches(client, url, {"Authorization": f"Bearer {api_key}"}, body, timeout_s) as batches,
        aclosing(_chunks(batches)) as chunks,
    ):
        yield chunks


async def _chunks(batches: AsyncIterator[list[dict[str, Any]]]) -> AsyncGenerator[ChatChunk, None]:
    async for objects in batches:
        yield _merged(objects)


def _merged(objects: list[dict[str, Any]]) -> ChatChunk:
    texts, thoughts, calls = [], [], []
    reason: str | None = None
    usage: Usage | None = None
    for chunk in objects:
        usage = _usage(chunk.get("usage")) or usage
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or choice.get("message") or {}  # a message, if the server does not stream
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
