"""OpenAI's chat completions, streamed.

Source: OpenAI, "Chat Completions" (stream).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk
from onyx_jupyter.providers.event_stream import event_batches
from onyx_jupyter.providers.known_providers import CarriedKind
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
    carried: CarriedKind = "",
    headers: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    url = f"{base_url.rstrip('/')}/chat/completions"
    async with (
        event_batches(client, url, {**headers, "Authorization": f"Bearer {api_key}"}, body, timeout_s) as batches,
        aclosing(_chunks(batches, price, carried)) as chunks,
    ):
        yield chunks


async def _chunks(
    batches: AsyncIterator[list[dict[str, Any]]], price: Price, carried: CarriedKind
) -> AsyncGenerator[ChatChunk, None]:
    reasoning = _Reasoning(carried)
    async for objects in batches:
        yield _merged(objects, price, reasoning)


class _Reasoning:
    """The reasoning of one answer in the provider's own form, put together from its pieces."""

    def __init__(self, kind: CarriedKind) -> None:
        self._kind = kind
        self._content: list[str] = []
        self._details: list[dict[str, Any]] = []

    def read(self, delta: Mapping[str, Any]) -> None:
        if self._kind == "reasoning_content" and isinstance(piece := delta.get("reasoning_content"), str):
            self._content.append(piece)
        elif self._kind == "reasoning_details":
            for piece in delta.get("reasoning_details") or ():
                self._add(piece)

    def fields(self) -> dict[str, Any]:
        """Of the message, so far."""
        if self._content:
            return {"reasoning_content": "".join(self._content)}
        return {"reasoning_details": [dict(detail) for detail in self._details]} if self._details else {}

    def _add(self, piece: Mapping[str, Any]) -> None:
        """Pieces of one detail follow one another; its text grows, and the signature comes with the last of them."""
        last = self._details[-1] if self._details else {}
        if not self._details or any(last.get(name) != piece.get(name) for name in ("type", "index")):
            self._details.append(dict(piece))
            return
        for name, value in piece.items():
            grows = name in ("text", "summary", "data") and value
            last[name] = (last.get(name) or "") + value if grows else value if value is not None else last.get(name)


def _merged(objects: list[dict[str, Any]], price: Price, reasoning: _Reasoning) -> ChatChunk:
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
            reasoning.read(delta)
    carried = reasoning.fields() if reason or usage else None
    return ChatChunk("".join(texts), calls, reason, usage, "".join(thoughts), carried)


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
    extra = call.get("extra_content")  # Gemini's signature
    carried = {"extra_content": extra} if extra else None
    return CallPiece(call.get("index"), call.get("id"), function.get("name"), function.get("arguments"), carried)


def _usage(reported: Mapping[str, Any] | None, price: Price) -> Usage | None:
    if not reported:
        return None
    tokens, output = int(reported.get("prompt_tokens") or 0), int(reported.get("completion_tokens") or 0)
    # Gemini and xAI count thoughts in the total alone; they are paid for like the answer.
    output = max(output, int(reported.get("total_tokens") or 0) - tokens)
    cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens")
    reasoning = (reported.get("completion_tokens_details") or {}).get("reasoning_tokens")
    cost_usd = reported.get("cost")  # OpenRouter's own figure
    if not isinstance(cost_usd, int | float):
        cost_usd = price.cost_usd(tokens - (cached or 0), output, cached=cached or 0)
    return Usage(tokens, output, cached, cost_usd, reasoning)
