"""OpenAI's chat completions, streamed.

Source: OpenAI, "Chat Completions" (stream).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk
from onyx_jupyter.providers.event_stream import event_batches
from onyx_jupyter.providers.prices import UNKNOWN, Price

if TYPE_CHECKING:
    import httpx


@asynccontextmanager
async def chat_chunks(
    client: httpx.AsyncClient,
    base_url: str,
    api_key: str,
    body: Mapping[str, Any],
    timeout_s: float,
    price: Price = UNKNOWN,
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    url = f"{base_url.rstrip('/')}/chat/completions"
    async with (
        event_batches(client, url, {"Authorization": f"Bearer {api_key}"}, body, timeout_s) as batches,
        aclosing(_chunks(batches, price)) as chunks,
    ):
        yield chunks


async def _chunks(batches: AsyncIterator[list[dict[str, Any]]], price: Price) -> AsyncGenerator[ChatChunk, None]:
    async for objects in batches:
        yield _merged(objects, price)


def _merged(objects: list[dict[str, Any]], price: Price) -> ChatChunk:
    texts, thoughts, calls = [], [], []
    reason: str | None = None
    usage: Usage | None = None
    for chunk in objects:
        usage = _usage(chunk.get("usage"), price) or usage
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or choice.get("message") or {}  # a message, if the server does not stream
            reason = choice.get("finish_reason") or reason
            text, thought = _said(delta.get("content") or "")
            texts.append(text)
            thoughts.append(thought or _thought(delta))
            calls += [_piece(call) for call in delta.get("tool_calls") or ()]
    return ChatChunk("".join(texts), calls, reason, usage, "".join(thoughts))


def _said(content: str | Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Text and thought; Mistral's thinking models send parts of both kinds instead of a text."""
    if isinstance(content, str):
        return content, ""
    texts = [part.get("text") or "" for part in content if part.get("type") == "text"]
    thoughts = [inner for part in content if part.get("type") == "thinking" for inner in part.get("thinking") or ()]
    return "".join(texts), "".join(inner.get("text") or "" for inner in thoughts)


def _thought(delta: Mapping[str, Any]) -> str:
    """vLLM, SGLang, llama.cpp and DeepSeek use one name, Ollama and OpenRouter the other; some send both."""
    thought = delta.get("reasoning_content") or delta.get("reasoning")
    return thought if isinstance(thought, str) else ""


def _piece(call: Mapping[str, Any]) -> CallPiece:
    function = call.get("function") or {}
    return CallPiece(call.get("index"), call.get("id"), function.get("name"), function.get("arguments"))


def _usage(reported: Mapping[str, Any] | None, price: Price) -> Usage | None:
    if not reported:
        return None
    tokens, output = int(reported.get("prompt_tokens") or 0), int(reported.get("completion_tokens") or 0)
    cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens")
    cost_usd = reported.get("cost")  # OpenRouter's own figure
    if not isinstance(cost_usd, int | float):
        cost_usd = price.cost_usd(tokens - (cached or 0), output, cached=cached or 0)
    return Usage(tokens, output, cached, cost_usd)
