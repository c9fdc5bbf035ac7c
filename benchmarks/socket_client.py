"""A WebSocket client that knows when each frame came and how many bytes came in all. It has no comforts.

Written out rather than taken from a library, since a library's own time and buffering would stand in the figures.
Source: RFC 6455.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import time
from collections import deque
from dataclasses import dataclass
from typing import Any, Self

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_RECEIVE_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class Event:
    """An event and the moment (time.monotonic_ns) at which its last byte had been received."""

    name: str
    data: dict[str, Any]
    at_ns: int


class SocketClient:
    """Onyx's socket: requests and events."""

    def __init__(self, port: int, token: str) -> None:
        self.received_bytes = 0
        self._buffer = bytearray()
        self._events: deque[Event] = deque()
        self._results: dict[str, dict[str, Any]] = {}
        self._requests = 0
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._shake_hands(port, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, method: str, **params: Any) -> str:
        """Sends a request and does not wait; its id."""
        self._requests += 1
        request_id = str(self._requests)
        frame = json.dumps({"id": request_id, "method": method, "params": params})
        self._send_frame(_TEXT, frame.encode())
        return request_id

    def call(self, method: str, timeout_s: float = 60.0, **params: Any) -> dict[str, Any]:
        """The result; events that come before it are kept. Raises: RuntimeError for an error."""
        request_id = self.send(method, **params)
        deadline = time.monotonic() + timeout_s
        try:
            while (result := self.answer(request_id)) is None:
                self._read(deadline)
        except RuntimeError as error:
            raise RuntimeError(f"{method}: {error}") from None
        return result

    def answer(self, request_id: str) -> dict[str, Any] | None:
        """The result of a request, once, if it has come by now; reads nothing. Raises: RuntimeError for an error."""
        if request_id not in self._results:
            return None
        answer = self._results.pop(request_id)
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        result: dict[str, Any] = answer["result"]
        return result

    def next_event(self, timeout_s: float = 60.0) -> Event:
        """The next event. Raises: TimeoutError."""
        deadline = time.monotonic() + timeout_s
        while not self._events:
            self._read(deadline)
        return self._events.popleft()

    def wait_for(self, *names: str, timeout_s: float = 60.0) -> Event:
        """The next event of one of these names; others on the way are dropped. Raises: TimeoutError, RuntimeError."""
        deadline = time.monotonic() + timeout_s
        while True:
            event = self.next_event(deadline - time.monotonic())
            if event.name in names:
                return event
            if event.name == "chat.error":
                raise RuntimeError(f"Waiting for {', '.join(names)}, got {event.data}")

    def _shake_hands(self, port: int, token: str) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /onyx/ws HTTP/1.1",
            f"Host: 127.0.0.1:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Authorization: token {token}",
        ]
        self._socket.sendall("\r\n".join([*lines, "", ""]).encode())
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self._receive()
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(f"No socket: {head.decode(errors='replace')}")
        self._buffer = bytearray(rest)

    def _read(self, deadline: float) -> None:
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        data = self._receive()
        now_ns = time.monotonic_ns()
        self._buffer += data
        while (frame := self._take_frame()) is not None:
            self._handle(*frame, now_ns)

    def _handle(self, opcode: int, payload: bytes, at_ns: int) -> None:
        if opcode == _PING:
            self._send_frame(_PONG, payload)
        elif opcode == _CLOSE:
            raise ConnectionError(f"The server closed the socket: {payload!r}")
        elif opcode == _TEXT:
            message = json.loads(payload)
            if "event" in message:
                self._events.append(Event(message["event"], message["data"], at_ns))
            else:
                self._results[message["id"]] = message

    def _take_frame(self) -> tuple[int, bytes] | None:
        """A whole frame out of the buffer, or None. Servers neither mask nor, here, fragment."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, start = buffer[1] & 0x7F, 2
        if size >= 126:
            wide = 2 if size == 126 else 8
            size, start = int.from_bytes(buffer[2 : 2 + wide], "big"), 2 + wide
            if len(buffer) < start:
                return None
        if len(buffer) < start + size:
            return None
        opcode, payload = buffer[0] & 0x0F, bytes(buffer[start : start + size])
        del buffer[: start + size]
        return opcode, payload

    def _send_frame(self, opcode: int, payload: bytes) -> None:
        size = len(payload)
        if size < 126:
            head = bytes([0x80 | opcode, 0x80 | size])
        else:
            head = bytes([0x80 | opcode, 0x80 | 127]) + size.to_bytes(8, "big")
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self._socket.sendall(head + mask + masked)

    def _receive(self) -> bytes:
        data = self._socket.recv(_RECEIVE_BYTES)
        if not data:
            raise ConnectionError("The server closed the connection.")
        self.received_bytes += len(data)
        return data
