"""One agent at work: its process, its session, and its turns as a stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path
from typing import Any

from onyx_jupyter._version import __version__
from onyx_jupyter.acp.answers import refused, valid
from onyx_jupyter.acp.process import AgentProcess
from onyx_jupyter.acp.registry import AgentCommand
from onyx_jupyter.acp.sdk import load_sdk
from onyx_jupyter.acp.translate import (
    MODE,
    AgentEvent,
    Option,
    PermissionAsked,
    SessionState,
    TurnEnded,
    options_of,
    usage_of,
)
from onyx_jupyter.errors import InvalidRequest, ModelError
from onyx_jupyter.messages import Attachment, Usage
from onyx_jupyter.processes.process_reaper import ProcessReaper

log = logging.getLogger(__name__)
START_S = 120.0  # the first start of some agents fetches what they need
SESSION_S = 60.0
OPTION_S = 20.0
CANCEL_S = 0.6
OBEY_S = 6.0
SEND_S = 0.2
_MOST_WAITING, _FEWER_WAITING = 1_000, 500


class AgentConnection:
    """An agent's process with one session; `open` creates one. A broken connection answers nothing more.

    `resumed` says that the agent still knows the earlier conversation. While `busy` is above zero the agent waits for
    us, so its silence means nothing.
    """

    def __init__(self, agent: AgentCommand, process: AgentProcess, silence_s: float) -> None:
        from acp.connection import Connection

        self.agent = agent
        self.session_id = ""
        self.resumed = False
        self.takes_pictures = False
        self.busy = 0
        self._state = SessionState()
        self._process = process
        self._silence_s = silence_s
        self._events: asyncio.Queue[AgentEvent | None] = asyncio.Queue()
        self._asked: set[asyncio.Future[str | None]] = set()
        self._turn: asyncio.Task[Any] | None = None
        self.last_usage: Usage | None = None
        """What the last turn used, also one that was stopped; None if the agent did not say."""
        self._closing: asyncio.Task[None] | None = None
        self._cancelled = False
        self._waiting: asyncio.Timeout | None = None
        self._has_config_options = False
        self._connection = Connection(self._handle, process)

    @classmethod
    async def open(
        cls,
        agent: AgentCommand,
        folder: Path,
        mcp_servers: Sequence[Mapping[str, Any]],
        *,
        earlier_session: str | None = None,
        silence_s: float,
        reaper: ProcessReaper | None = None,
    ) -> AgentConnection:
        """Starts the agent and its session: the earlier one if it can continue that, else a new one.

        Raises: ModelError.
        """
        await load_sdk()
        connection = cls(agent, await AgentProcess.start(agent, folder, reaper), silence_s)
        try:
            await connection._initialize(folder, mcp_servers, earlier_session)
        except BaseException:
            await connection.close()
            raise
        return connection

    @property
    def is_usable(self) -> bool:
        return self._process.broken is None and self._closing is None

    @property
    def options(self) -> Sequence[Option]:
        """What can be chosen for this session."""
        return self._state.options

    async def prompt(self, text: str, pictures: Sequence[Attachment] = ()) -> AsyncGenerator[AgentEvent, None]:
        """One turn: events as they come, TurnEnded last. Closing the iterator stops the agent within a second.

        Raises: ModelError; after that the connection may be broken.
        """
        from acp.schema import ImageContentBlock, PromptRequest, TextContentBlock

        content: list[Any] = [TextContentBlock(type="text", text=text)]
        if self.takes_pictures:
            content += [
                ImageContentBlock(type="image", data=one.data, mime_type=one.mime_type)
                for one in pictures
                if one.type == "image"
            ]
        self._begin_turn()
        request = PromptRequest(session_id=self.session_id, prompt=content)
        turn = self._turn = asyncio.create_task(self._request("session/prompt", request), name="onyx agent's turn")
        turn.add_done_callback(lambda _: self._events.put_nowait(None))
        try:
            while (event := await self._next_event()) is not None:
                yield event
            yield self._end_of(await turn)
        finally:
            await self._withdraw()
            if not turn.done():
                await self._stop(turn)
            self.last_usage = self._usage_of(turn)

    def _usage_of(self, turn: asyncio.Task[Any]) -> Usage | None:
        if turn.cancelled() or turn.exception() is not None:
            return None
        try:
            return self._end_of(turn.result()).usage
        except ModelError:
            return None

    async def cancel(self) -> None:
        """Asks the agent to end its turn now; what it still reports comes before the end."""
        self._cancelled = True
        if self._waiting is not None:
            self._waiting.reschedule(asyncio.get_running_loop().time() + OBEY_S)
        await self._withdraw()
        await self._send_cancel()

    async def set_option(self, option_id: str, value: str | bool) -> Sequence[Option]:
        """Chooses, and returns all options as they are then. Raises: InvalidRequest, ModelError."""
        option = next((one for one in self.options if one.id == option_id), None)
        if option is None:
            known = ", ".join(one.id for one in self.options) or "none"
            raise InvalidRequest(
                f"`option`: {self.agent.title} has no {option_id!r}. Options: {known}.", field="option"
            )
        if (option.choices and value not in dict(option.choices)) or isinstance(value, bool) != (not option.choices):
            raise InvalidRequest(f"`value`: {value!r} is not a choice of {option.name}.", field="value")
        about = {"sessionId": self.session_id}
        if option.id == MODE and option.category == MODE and not self._has_config_options:
            await self._within(OPTION_S, self._request("session/set_mode", {**about, "modeId": value}))
            await self._handle(
                "session/update",
                {**about, "update": {"sessionUpdate": "current_mode_update", "currentModeId": value}},
                True,
            )
            return self.options
        kind = {"type": "boolean"} if isinstance(value, bool) else {}
        given = await self._within(
            OPTION_S,
            self._request("session/set_config_option", {**about, "configId": option_id, "value": value, **kind}),
        )
        from acp.schema import SetSessionConfigOptionResponse

        self._state.options = options_of(SetSessionConfigOptionResponse.model_validate(given).config_options, None)
        return self.options

    async def close(self) -> None:
        """Ends the agent with everything that it started."""
        await asyncio.shield(self._abandon())

    async def _close(self) -> None:
        await self._withdraw()
        with contextlib.suppress(Exception):  # closes the process as well
            await self._connection.close()

    async def _initialize(
        self, folder: Path, mcp_servers: Sequence[Mapping[str, Any]], earlier_session: str | None
    ) -> None:
        from acp.meta import PROTOCOL_VERSION
        from acp.schema import ClientCapabilities, Implementation, InitializeRequest
        from acp.schema import InitializeResponse as Initialized

        # Neither files nor terminals are offered: the agent has its own, and reaches the open notebooks by MCP.
        request = InitializeRequest(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="onyx-jupyter", title="Onyx for Jupyter", version=__version__),
        )
        answer = valid(self.agent, Initialized, await self._within(START_S, self._request("initialize", request)))
        if answer.protocol_version != PROTOCOL_VERSION:
            spoken = f"version {answer.protocol_version} of the Agent Client Protocol"
            raise ModelError(
                "bad_response",
                f"{self.agent.title} speaks {spoken}, and Onyx version {PROTOCOL_VERSION}.",
                hint="Install a version of the agent that speaks it.",
                permanent=True,
            )
        can = answer.agent_capabilities
        self.takes_pictures = bool(can and can.prompt_capabilities and can.prompt_capabilities.image)
        about = {"cwd": str(folder), "mcpServers": [dict(server) for server in mcp_servers]}
        if earlier_session is not None and can is not None:
            has_resume = can.session_capabilities is not None and can.session_capabilities.resume is not None
            way = "session/resume" if has_resume else "session/load" if can.load_session else None
            if way is not None and await self._continue(way, {**about, "sessionId": earlier_session}):
                self.session_id, self.resumed = earlier_session, True
                return
        methods = {method.id for method in answer.auth_methods or ()}
        try:
            await self._begin_session(about)
        except ModelError as error:
            if error.code != "authentication" or self.agent.key_method not in methods or not self.agent.has_key:
                raise
            signing_in = self._request("authenticate", {"methodId": self.agent.key_method})
            await self._within(SESSION_S, signing_in)
            await self._begin_session(about)

    async def _continue(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether the agent still has that session. It may repeat all of it, which nobody needs here."""
        from acp.schema import LoadSessionResponse

        try:
            given = await self._within(SESSION_S, self._request(method, params))
        except ModelError as error:
            if not self.is_usable or error.code == "authentication":
                raise
            log.info("%s cannot continue its session: %s", self.agent.title, error)
            return False
        self._take_options(valid(self.agent, LoadSessionResponse, given or {}))
        return True

    async def _begin_session(self, about: Mapping[str, Any]) -> None:
        from acp.schema import NewSessionResponse

        opened = valid(
            self.agent, NewSessionResponse, await self._within(SESSION_S, self._request("session/new", about))
        )
        self.session_id = opened.session_id
        self._take_options(opened)

    def _take_options(self, opened: Any) -> None:
        self._has_config_options = bool(opened.config_options)
        self._state.options = options_of(opened.config_options, opened.modes)

    def _begin_turn(self) -> None:
        self._process.begin_turn()
        self._state.calls.clear()
        self._cancelled = False
        while not self._events.empty():
            self._events.get_nowait()  # what came after the end of the turn before
        self._process.hold(is_full=False)

    async def _next_event(self) -> AgentEvent | None:
        """The next one, None at the end. Raises: ModelError if the agent is silent for too long."""
        while True:
            limit_s = OBEY_S if self._cancelled else self._silence_s
            try:
                async with asyncio.timeout(limit_s) as self._waiting:
                    event = await self._events.get()
            except TimeoutError:
                if self.busy and not self._cancelled:
                    continue
                did = "did not stop" if self._cancelled else f"said nothing for {limit_s:g} s, so it was stopped"
                self._abandon()
                raise ModelError(
                    "timeout",
                    f"{self.agent.title} {did}.",
                    hint="What it had said is kept. Ask again to start it anew.",
                ) from None
            finally:
                self._waiting = None
            if self._events.qsize() <= _FEWER_WAITING:
                self._process.hold(is_full=False)
            return event

    def _end_of(self, given: Any) -> TurnEnded:
        from acp.schema import PromptResponse

        answer = valid(self.agent, PromptResponse, given)
        return TurnEnded(answer.stop_reason, usage_of(answer.usage))

    async def _stop(self, turn: asyncio.Task[Any]) -> None:
        """Ends the turn; an agent that does not obey is ended itself."""
        await self._send_cancel()
        done, _ = await asyncio.wait({turn}, timeout=CANCEL_S)
        if not done:
            self._abandon()
            turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)

    async def _send_cancel(self) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(SEND_S):  # an agent that reads nothing blocks the pipe
                await self._connection.send_notification("session/cancel", {"sessionId": self.session_id})

    def _abandon(self) -> asyncio.Task[None]:
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(), name=f"onyx end of {self.agent.name}")
        return self._closing

    async def _withdraw(self) -> None:
        """Open permission requests are answered as cancelled, and the answers are on their way."""
        asked = [one for one in self._asked if not one.done()]
        for one in asked:
            one.set_result(None)
        if asked:
            await asyncio.sleep(0)

    async def _handle(self, method: str, params: Any, is_notification: bool) -> Any:
        """What the agent sends; runs up to its first wait in the order in which messages came."""
        from acp.exceptions import RequestError
        from acp.schema import RequestPermissionRequest, SessionNotification
        from pydantic import ValidationError

        try:
            if method == "session/update":
                event = self._state.take(SessionNotification.model_validate(params).update)
                if event is not None:
                    self._put(event)
                return None
            if method == "session/request_permission":
                return await self._ask(RequestPermissionRequest.model_validate(params))
        except ValidationError as error:  # without the message: it may quote what a log must not contain
            log.warning("%s sent a %s that cannot be read", self.agent.title, method)
            if is_notification:
                return None  # of a later version of the protocol
            raise RequestError.invalid_params({"fields": [str(one["loc"]) for one in error.errors()]}) from None
        if is_notification:
            return None
        raise RequestError.method_not_found(method)

    async def _ask(self, request: Any) -> Mapping[str, Any]:
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        options = {option.kind: option.option_id for option in reversed(request.options)}  # the first of a kind
        if self._turn is None or self._turn.done():
            answer.set_result(None)  # nobody works with the agent now
        else:
            self._asked.add(answer)
            self._put(PermissionAsked(self._state.call(request.tool_call), options, answer))
        try:
            chosen = await answer
        finally:
            self._asked.discard(answer)
        outcome = {"outcome": "cancelled"} if chosen is None else {"outcome": "selected", "optionId": chosen}
        return {"outcome": outcome}

    def _put(self, event: AgentEvent) -> None:
        if self._turn is None or self._turn.done():
            return  # a session that is loaded repeats itself
        self._events.put_nowait(event)
        if self._events.qsize() >= _MOST_WAITING:
            self._process.hold(is_full=True)

    async def _within(self, limit_s: float, request: Any) -> Any:
        try:
            async with asyncio.timeout(limit_s):
                return await request
        except TimeoutError:
            self._abandon()
            message = f"{self.agent.title} did not answer within {limit_s:g} s."
            raise ModelError("timeout", message, hint="Start it in a terminal to see what it waits for.") from None

    async def _request(self, method: str, params: Any) -> Any:
        """Raises: ModelError."""
        from acp.exceptions import RequestError

        if not isinstance(params, Mapping):
            params = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        try:
            return await self._connection.send_request(method, params)
        except RequestError as error:
            raise refused(self.agent, error, self._process.last_words) from None
        except (ConnectionError, OSError):
            raise self._process.broken or ModelError("unavailable", f"{self.agent.title} has ended.") from None
