"""One connected client: reads its requests, calls the methods, sends back results and events in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from onyx_jupyter.errors import InvalidRequest, OnyxError
from onyx_jupyter.server.frames import FrameError, decode_request, encode_error, encode_event, encode_result
from onyx_jupyter.server.methods import HANDLERS
from onyx_jupyter.server.wire import APPLICATION_ERROR, INTERNAL_ERROR, INVALID_PARAMS, METHODS, UNKNOWN_METHOD

if TYPE_CHECKING:
    from onyx_jupyter.server.service import Service

log = logging.getLogger(__name__)

SLOW_METHODS = frozenset({"models.list"})


class Connection:
    """A client, by the function that sends a frame to it.

    Its requests are answered one after the other, so that two messages keep their order; those that may wait for a
    network are answered beside the others, so that Stop never waits behind them.
    """

    def __init__(self, service: Service, send: Callable[[str], None], user: str) -> None:
        self.service = service
        self.onyx = service.onyx
        self.user = user
        self.send = send
        self.tab = service.tabs.opened(self._ask_tab)
        self._after: list[str] = []
        self._slow: set[asyncio.Task[None]] = set()
        self.onyx.streams.connect(send)

    async def receive(self, frame: str | bytes) -> None:
        """Answers one frame, whatever it holds."""
        try:
            request_id, method, params = decode_request(frame)
        except FrameError as error:
            self.send(encode_error(error.request_id, error.code, str(error)))
            return
        if method not in METHODS:
            known = ", ".join(METHODS)
            self.send(encode_error(request_id, UNKNOWN_METHOD, f"There is no method {method!r}. There are: {known}."))
            return
        if method in SLOW_METHODS:
            task = asyncio.create_task(self._answer(request_id, method, params), name=f"onyx {method}")
            self._slow.add(task)
            task.add_done_callback(self._slow.discard)
        else:
            await self._answer(request_id, method, params)

    def send_after_result(self, frames: list[str]) -> None:
        """Frames that go out right behind the result of the request being answered."""
        self._after.extend(frames)

    def close(self) -> None:
        """The client has gone; its runs go on."""
        self.onyx.streams.disconnect(self.send)
        self.service.tabs.closed(self.tab)
        for task in self._slow:
            task.cancel()

    async def _answer(self, request_id: str, method: str, params: Mapping[str, Any]) -> None:
        try:
            result = await self._call(method, params)
        except ValidationError as error:
            self.send(encode_error(request_id, INVALID_PARAMS, *_first_problem(error)))
        except InvalidRequest as error:
            self.send(encode_error(request_id, INVALID_PARAMS, str(error), {"field": error.field}))
        except OnyxError as error:
            data = {"code": error.code} | ({"hint": error.hint} if error.hint else {})
            self.send(encode_error(request_id, APPLICATION_ERROR, self.onyx.redact(str(error)), data))
        except Exception:
            log.exception("The method %s failed", method)
            message = f"Something in Onyx went wrong in {method}. The server's log has the details."
            self.send(encode_error(request_id, INTERNAL_ERROR, message))
        else:
            self.send(encode_result(request_id, result))
            self._send_what_follows()

    async def _call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        parsed = METHODS[method][0].model_validate(params)
        await self.onyx.ready()
        return await HANDLERS[method](parsed, self)

    def _send_what_follows(self) -> None:
        frames, self._after = self._after, []
        for frame in frames:
            self.send(frame)

    async def _ask_tab(self, request_id: str, action: str, params: Mapping[str, Any]) -> None:
        data = {"requestId": request_id, "action": action, "params": dict(params)}
        self.send(encode_event("client.request", data))


def _first_problem(error: ValidationError) -> tuple[str, dict[str, Any]]:
    """A sentence that names the field, and the field for programs."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    reason = "is not known" if problem["type"] == "extra_forbidden" else problem["msg"][0].lower() + problem["msg"][1:]
    return f"`{field}`: {reason}.", {"field": field}
