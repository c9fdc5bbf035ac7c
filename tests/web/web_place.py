"""A web server in this process that answers as told and records every connection."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Place:
    """`asked` lists the requests, `connections` counts how often anybody connected."""

    answer: Callable[[Asked], Answer]
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def web_place(answer: Callable[[Asked], Answer], host: str = "127.0.0.1") -> Iterator[Place]:
    place = Place(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            place.connections += 1
            super().setup()

        def handle_one(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, self.rfile.read(length))
            place.asked.append(asked)
            answer = place.answer(asked)
            self.send_response(answer.status)
            for name, value in ({"content-length": str(len(answer.body))} | dict(answer.headers)).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = handle_one  # noqa: N815

        def log_message(self, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        server.daemon_threads = True
        server.handle_error = lambda request, client: None  # type: ignore[method-assign] - a reader that hangs up
        place.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield place
        finally:
            server.shutdown()
            thread.join()
