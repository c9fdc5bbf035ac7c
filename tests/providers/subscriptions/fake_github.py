"""GitHub's and Copilot's endpoints on loopback, as far as a sign-in and an answer need them."""

import contextlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs

from onyx_jupyter.providers.subscriptions.copilot import Copilot, CopilotAddresses

SIGN_IN = "gho_the0sign0in0of0a0person0000000000000"
DEVICE_SECRET = "device-secret-0123456789abcdef"


@dataclass
class FakeGitHub:
    """`decisions` are the answers to the polls, the last one for ever; `refuses` are tokens that the chat refuses.

    `life_s` is how long a token says that it holds; `exchange` replaces the answer to an exchange by (status, body).
    """

    decisions: list[dict[str, Any]] = field(default_factory=lambda: [{"access_token": SIGN_IN}])
    life_s: int = 1500
    expires_in_s: int = 900
    interval_s: float = 5
    refuses: set[str] = field(default_factory=set)
    exchange: tuple[int, dict[str, Any]] | None = None
    chat: bytes | None = None
    requests: list[tuple[str, str, dict[str, str], str]] = field(default_factory=list)
    exchanged: int = 0

    def __enter__(self) -> Self:
        github = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                github._answer(self)

            def do_POST(self) -> None:
                github._answer(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def addresses(self) -> CopilotAddresses:
        here = self.address
        return CopilotAddresses(
            f"{here}/code", f"{here}/token", f"{here}/exchange", f"{here}/user", "http://127.0.0.1:1"
        )

    def copilot(self, **more: Any) -> Copilot:
        return Copilot(self.addresses(), **more)

    def asked(self, path: str) -> list[dict[str, str]]:
        """The headers of the requests to that path."""
        return [headers for _, to, headers, _ in self.requests if to == path]

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length") or 0)).decode()
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append((request.command, request.path, headers, body))
        status, kind, answer = self._reply(request.path, headers, body)
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        with contextlib.suppress(ConnectionError):  # a client that was cancelled
            request.wfile.write(answer)

    def _reply(self, path: str, headers: dict[str, str], body: str) -> tuple[int, str, bytes]:
        if path == "/code":
            return _json(
                200,
                {
                    "device_code": DEVICE_SECRET,
                    "user_code": "ABCD-1234",
                    "verification_uri": "https://github.com/login/device",
                    "expires_in": self.expires_in_s,
                    "interval": self.interval_s,
                },
            )
        if path == "/token":
            assert parse_qs(body)["device_code"] == [DEVICE_SECRET]
            return _json(200, self.decisions.pop(0) if len(self.decisions) > 1 else self.decisions[0])
        if path == "/user":
            return _json(200, {"login": "octocat"})
        if path == "/exchange":
            if self.exchange is not None:
                return _json(*self.exchange)
            if headers["authorization"] != f"token {SIGN_IN}":
                return _json(401, {"message": "Bad credentials"})
            self.exchanged += 1
            return _json(
                200,
                {
                    "token": f"tid=secret{self.exchanged};exp=1",
                    "refresh_in": self.life_s,
                    "endpoints": {"api": self.address},
                },
            )
        assert path == "/chat/completions"
        token = headers["authorization"].removeprefix("Bearer ")
        if token in self.refuses:
            return _json(401, {"error": {"message": f"token expired: {token}"}})
        if self.chat is not None:
            return 200, "text/event-stream", self.chat
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        chunk = {"choices": [{"delta": {"content": "Hello."}, "finish_reason": "stop"}], "usage": usage}
        return 200, "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()


def _json(status: int, body: Any) -> tuple[int, str, bytes]:
    return status, "application/json", json.dumps(body).encode()
