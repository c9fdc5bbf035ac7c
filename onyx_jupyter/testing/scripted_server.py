"""A server on loopback that answers from a script: chat completions, OpenAI's Responses or Anthropic's Messages.

It runs in its own thread, so that any kind of test can use it: `with ScriptedServer(["Hello."]) as server:`.
By hand: `python -m onyx_jupyter.testing.scripted_server --port 9999 [--script replies.json]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from weakref import WeakSet

from onyx_jupyter.providers.known_providers import CarriedKind
from onyx_jupyter.testing import anthropic_wire
from onyx_jupyter.testing import openai_wire as wire
from onyx_jupyter.testing.carried import Issued
from onyx_jupyter.testing.demo_script import demo_replies, replies_from_file
from onyx_jupyter.testing.responses_wire import ResponsesAnswer
from onyx_jupyter.testing.script import (
    Call,
    Cut,
    Hang,
    Hold,
    HttpError,
    Page,
    Pause,
    Raw,
    Reply,
    Say,
    Script,
    ScriptEnded,
    Step,
    Think,
)
from onyx_jupyter.testing.scripted_model import until_set

_ACCEPT_TURNS = 4
"""Of the event loop, until a connection that came at the last moment has its task, which alone can close it."""
_START_TIMEOUT_S = 10.0
_ANTHROPIC_PATH = "/messages"
_RESPONSES_PATH = "/responses"
_CHAT_PATHS = ("/chat/completions", _ANTHROPIC_PATH, _RESPONSES_PATH)


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it was received. `headers` have lower-case names; `body` is {} if there was none."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    _left: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def last_user_text(self) -> str:
        """The text of the last user message."""
        messages = self.body.get("messages") or self.body.get("input") or ()
        texts = [_text(m.get("content")) for m in messages if m.get("role") == "user"]
        return texts[-1] if texts else ""

    async def client_left(self, timeout_s: float) -> bool:
        """Whether the client closes the connection before the answer is complete, within that time."""
        return await asyncio.to_thread(self._left.wait, timeout_s)

    async def ended(self, timeout_s: float) -> bool:
        """Whether the exchange ends in any way, within that time."""
        return await asyncio.to_thread(self._ended.wait, timeout_s)


class ScriptedServer:
    """Answers chat completions, and streams of the other two, from a script; `requests` are those it received.

    What was sealed in an answer has to come back with the results of its calls, else the request is refused in the
    provider's own words; `carried` says how it goes in chat completions, where each provider has its own way.

    With `api_key` it refuses every other key with 401. Without `goes_on` it refuses, as some servers do, a request that
    begins the answer itself (its last message is the assistant's); the script never gets that one. An error that the
    script cannot intend (too few replies) is sent as HTTP 500 and recorded in `failures`.
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Received], Reply] = demo_replies,
        *,
        models: Sequence[str] = ("scripted",),
        api_key: str | None = None,
        goes_on: bool = True,
        carried: CarriedKind = "",
        port: int = 0,
    ) -> None:
        self.requests: list[Received] = []
        self.failures: list[str] = []
        self._script: Script[Received] = Script(replies)
        self._models = tuple(models)
        self._api_key = api_key
        self._goes_on = goes_on
        self._carried: CarriedKind = carried
        self._issued = Issued()
        self._port = port
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._exchanges: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        """The value for `baseUrl`; ends in /v1."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def completions(self) -> list[Received]:
        """Only the chat requests that the script answers, in order."""
        return [one for one in self.requests if one.path.endswith(_CHAT_PATHS) and not self._refuses(one)]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns once it is listening. Raises: OSError if the port is taken."""
        ready = threading.Event()
        problems: list[OSError] = []
        self._thread = threading.Thread(target=self._run, args=(ready, problems), name="scripted-server", daemon=True)
        self._thread.start()
        if not ready.wait(_START_TIMEOUT_S):
            raise TimeoutError("The scripted server did not start.")
        if problems:
            raise problems[0]

    def stop(self) -> None:
        """Ends every exchange and the thread."""
        if self._thread is None or self._loop is None:
            return
        loop = self._loop
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._stop_event.set)
        self._thread.join()
        self._thread = None

    def _run(self, ready: threading.Event, problems: list[OSError]) -> None:
        asyncio.run(self._serve(ready, problems))

    async def _serve(self, ready: threading.Event, problems: list[OSError]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop_event = asyncio.Event()
        transports: WeakSet[asyncio.WriteTransport] = WeakSet()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Coroutine[Any, Any, None]:
            transports.add(writer.transport)
            return self._accept(reader, writer)

        try:
            server = await asyncio.start_server(accept, "127.0.0.1", self._port)
        except OSError as error:
            problems.append(error)
            ready.set()
            return
        self._port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop_event.wait()
        server.close()
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)
        for exchange in self._exchanges:
            exchange.cancel()
        await asyncio.gather(*self._exchanges, return_exceptions=True)
        for transport in transports:
            transport.abort()
        for _ in range(_ACCEPT_TURNS):
            await asyncio.sleep(0)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        exchange = asyncio.current_task()
        assert exchange is not None
        self._exchanges.add(exchange)
        try:
            await self._exchange(reader, writer)
        except (asyncio.CancelledError, ConnectionError, asyncio.IncompleteReadError):
            writer.transport.abort()
        finally:
            self._exchanges.discard(exchange)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read_request(reader)
        self.requests.append(request)
        answer = asyncio.create_task(self.answer(request, writer))
        listening = asyncio.create_task(reader.read(1))
        try:
            await asyncio.wait({answer, listening}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                answer.result()
            else:
                request._left.set()
        except ConnectionError:
            request._left.set()
        finally:
            for task in (answer, listening):
                task.cancel()
            await asyncio.gather(answer, listening, return_exceptions=True)
            request._ended.set()

    async def answer(self, request: Received, writer: asyncio.StreamWriter) -> None:
        """The whole answer to one request; servers of other protocols override it."""
        if self._api_key is not None and sent_key(request) != self._api_key:
            error = HttpError(401, "Incorrect API key provided.", "invalid_api_key")
            return await _send_error(request, writer, error)
        if request.path.endswith("/models"):
            models = [{"id": name, "object": "model", "owned_by": "scripted"} for name in self._models]
            return await send_json(writer, 200, {"object": "list", "data": models})
        if not request.path.endswith(_CHAT_PATHS):
            return await _send_error(request, writer, HttpError(404, f"There is no {request.path} here."))
        if self._refuses(request):
            return await _send_error(request, writer, HttpError(400, "The last message has to be the user's."))
        kind = _carried_kind(request, self._carried)
        if (refusal := self._issued.refusal(kind, request.body)) is not None:
            return await _send_error(request, writer, refusal)
        try:
            reply = self._script.reply(request)
            if wire.wants_json_action(request.body):
                reply = wire.as_json_action(reply)
        except ScriptEnded as ended:
            self.failures.append(str(ended))
            return await _send_error(request, writer, HttpError(500, str(ended)))
        self._issued.note(kind, reply)
        if request.body.get("stream"):
            return await _Stream(request, reply, writer, self._carried).send()
        for step in reply:
            if isinstance(step, HttpError):
                return await _send_error(request, writer, step)
            if isinstance(step, Page):
                return await send_bytes(writer, step.status, "text/html", step.html.encode())
        body = wire.completion(str(request.body.get("model")), reply, wire.tokens_of(request.body, reply))
        return await send_json(writer, 200, body)

    def _refuses(self, request: Received) -> bool:
        messages = request.body.get("messages") or [{}]
        return not self._goes_on and messages[-1].get("role") == "assistant"


class _Stream:
    """One streamed answer, in HTTP chunks, so that a cut connection differs from a complete one."""

    def __init__(
        self, request: Received, reply: list[Step], writer: asyncio.StreamWriter, carried: CarriedKind = ""
    ) -> None:
        self._request = request
        self._reply = reply
        tokens = wire.tokens_of(request.body, reply)
        self._answer: anthropic_wire.AnthropicAnswer | ResponsesAnswer | wire.OpenAIAnswer
        if _is_anthropic(request):
            self._answer = anthropic_wire.AnthropicAnswer(request.body, tokens)
        elif request.path.endswith(_RESPONSES_PATH):
            self._answer = ResponsesAnswer(request.body, tokens)
        else:
            self._answer = wire.OpenAIAnswer(request.body, tokens, carried)
        self._writer = writer
        self._headers_sent = False

    async def send(self) -> None:
        calls = 0
        for step in self._reply:
            match step:
                case HttpError():
                    return await _send_error(self._request, self._writer, step)
                case Page():
                    return await send_bytes(self._writer, step.status, "text/html", step.html.encode())
                case Cut():
                    await self._writer.drain()
                    self._writer.transport.abort() if not self._headers_sent else self._writer.close()
                    return None
                case Say():
                    for piece in step.pieces:
                        await asyncio.sleep(step.delay_s)
                        await self._write(self._answer.text(piece))
                case Think():
                    for piece in step.pieces:
                        await asyncio.sleep(step.delay_s)
                        await self._write(self._answer.thought(piece, step.name))
                    if step.seal is not None:
                        await self._write(self._answer.sealed(step.seal))
                case Call():
                    await self._write(self._answer.call(step, calls))
                    calls += 1
                case Raw():
                    await self._write([step.data])
                case Pause():
                    await asyncio.sleep(step.seconds)
                case Hold():
                    step.reached.set()
                    await until_set(step.released)
                case Hang():
                    step.reached.set()
                    await asyncio.Event().wait()
                case _:
                    pass
        await self._end()
        return None

    async def _end(self) -> None:
        with_usage = bool((self._request.body.get("stream_options") or {}).get("include_usage"))
        await self._write(self._answer.end(wire.finish_reason(self._reply), with_usage=with_usage))
        await self._start()
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def _start(self) -> None:
        if not self._headers_sent:
            self._headers_sent = True
            self._writer.write(_head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))

    async def _write(self, chunks: Iterable[bytes]) -> None:
        for data in chunks:
            await self._start()
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(raw) if raw else {})


