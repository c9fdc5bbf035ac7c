"""One connection from a kernel to its server: requests with answers, and events in order.

It is synchronous, since a running cell is: an interrupt reaches it at once. `websocket-client` adds 5 ms and 1 MB to
a kernel; tornado's client would need an event loop in a thread, and a way for interrupts to reach it.
"""

from __future__ import annotations

import json
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import websocket

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.server_address import ServerAddress

REQUEST_S = 30.0
CONNECT_S = 10.0
_PAUSE_S = 0.5
Event = tuple[str, dict[str, Any]]
_BROKEN = (OSError, websocket.WebSocketException, ssl.SSLError)


class ConnectionGone(Exception):
    """The connection broke; the request may or may not have arrived."""


class Refused(MagicError):
    """The server refused. `reason` is its own code: not_found, already_resolved, invalid_request …"""

    def __init__(self, message: str, reason: str, hint: str | None = None) -> None:
        super().__init__("refused", message, hint=hint)
        self.reason = reason


class ServerConnection:
    """Opened on first use, and again after `close`. Events that arrive while waiting for an answer are kept."""

    def __init__(self, server: ServerAddress) -> None:
        self.server = server
        self._socket: websocket.WebSocket | None = None
        self._events: deque[Event] = deque()
        self._asked = 0
        self._unanswered = ("", "")

    def request(self, method: str, timeout_s: float = REQUEST_S, **params: Any) -> dict[str, Any]:
        """The result. Raises: Refused, ConnectionGone, MagicError (no_server)."""
        self._asked += 1
        request_id = f"cell-{self._asked}"
        deadline = time.monotonic() + timeout_s
        self._send({"id": request_id, "method": method, "params": params}, timeout_s)
        return self._answer(request_id, method, deadline, timeout_s)

    def late_answer(self, method: str, timeout_s: float) -> dict[str, Any] | None:
        """The answer to an interrupted request that came later; None if no request of that method was interrupted.

        Raises: Refused, ConnectionGone if it stays unknown whether the request arrived.
        """
        asked, request_id = self._unanswered
        if asked != method:
            return None
        try:
            return self._answer(request_id, method, time.monotonic() + timeout_s, timeout_s)
        except ValueError as error:  # the interrupt came in the middle of a frame
            raise ConnectionGone(str(error)) from error

    def next_event(self, timeout_s: float) -> Event | None:
        """The next event, or None if none arrives in that time. Raises: ConnectionGone."""
        if self._events:
            return self._events.popleft()
        deadline = time.monotonic() + timeout_s
        while (left_s := deadline - time.monotonic()) > 0:
            frame = self._receive(left_s)
            if frame is None:
                return None
            if "event" in frame:
                return frame["event"], frame["data"]
        return None

    def close(self) -> None:
        """Also drops received events that were not read."""
        self._events.clear()
        self._unanswered = ("", "")
        if self._socket is not None:
            socket, self._socket = self._socket, None
            socket.shutdown()  # type: ignore[no-untyped-call]

    def _answer(self, request_id: str, method: str, deadline: float, timeout_s: float) -> dict[str, Any]:
        while (left_s := deadline - time.monotonic()) > 0:
            frame = self._receive(left_s)
            if frame is None:
                break
            if "event" in frame:
                self._events.append((frame["event"], frame["data"]))
            elif frame.get("id") == request_id:
                self._unanswered = ("", "")
                return _result(frame)
        raise ConnectionGone(f"{method} got no answer within {timeout_s:g} s")

    def _send(self, frame: dict[str, Any], timeout_s: float) -> None:
        socket = self._socket or self._open(timeout_s)
        self._unanswered = (frame["method"], frame["id"])
        try:
            socket.settimeout(timeout_s)
            socket.send(json.dumps(frame))
        except _BROKEN as error:
            self.close()
            raise ConnectionGone(str(error)) from error

    def _receive(self, timeout_s: float) -> dict[str, Any] | None:
        if self._socket is None:
            raise ConnectionGone("the connection is closed")
        try:
            self._socket.settimeout(timeout_s)
            text = self._socket.recv()
        except websocket.WebSocketTimeoutException:
            return None
        except _BROKEN as error:
            self.close()
            raise ConnectionGone(str(error)) from error
        if not text:
            self.close()
            raise ConnectionGone("the server has closed the connection")
        frame = json.loads(text)
        return frame if isinstance(frame, dict) else {}

    def _open(self, timeout_s: float) -> websocket.WebSocket:
        server = self.server
        # A server of this machine is found by its runtime file: no proxy may come in between, and its own self-signed
        # certificate is accepted.
        local: dict[str, Any] = {"http_no_proxy": ["*"]} if server.is_local or server.is_loopback else {}
        if server.is_local and server.is_loopback and server.url.startswith("https"):
            local["sslopt"] = {"cert_reqs": ssl.CERT_NONE, "check_hostname": False}
        headers = [f"Authorization: token {server.token}"] if server.token else []
        try:
            self._socket = websocket.create_connection(
                server.socket_url,
                timeout=min(timeout_s, CONNECT_S),
                header=headers,
                suppress_origin=True,
                redirect_limit=0,  # the token must not go to any other server
                **local,
            )
        except websocket.WebSocketBadStatusException as error:
            raise _turned_away(server, error.status_code) from None
        except _BROKEN as error:
            raise ConnectionGone(str(error)) from error
        return self._socket


def retry_connection(attempt: Callable[[], Any], patience_s: float) -> Any:
    """Retries for that long while the connection breaks. Raises: ConnectionGone afterwards."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return attempt()
        except ConnectionGone:
            if time.monotonic() + _PAUSE_S > deadline:
                raise
            time.sleep(_PAUSE_S)


def unreachable(server: ServerAddress, error: ConnectionGone) -> MagicError:
    """The error for the user if a server cannot be reached at all."""
    return MagicError(
        "no_server",
        f"The Jupyter server at {server.url} does not answer: {error}.",
        hint="Check that it is running. If it was restarted on another port, restart this kernel too.",
    )


def _result(frame: dict[str, Any]) -> dict[str, Any]:
    if "error" not in frame:
        result: dict[str, Any] = frame["result"]
        return result
    error = frame["error"]
    data = error.get("data") or {}
    raise Refused(error["message"], str(data.get("code") or error["code"]), data.get("hint"))


def _turned_away(server: ServerAddress, status: int) -> MagicError:
    if status in (401, 403):
        return MagicError(
            "no_server",
            f"The Jupyter server at {server.url} rejected the token (HTTP {status}).",
            hint="Set ONYX_TOKEN to that server's token (see `jupyter server list`)."
            if server.token
            else "It has no token of its own; set ONYX_URL and ONYX_TOKEN.",
        )
    if status == 404:
        return MagicError(
            "no_server",
            f"The Jupyter server at {server.url} does not have Onyx (HTTP 404).",
            hint="Install onyx-jupyter where Jupyter runs, and restart it.",
        )
    return MagicError("no_server", f"The Jupyter server at {server.url} answered with HTTP {status}.")
