"""The connection between the server and the index process: calls in both directions, answered in any order.

Each message is a line of JSON. An OnyxError raised on one side is raised on the other, too.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import date
from itertools import count
from queue import SimpleQueue
from typing import IO, Any

from onyx_jupyter.errors import EmbeddingError, IndexUnavailable, OnyxError
from onyx_jupyter.protocols.retrieval import Candidate, Chunk, EmbedderIdentity, SearchFilter, Source
from onyx_jupyter.storage.thread_executor import start_thread

log = logging.getLogger(__name__)
Answer = Callable[..., Awaitable[Any]]
_ERRORS: Mapping[str, type[OnyxError]] = {one.__name__: one for one in (EmbeddingError, IndexUnavailable)}
_VALUES = {one.__name__: one for one in (Candidate, Chunk, EmbedderIdentity, SearchFilter, Source)}
_KIND = "~"


class LinkEnded(Exception):
    """The other side is gone."""


class Link:
    """One side of the connection; `answers` are what the other may call, `on_end` is called when the other is gone.

    It is created and used in an event loop; reading, writing and JSON are done in threads.
    """

    def __init__(
        self,
        reads: IO[bytes],
        writes: IO[bytes],
        answers: Mapping[str, Answer],
        *,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self._reads = reads
        self._writes = writes
        self._answers = answers
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._ids = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._serving: dict[int, asyncio.Task[None]] = {}
        self._unsent: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self.has_ended = False
        start_thread(self._read, "onyx index link, reading")
        start_thread(self._write, "onyx index link, writing", stop=self.close)

    async def call(self, name: str, *arguments: Any) -> Any:
        """Returns the other side's answer. Raises: LinkEnded; IndexUnavailable, EmbeddingError as raised there.

        Cancelling also ends the work on the other side.
        """
        if self.has_ended:
            raise LinkEnded
        number = next(self._ids)
        answered = self._waiting[number] = self._loop.create_future()
        self._unsent.put({"call": number, "name": name, "arguments": arguments})
        try:
            return await answered
        except asyncio.CancelledError:
            self._unsent.put({"cancel": number})
            raise
        finally:
            self._waiting.pop(number, None)

    def notify(self, name: str, *arguments: Any) -> None:
        """Calls without waiting for an answer; from any thread."""
        self._unsent.put({"call": None, "name": name, "arguments": arguments})

    def close(self) -> None:
        """Closes after everything queued has been sent; from any thread."""
        self._unsent.put(None)

    def _read(self) -> None:
        with suppress(OSError, ValueError):  # closed on this side, or cut off in the middle of a line
            for line in self._reads:
                if not self._in_loop(self._take, json.loads(line, object_hook=_value)):
                    return
        with suppress(OSError, ValueError):
            self._reads.close()
        self._in_loop(self._end)

    def _write(self) -> None:
        with suppress(OSError, ValueError):
            while (message := self._unsent.get()) is not None:
                self._writes.write(json.dumps(message, default=_plain).encode() + b"\n")
                self._writes.flush()
        with suppress(OSError, ValueError):
            self._writes.close()

    def _in_loop(self, do: Callable[..., None], *arguments: Any) -> bool:
        try:
            self._loop.call_soon_threadsafe(do, *arguments)
        except RuntimeError:  # the loop has ended
            return False
        return True

    def _take(self, message: dict[str, Any]) -> None:
        if "call" in message:
            number = message["call"]
            task = self._loop.create_task(self._serve(message), name=f"onyx index link, {message['name']}")
            key = number if number is not None else -1 - next(self._ids)
            self._serving[key] = task
            task.add_done_callback(lambda _: self._serving.pop(key, None))
        elif "cancel" in message:
            if (task_ := self._serving.get(message["cancel"])) is not None:
                task_.cancel()
        elif (waiting := self._waiting.get(message["answers"])) is not None and not waiting.done():
            if "error" in message:
                kind = _ERRORS.get(message["error"], IndexUnavailable)
                waiting.set_exception(kind(message["message"], hint=message["hint"]))
            else:
                waiting.set_result(message["value"])

    async def _serve(self, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"answers": message["call"]}
        try:
            answer["value"] = await self._answers[message["name"]](*message["arguments"])
        except OnyxError as error:
            answer |= {"error": type(error).__name__, "message": str(error), "hint": error.hint}
        except Exception as error:
            log.exception("%s failed in the index process or in a call to it", message["name"])
            answer |= {"error": "", "message": f"Onyx hit an internal error ({type(error).__name__}).", "hint": None}
        if message["call"] is not None:
            self._unsent.put(answer)

    def _end(self) -> None:
        self.has_ended = True
        self.close()
        for task in self._serving.values():
            task.cancel()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(LinkEnded())
        self._on_end()


def _plain(value: Any) -> Any:
    """Encodes a value that JSON does not know as an object that names its kind."""
    if is_dataclass(value) and type(value).__name__ in _VALUES:
        return {_KIND: type(value).__name__} | {one.name: getattr(value, one.name) for one in fields(value)}
    if isinstance(value, date):
        return {_KIND: "date", "day": value.isoformat()}
    if isinstance(value, frozenset):
        return {_KIND: "set", "items": sorted(value)}
    if hasattr(value, "tobytes"):  # an array of float32; numpy may not be loaded here
        import numpy as np

        raw = np.ascontiguousarray(value, "<f4").tobytes()
        return {_KIND: "vectors", "shape": value.shape, "raw": base64.b64encode(raw).decode()}
    raise TypeError(f"{type(value).__name__} cannot be sent.")


def _value(found: dict[str, Any]) -> Any:
    kind = found.pop(_KIND, None)
    if kind is None:
        return found
    if kind == "date":
        return date.fromisoformat(found["day"])
    if kind == "set":
        return frozenset(found["items"])
    if kind == "vectors":
        import numpy as np

        return np.frombuffer(base64.b64decode(found["raw"]), "<f4").reshape(found["shape"])
    if kind == "Chunk" and found["parent"] is not None:
        found["parent"] = tuple(found["parent"])
    return _VALUES[kind](**found)
