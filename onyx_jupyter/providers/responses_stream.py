"""OpenAI's Responses API, streamed.

Source: OpenAI, "Streaming events" (response.*), "Error codes".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from onyx_jupyter.messages import Usage
from onyx_jupyter.providers.chat_answer import CallPiece, ChatChunk
from onyx_jupyter.providers.event_stream import HttpFailure, event_batches
from onyx_jupyter.providers.prices import Price
from onyx_jupyter.providers.responses_format import REASONING_ITEMS

if TYPE_CHECKING:
    import httpx

_APART = "\n\n"
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
# The status that an error in the middle of a stream would have had before it began.
_STATUS = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "invalid_api_key": 401,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "server_error": 500,
    "server_is_overloaded": 503,
    "slow_down": 503,
}


@asynccontextmanager
async def response_chunks(
    client: httpx.AsyncClient, address: str, api_key: str, body: Mapping[str, Any], timeout_s: float, price: Price
) -> AsyncIterator[AsyncIterator[ChatChunk]]:
    """The answer's chunks; leaving closes the connection at once. Raises: HttpFailure, httpx.HTTPError."""
    url = f"{address.rstrip('/')}/responses"
    async with (
        event_batches(client, url, {"Authorization": f"Bearer {api_key}"}, body, timeout_s) as batches,
        aclosing(_chunks(batches, price)) as chunks,
    ):
        yield chunks


async def _chunks(batches: AsyncIterator[list[dict[str, Any]]], price: Price) -> AsyncGenerator[ChatChunk, None]:
    answer = _Answer(price)
    try:
        async for events in batches:
            chunk, failure = answer.merged(events)
            yield chunk
            if failure is not None:
                raise _failure(failure)
    except HttpFailure as failure:
        raise _failure(failure.body, failure) from None


class _Answer:
    """What has come of one answer: its items in order."""

    def __init__(self, price: Price) -> None:
        self._price = price
        self._items: dict[int, dict[str, Any]] = {}
        self._has_thought = False

    def merged(self, events: Sequence[Mapping[str, Any]]) -> tuple[ChatChunk, Mapping[str, Any] | None]:
        """Several events as one chunk, up to the error that ends the answer, if there is one."""
        texts, thoughts, calls = [], [], []
        reason: str | None = None
        usage: Usage | None = None
        failure: Mapping[str, Any] | None = None
        ended = False
        for event in events:
            kind = str(event.get("type") or "")
            if kind in ("response.output_text.delta", "response.refusal.delta"):
                texts.append(event["delta"])
            elif kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
                thoughts.append(event["delta"])
                self._has_thought = True
            elif kind == "response.reasoning_summary_part.added" and self._has_thought:
                thoughts.append(_APART)
            elif kind == "response.output_item.added" and event["item"].get("type") == "function_call":
                item = event["item"]
                calls.append(CallPiece(event["output_index"], item.get("call_id"), item.get("name"), None))
            elif kind == "response.function_call_arguments.delta":
                calls.append(CallPiece(event["output_index"], None, None, event["delta"]))
            elif kind == "response.output_item.done":
                self._items[event["output_index"]] = _carried_item(event["item"])
            elif kind in ("response.completed", "response.incomplete"):
                usage, reason = _usage(event["response"], self._price), _reason(event["response"])
                ended = True
            elif kind in ("response.failed", "error"):
                failure = event
                if kind == "response.failed":
                    usage = _usage(event["response"], self._price)
                    failure = event["response"].get("error") or {}
                break
            elif event.get("object") == "response":
                return _whole(event, self._price), event.get("error")
        carried = _carried([self._items[index] for index in sorted(self._items)]) if ended else None
        return ChatChunk("".join(texts), calls, reason, usage, "".join(thoughts), carried), failure


def _whole(response: Mapping[str, Any], price: Price) -> ChatChunk:
    """The answer of a server that does not stream."""
    items = response.get("output") or ()
    calls = [
        CallPiece(index, item.get("call_id"), item.get("name"), item.get("arguments"))
        for index, item in enumerate(items)
        if item.get("type") == "function_call"
    ]
    parts = [part for item in items if item.get("type") == "message" for part in item.get("content") or ()]
    thoughts = [part["text"] for item in items if item.get("type") == "reasoning" for part in item.get("summary") or ()]
    return ChatChunk(
        "".join(part.get("text") or part.get("refusal") or "" for part in parts),
        calls,
        _reason(response),
        _usage(response, price),
        _APART.join(thoughts),
        _carried([_carried_item(item) for item in items]),
    )


def _carried_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """A reasoning item as it is; a mark for a text or a call. The status is the answer's, and no part of a request."""
    kind = item.get("type")
    kept = item.keys() - {"status"} if kind == "reasoning" else {"type", "phase"}
    return {name: value for name, value in item.items() if name in kept and value is not None}


def _carried(items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Nothing unless it can be read again: what was not encrypted is not stored, so it could not be found."""
    reasoning = [item for item in items if item.get("type") == "reasoning"]
    if any("encrypted_content" not in item for item in reasoning):
        return {}
    return {REASONING_ITEMS: items} if reasoning or any("phase" in item for item in items) else {}


def _reason(response: Mapping[str, Any]) -> str:
    why = (response.get("incomplete_details") or {}).get("reason") or ""
    return _INCOMPLETE.get(why, "length") if response.get("status") == "incomplete" else "stop"


def _usage(response: Mapping[str, Any], price: Price) -> Usage | None:
    reported = response.get("usage")
    if not reported:
        return None
    tokens, output = int(reported.get("input_tokens") or 0), int(reported.get("output_tokens") or 0)
    cached = (reported.get("input_tokens_details") or {}).get("cached_tokens")
    reasoning = (reported.get("output_tokens_details") or {}).get("reasoning_tokens")
    cost_usd = price.cost_usd(tokens - (cached or 0), output, cached=cached or 0)
    return Usage(tokens, output, cached, cost_usd, reasoning)


def _failure(error: Mapping[str, Any], origin: HttpFailure | None = None) -> HttpFailure:
    """The error with its status; the code `error` is the event's own, and says nothing."""
    status = origin.status_code if origin else None
    named = (error.get("code"), error.get("type"))
    return HttpFailure(
        status or next((_STATUS[name] for name in named if name in _STATUS), None),
        {name: value for name, value in error.items() if value is not None},
        origin.headers if origin else {},
    )