async def _send_error(request: Received, writer: asyncio.StreamWriter, error: HttpError) -> None:
    form = anthropic_wire if _is_anthropic(request) else wire
    await send_json(writer, error.status, form.error_body(error), error.headers)


async def send_json(
    writer: asyncio.StreamWriter, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> None:
    """A complete JSON answer."""
    await send_bytes(writer, status, "application/json", json.dumps(body).encode(), headers)


async def send_bytes(
    writer: asyncio.StreamWriter, status: int, mime_type: str, data: bytes, headers: Mapping[str, str] | None = None
) -> None:
    """A complete answer of any kind."""
    fields = {"content-type": mime_type, "content-length": str(len(data)), **(headers or {})}
    writer.write(_head(status, fields) + data)
    await writer.drain()


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Scripted",
        "connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _is_anthropic(request: Received) -> bool:
    return request.path.endswith(_ANTHROPIC_PATH)


def _carried_kind(request: Received, in_chat: CarriedKind) -> CarriedKind:
    if _is_anthropic(request):
        return "thinking_blocks"
    return "reasoning_items" if request.path.endswith(_RESPONSES_PATH) else in_chat


def sent_key(request: Received) -> str | None:
    """The key of the request, in OpenAI's header or in Anthropic's."""
    return request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves until interrupted."""
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server that answers from a script.")
    parser.add_argument("--port", type=int, default=9999, help="0 lets the system choose")
    parser.add_argument("--script", type=Path, help="JSON file of replies; without it, the demonstration script")
    options = parser.parse_args(arguments)
    replies = replies_from_file(options.script) if options.script else demo_replies
    with ScriptedServer(replies, port=options.port) as server:
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
