"""A program on the socket: asks, and keeps every frame that comes, checked against the published models."""

import asyncio
import json
from typing import Any

from tornado.websocket import WebSocketClientConnection

from onyx_jupyter.app.features import EVENTS, OPERATIONS
from tests.waiting import LIMIT_S

ENDS = ("chat.final", "chat.error", "chat.aborted")


class MethodFailed(Exception):
    """An error response."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code: int = error["code"]
        self.data: dict[str, Any] = error.get("data", {})


class Client:
    """One connection. `frames` is all that came, in order; nothing is taken out."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection
        self.frames: list[dict[str, Any]] = []
        self.raw: list[str] = []
        self.closed = False
        self._asked = 0
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The result. Raises: MethodFailed."""
        answer = await self.answer(await self.post(method, **params))
        if "error" in answer:
            raise MethodFailed(answer["error"])
        OPERATIONS[method].result.model_validate(answer["result"])
        return answer["result"]

    async def post(self, method: str, **params: Any) -> str:
        """Sends without waiting for the answer; the request's id."""
        self._asked += 1
        request_id = f"q{self._asked}"
        await self.connection.write_message(json.dumps({"id": request_id, "method": method, "params": params}))
        return request_id

    async def answer(self, request_id: str | None) -> dict[str, Any]:
        return await self.until(lambda frame: "event" not in frame and frame.get("id") == request_id)

    async def event(self, name: str, **facts: Any) -> dict[str, Any]:
        """The data of the first such event."""
        found = await self.until(lambda frame: frame.get("event") == name and facts.items() <= frame["data"].items())
        return found["data"]

    async def end(self, run_id: str) -> tuple[str, dict[str, Any]]:
        """The run's end."""
        found = await self.until(lambda frame: frame.get("event") in ENDS and frame["data"]["runId"] == run_id)
        return found["event"], found["data"]

    async def until(self, matches: Any) -> dict[str, Any]:
        """The first frame that matches, of those that came and those to come."""
        try:
            async with asyncio.timeout(LIMIT_S), self._news:
                while True:
                    for frame in self.frames:
                        if matches(frame):
                            return frame
                    assert not self.closed, f"closed with {self.connection.close_code}"
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"That frame never came. These did: {self.raw}") from None

    async def close(self) -> None:
        self.connection.close()
        await self._reading

    def events(self, name: str) -> list[dict[str, Any]]:
        return [frame["data"] for frame in self.frames if frame.get("event") == name]

    async def gone(self) -> int | None:
        """The close code, once the server has closed."""
        async with asyncio.timeout(LIMIT_S):
            await asyncio.shield(self._reading)
        return self.connection.close_code

    async def _read(self) -> None:
        while (message := await self.connection.read_message()) is not None:
            frame = json.loads(message, parse_constant=_refuse)
            if "event" in frame:
                EVENTS[frame["event"]].data.model_validate(frame["data"])
            async with self._news:
                self.raw.append(str(message))
                self.frames.append(frame)
                self._news.notify_all()
        async with self._news:
            self.closed = True
            self._news.notify_all()


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")
