"""A real HTTP server on loopback that serves files, with the faults a test asks for."""

import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class FileServer:
    """`with FileServer({"name": b"…"}) as server:`. `breaks` are the bytes after which each next answer breaks off."""

    def __init__(
        self,
        files: dict[str, bytes],
        *,
        breaks: list[int] | None = None,
        has_ranges: bool = True,
        statuses: list[int] | None = None,
        piece_bytes: int = 65536,
        pause_s: float = 0.0,
    ) -> None:
        self.files = files
        self.breaks = breaks or []
        self.has_ranges = has_ranges
        self.statuses = statuses or []
        self.piece_bytes = piece_bytes
        self.pause_s = pause_s
        self.falls_silent_after: int | None = None
        self.redirects: dict[str, str] = {}
        self.ranges: list[str | None] = []
        self.headers: list[dict[str, str]] = []
        self.held = threading.Event()
        self.held.set()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.held.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                with suppress(ConnectionError):
                    owner._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        self.ranges.append(request.headers.get("range"))
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        if target := self.redirects.get(request.path.lstrip("/")):
            request.send_response(302)
            request.send_header("location", target)
            request.send_header("content-length", "0")
            request.end_headers()
            return
        content = self.files.get(request.path.lstrip("/"))
        status = self.statuses.pop(0) if self.statuses else 200
        if content is None or status != 200:
            request.send_response(404 if content is None else status)
            request.send_header("content-length", "0")
            request.end_headers()
            return
        start = int(self.ranges[-1].removeprefix("bytes=").removesuffix("-")) if self.ranges[-1] else 0
        start = start if self.has_ranges else 0
        body = memoryview(content)[start:]
        request.send_response(206 if start else 200)
        request.send_header("content-length", str(len(body)))
        request.send_header("content-type", "text/html" if request.path.endswith("/") else "application/octet-stream")
        if start:
            request.send_header("content-range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        request.end_headers()
        self._send(request, body[: self.breaks.pop(0)] if self.breaks else body)
        request.close_connection = True

    def _send(self, request: BaseHTTPRequestHandler, body: memoryview) -> None:
        for at in range(0, len(body), self.piece_bytes):
            if self.falls_silent_after is not None and at >= self.falls_silent_after * self.piece_bytes:
                self.falls_silent_after = None
                threading.Event().wait(2)  # longer than any test has patience for
                return
            self.held.wait(60)
            request.wfile.write(body[at : at + self.piece_bytes])
            request.wfile.flush()
            time.sleep(self.pause_s)
