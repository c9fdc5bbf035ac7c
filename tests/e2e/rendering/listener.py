"""A web server on loopback that only writes down who asks it for what, also who connects and asks for nothing."""

from __future__ import annotations

import base64
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

_GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_TYPES = {
    **dict.fromkeys(("png", "gif", "jpg", "ico", "webp"), "image/gif"),
    "css": "text/css",
    "js": "text/javascript",
    "html": "text/html",
    "svg": "image/svg+xml",
    "vtt": "text/vtt",
    "json": "application/json",
    "woff2": "font/woff2",
}
_NAME = re.compile(r"/p/([a-z0-9]+(?:-[a-z0-9]+)*)")


@dataclass(frozen=True)
class Request:
    """One request; `path` with its query."""

    method: str
    path: str
    headers: dict[str, str] = field(repr=False)

    @property
    def name(self) -> str:
        """The payload whose address this is, else nothing."""
        found = _NAME.match(self.path)
        return found[1] if found else ""


class Listener:
    """Listens from `__enter__` to `__exit__`. `connections` counts all, those without a request too.

    `pages` are documents that it serves without writing that down; they belong to the test, not to a payload.
    """

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.pages: dict[str, str] = {}
        self.connections = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="listener", daemon=True)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def names(self) -> set[str]:
        """The payloads that have asked."""
        with self._lock:
            return {request.name for request in self.seen} - {""}

    def clear(self) -> None:
        with self._lock:
            self.seen.clear()
            self.connections = 0

    def note_connection(self) -> None:
        with self._lock:
            self.connections += 1

    def note(self, request: Request) -> None:
        with self._lock:
            self.seen.append(request)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def answer_to(path: str) -> tuple[str, bytes]:
    """Type and body that fit the ending. A script shows that it ran, a page runs one, a style sheet loads once more."""
    plain = path.partition("?")[0]
    found = _NAME.match(plain)
    name = found[1] if found else ""
    ending = plain.rpartition(".")[2] if "." in plain.rpartition("/")[2] else ""
    script = f"window.__onyxRan=(window.__onyxRan||[]).concat('{name}')"
    bodies = {
        "css": f"body{{--onyx-{name or 'none'}:1}}".encode(),
        "js": script.encode(),
        "html": f"<!doctype html><script>{script}</script>{name}".encode(),
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path id="x" d="M0 0h9v9z"/></svg>',
        "vtt": b"WEBVTT\n",
        "json": b"{}",
        "woff2": b"",
    }
    return _TYPES.get(ending, "image/gif"), bodies.get(ending, _GIF)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A page of a hundred frames connects all at once.
    request_queue_size = 128


def _handler_for(listener: Listener) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            listener.note_connection()
            super().setup()

        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            self.rfile.read(length)
            page = listener.pages.get(self.path.partition("?")[0])
            if page is None:
                listener.note(Request(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
                kind, body = answer_to(self.path)
            else:
                kind, body = "text/html; charset=utf-8", page.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            # A font, a module or `crossorigin` is asked for from any origin, and nothing is kept for the next time.
            self.send_header("access-control-allow-origin", "*")
            self.send_header("cache-control", "no-store")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def handle(self) -> None:
            with suppress(ConnectionError):  # the browser went away, which is no news
                super().handle()

        def log_message(self, *_: Any) -> None:
            """Nothing on the terminal."""

    for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS", "DELETE"):
        setattr(Handler, f"do_{method}", Handler.answer)
    return Handler
