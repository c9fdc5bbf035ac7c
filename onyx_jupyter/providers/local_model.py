"""A model that runs on this machine: builds requests and reads answers; `local_server` manages the process."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from onyx_jupyter.errors import ModelError
from onyx_jupyter.messages import Message, Usage
from onyx_jupyter.protocols import CallProgress, Guidance, ModelDone, ModelEvent, ModelProgress, ModelRequest, TextDelta
from onyx_jupyter.providers.chat_answer import ChatChunk, as_said
from onyx_jupyter.providers.json_action_stream import JsonActionStream
from onyx_jupyter.providers.json_actions import action_prompt, json_action_call
from onyx_jupyter.providers.local_context import CHARS_PER_TOKEN, estimate, fit
from onyx_jupyter.providers.local_files.free_memory import free_memory_bytes
from onyx_jupyter.providers.local_server import LocalServer
from onyx_jupyter.providers.local_server_pool import LocalServerPool
from onyx_jupyter.providers.local_weights import Weights
from onyx_jupyter.providers.openai_format import openai_messages
from onyx_jupyter.providers.thoughts import ThinkingHabit, ThoughtSplitter

if TYPE_CHECKING:
    import httpx

log = logging.getLogger(__name__)
_MAX_TOKENS = 1024
# The length of a token is first guessed; if the guess let too much through, the server's count corrects it.
_ATTEMPTS = 2
_SAFETY = 0.8
_SHORTEST_TOKEN_CHARS = 0.2
_OVERHEAD_BYTES = 450_000_000
_TEXT_TEMPERATURE = 0.2
_ACTION_TEMPERATURE = 0.1
# Against loops, which small models fall into. Actions repeat words on purpose (a path, a quoted command), so the
# penalty is weaker there.
_TEXT_SAMPLING = {"min_p": 0.05, "repeat_penalty": 1.06, "repeat_last_n": 256, "dry_multiplier": 0.8}
_ACTION_SAMPLING = {"top_p": 0.9, "repeat_penalty": 1.0}
# Guided answers copy: names of columns into a cell, numbers into an answer. A penalty for repeating words would turn
# 'JAMES LOGAN' into 'JAME LOGAN'.
_COPYING_SAMPLING = {"min_p": 0.05, "repeat_penalty": 1.0}


class LocalModel:
    """A model of the catalogue, or `local/` and the path of a GGUF file."""

    def __init__(self, model_id: str, weights: Weights, servers: LocalServerPool) -> None:
        self._id = model_id
        self._weights = weights
        self._servers = servers

    @property
    def id(self) -> str:
        return self._id

    @property
    def light(self) -> bool:
        return True

    @property
    def tiny(self) -> bool:
        return False

    @property
    def context_window(self) -> int:
        return self._weights.context_tokens

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """One answer, starting the process if needed. Closing or cancelling ends the work. Raises: ModelError."""
        server = self._servers.server(self._weights)
        with server.in_use():
            async with aclosing(server.start()) as progress:
                async for line in progress:
                    yield ModelProgress(line)
            async with aclosing(self._answer(server, request)) as events:
                async for event in events:
                    yield event

    async def prefill(self, request: ModelRequest) -> None:
        """See protocols.Prefills. Starts the process if it is not running and there is enough memory."""
        server = self._servers.server(self._weights)
        if not (server.running or server.is_used or await asyncio.to_thread(self._fits)):
            return
        body = _Body(self._weights, replace(request, max_tokens=1)).at(CHARS_PER_TOKEN) | {"stream": False}
        try:
            await server.prefill(body)
        except ModelError as error:
            log.info("%s could not be started for reading ahead: %s", self._id, error)

    def _fits(self) -> bool:
        try:
            return self._weights.path.stat().st_size + _OVERHEAD_BYTES < free_memory_bytes()
        except OSError:
            return False

    async def _answer(self, server: LocalServer, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        action = JsonActionStream() if request.tools else None
        answer, splitter = _Answer(server, request.progress), ThoughtSplitter(ThinkingHabit.of(self._id))
        async with aclosing(answer.words(_Body(self._weights, request))) as words:
            async for chunk in words:
                for event in as_said(splitter.feed(chunk.text, chunk.thought), action):
                    yield event
        for event in as_said(splitter.finish(is_whole=answer.finish_reason != "length"), action):
            yield event
        rest, calls = action.finish() if action else ("", ())
        if rest:
            yield TextDelta(rest)
        yield ModelDone(calls, answer.usage, "tool_calls" if calls else answer.finish_reason)


@dataclass(frozen=True, slots=True)
class _Body:
    """A request for the process, built for an assumed token length."""

    weights: Weights
    request: ModelRequest

    def at(self, chars_per_token: float) -> dict[str, Any]:
        tools = self.request.tools
        fitted = replace(self.request, messages=self._fitted(chars_per_token))
        body: dict[str, Any] = {
            "stream": True,
            "timings_per_token": True,
            "max_tokens": self._max_tokens,
            "cache_prompt": True,
            **self._sampling,
        }
        wish = self.request.temperature
        default = _ACTION_TEMPERATURE if tools else _TEXT_TEMPERATURE
        body["temperature"] = default if wish is None else wish
        guidance = self.request.guidance
        if guidance is not None:
            return body | _guided(guidance) | {"messages": _plain_messages(fitted) + _beginning(guidance)}
        if tools:
            call = json_action_call(fitted)
            return body | {"messages": call.messages, "response_format": call.response_format}
        return body | {"messages": _plain_messages(fitted)}

    @property
    def _sampling(self) -> dict[str, float]:
        if self.request.guidance is not None:
            return _COPYING_SAMPLING
        return _ACTION_SAMPLING if self.request.tools else _TEXT_SAMPLING

    def _fitted(self, chars_per_token: float) -> list[Message]:
        system = self.request.system + action_prompt(self.request.tools) * bool(self.request.tools)
        taken = estimate([Message("system", system)], chars_per_token) + self._max_tokens
        room = max(self.weights.context_tokens - taken, self.weights.context_tokens // 4)
        return fit(self.request.messages, room, chars_per_token=chars_per_token)

    @property
    def _max_tokens(self) -> int:
        return min(self.request.max_tokens or _MAX_TOKENS, _MAX_TOKENS)


class _Answer:
    """One exchange with the process."""

    def __init__(self, server: LocalServer, progress: CallProgress) -> None:
        self.usage = Usage()
        self.finish_reason = "stop"
        self._server = server
        self._progress = progress

    async def words(self, body: _Body) -> AsyncGenerator[ChatChunk, None]:
        """The chunks of the answer, with thoughts. Raises: ModelError."""
        chars_per_token = CHARS_PER_TOKEN
        for _ in range(_ATTEMPTS):
            try:
                async with aclosing(self._exchange(body.at(chars_per_token))) as words:
                    async for chunk in words:
                        yield chunk
                return
            except _TooLongError as too_long:
                chars_per_token = too_long.chars_per_token
        raise ModelError(
            "overflow",
            "The conversation is longer than the local model's context window.",
            hint="Start a new session, or choose a model with a larger context window.",
        )

    async def _exchange(self, body: dict[str, Any]) -> AsyncGenerator[ChatChunk, None]:
        import httpx

        client = self._server.client
        try:
            async with client.stream("POST", "/v1/chat/completions", json=body) as response:
                if response.status_code != 200:
                    raise await _refusal(response, body)
                finished = False
                async for chunk in _chunks(response):
                    finished = self._take(chunk) or finished
                    for choice in chunk.get("choices", ()):
                        said = ChatChunk(
                            choice["delta"].get("content") or "", thought=choice["delta"].get("reasoning_content") or ""
                        )
                        if said.text or said.thought:
                            yield said
        except httpx.HTTPError:
            raise await self._server.connection_error() from None
        if not finished:
            raise await self._server.connection_error()
        self._server.has_read(body, self.usage.input_tokens)

    def _take(self, chunk: dict[str, Any]) -> bool:
        if "error" in chunk:
            raise _bad_answer(str(chunk["error"].get("message")))
        if timings := chunk.get("timings"):  # in each chunk; `usage` comes at the end, which may be missed
            cached = timings["cache_n"]
            self.usage = Usage(timings["prompt_n"] + cached, timings["predicted_n"], cached, cost_usd=0.0)
            self._progress.usage = self.usage
        reasons = [choice["finish_reason"] for choice in chunk.get("choices", ()) if choice.get("finish_reason")]
        if reasons:
            self.finish_reason = reasons[-1]
        return bool(reasons)


class _TooLongError(Exception):
    """The prompt did not fit; `chars_per_token` is the estimated length of a token."""

    def __init__(self, chars_per_token: float) -> None:
        super().__init__(f"{chars_per_token:.2f} characters a token")
        self.chars_per_token = chars_per_token


async def _chunks(response: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in response.aiter_lines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


async def _refusal(response: httpx.Response, body: dict[str, Any]) -> Exception:
    """Why the process did not answer: too long a prompt, with the token length learned from it, or a ModelError."""
    await response.aread()
    error = response.json().get("error", {}) if response.content else {}
    tokens = error.get("n_prompt_tokens")
    if error.get("type") != "exceed_context_size_error" or not tokens:
        return _bad_answer(str(error.get("message") or f"HTTP {response.status_code}"))
    chars = sum(len(message["content"]) for message in body["messages"])
    return _TooLongError(max(_SHORTEST_TOKEN_CHARS, _SAFETY * chars / int(tokens)))


def _guided(guidance: Guidance) -> dict[str, Any]:
    held: dict[str, Any] = {"stop": list(guidance.stop), "seed": guidance.seed}
    if guidance.grammar is not None:
        held["grammar"] = guidance.grammar
    return {name: value for name, value in held.items() if value}


def _beginning(guidance: Guidance) -> list[dict[str, Any]]:
    """The process continues a last message of the assistant."""
    return [{"role": "assistant", "content": guidance.begun}] if guidance.begun else []


def _bad_answer(detail: str) -> ModelError:
    return ModelError(
        "bad_response",
        f"The local model rejected the request: {detail[:300]}",
        hint="Start a new session, or choose another model.",
    )


def _plain_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """If no tools are offered, earlier calls become words, since the model knows no other form for them."""
    plain: list[Message] = []
    for message in request.messages:
        if message.role == "tool":
            plain.append(Message("user", f"Result:\n{message.content}\nSay in one or two sentences what came out."))
        elif message.tool_calls:
            named = ", ".join(call.name for call in message.tool_calls)
            plain.append(Message("assistant", message.content or f"I use {named}."))
        else:
            plain.append(message)
    return openai_messages(replace(request, messages=plain))
