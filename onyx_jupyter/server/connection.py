"""One connected client: reads its requests, calls the methods, sends results and events in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from onyx_jupyter.app.onyx import Onyx
from onyx_jupyter.errors import InvalidRequest, OnyxError
from onyx_jupyter.features.skills.skill_service import SKILLS
from onyx_jupyter.log_context import log_context
from onyx_jupyter.notebook.browser_tabs import TabRequests
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import CONFIGURED, STREAMS
from onyx_jupyter.operations.limits import APPLICATION_ERROR, INTERNAL_ERROR, INVALID_PARAMS, UNKNOWN_METHOD
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.scope import ALL_SCOPES, Scope
from onyx_jupyter.runs.streamed_event import StreamedEvent
from onyx_jupyter.server.frames import FrameError, decode_request, encode_error, encode_event, encode_result

log = logging.getLogger(__name__)


class Connection:
    """A client, represented by the function that sends a frame to it.

    Requests are answered as their operations' `dispatch` says. Messages are answered in a separate queue: what was
    attached to one may have to be read from the client itself, whose answer comes over the same socket.
    """

    def __init__(
        self,
        onyx: Onyx,
        tabs: TabRequests,
        send: Callable[[str], None],
        user: str,
        scopes: frozenset[Scope] = ALL_SCOPES,
    ) -> None:
        self._onyx = onyx
        self._tabs = tabs
        self._send = send
        self._slow: set[asyncio.Task[None]] = set()
        self._last_ordered: asyncio.Task[None] | None = None
        self._tab = tabs.opened(self._ask_tab)
        self._caller = Caller(onyx.container.parts, self._tab, user, self._on_event, scopes=scopes)
        self._streams = onyx.get(STREAMS)
        self._streams.connect(self._on_event)

    async def receive(self, frame: str | bytes) -> None:
        """Answers one frame, whatever it contains."""
        try:
            request_id, method, params = decode_request(frame)
        except FrameError as error:
            self._send(encode_error(error.request_id, error.code, str(error)))
            return
        operations = self._onyx.container.operations
        operation = operations.get(method)
        if operation is None:
            known = ", ".join(operations.names)
            self._send(encode_error(request_id, UNKNOWN_METHOD, f"There is no method {method!r}. Available: {known}."))
            return
        if operation.dispatch == "beside":
            task = asyncio.create_task(self._answer(request_id, operation, params), name=f"onyx {method}")
            self._slow.add(task)
            task.add_done_callback(self._slow.discard)
        elif operation.dispatch == "ordered" and (operation.must_wait(params) or self._last_ordered is not None):
            answering = self._after(self._last_ordered, request_id, operation, params)
            self._last_ordered = asyncio.create_task(answering, name=f"onyx {method}")
        else:
            await self._answer(request_id, operation, params)

    async def _after(
        self, before: asyncio.Task[None] | None, request_id: str, operation: Operation, params: Mapping[str, Any]
    ) -> None:
        """Answers after the previous request is answered. Goes on if the client leaves: the message was sent."""
        if before is not None:
            await asyncio.wait({before})
        await self._answer(request_id, operation, params)
        if self._last_ordered is asyncio.current_task():
            self._last_ordered = None

    def close(self) -> None:
        """The client has left; its runs go on."""
        self._streams.disconnect(self._on_event)
        self._tabs.closed(self._tab)
        if (skills := self._onyx.container.parts.find(SKILLS)) is not None:
            skills.questions.leave(self._tab)
        for task in self._slow:
            task.cancel()

    async def _answer(self, request_id: str, operation: Operation, params: Mapping[str, Any]) -> None:
        session = params.get("sessionKey")
        with log_context(operation=operation.name, session=session if isinstance(session, str) else None):
            await self._answer_in_context(request_id, operation, params)

    async def _answer_in_context(self, request_id: str, operation: Operation, params: Mapping[str, Any]) -> None:
        try:
            result = await self._call(operation, params)
        except ValidationError as error:
            self._send(encode_error(request_id, INVALID_PARAMS, *_first_problem(error)))
        except InvalidRequest as error:
            self._send(encode_error(request_id, INVALID_PARAMS, str(error), {"field": error.field}))
        except OnyxError as error:
            data = {"code": error.code} | ({"hint": error.hint} if error.hint else {})
            self._send(encode_error(request_id, APPLICATION_ERROR, self._onyx.get(CONFIGURED).redact(str(error)), data))
        except Exception:
            log.exception("Method %s failed", operation.name)
            message = f"Onyx hit an internal error in {operation.name}. See the server log for details."
            self._send(encode_error(request_id, INTERNAL_ERROR, message))
        else:
            self._send(encode_result(request_id, result))
            self._send_what_follows()

    async def _call(self, operation: Operation, params: Mapping[str, Any]) -> dict[str, Any]:
        self._caller.check(operation)
        parsed = operation.params.model_validate(params)
        if not operation.before_ready:
            await self._onyx.ready()
        self._onyx.container.check(operation)
        return await operation.handler(parsed, self._caller)

    def _send_what_follows(self) -> None:
        missed = list(self._caller.after_result)
        self._caller.after_result.clear()
        for streamed in missed:
            self._on_event(streamed)

    def _on_event(self, streamed: StreamedEvent) -> None:
        """Sends an event if this caller may receive it."""
        if self._onyx.container.events[streamed.name].scope in self._caller.scopes:
            self._send(streamed.encoded(encode_event))

    async def _ask_tab(self, request_id: str, action: str, params: Mapping[str, Any]) -> None:
        data = {"requestId": request_id, "action": action, "params": dict(params)}
        self._send(encode_event("client.request", data))


def _first_problem(error: ValidationError) -> tuple[str, dict[str, Any]]:
    """A sentence that names the field, and the field for programs."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    reason = "is not known" if problem["type"] == "extra_forbidden" else problem["msg"][0].lower() + problem["msg"][1:]
    return f"`{field}`: {reason}.", {"field": field}
