"""One turn of an agent within a run: its words, thoughts, plan and calls, and the tools that it calls of ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from onyx_jupyter.acp.connection import AgentConnection
from onyx_jupyter.acp.translate import (
    AgentCall,
    CallReported,
    PermissionAsked,
    Planned,
    Said,
    Thought,
    TurnEnded,
)
from onyx_jupyter.agent.processor import Halt, Reply
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.steering import Steered
from onyx_jupyter.agent.tool_calls import SKIPPED, perform, record
from onyx_jupyter.errors import EmptyAnswer, ModelError, OnyxError, StorageError
from onyx_jupyter.events import ChatDelta, ToolProgress, ToolStarted
from onyx_jupyter.features.acp.own_calls import OwnCall, is_call_of_ours, label_of, recorded, result_of
from onyx_jupyter.features.acp.permissions import decide
from onyx_jupyter.features.acp.prompt import AgentPrompt
from onyx_jupyter.messages import FAILURE_OF_STATUS, Failure, Message, ToolCall, ToolResult, Usage, first_line
from onyx_jupyter.protocols import ModelRequest
from onyx_jupyter.security.secret_redactor import redact_off_loop
from onyx_jupyter.toolsets.results import REASON_CHARS
from onyx_jupyter.usage.budget import state_to_json, warning
from onyx_jupyter.usage.meter import UsageMeter
from onyx_jupyter.usage.model_call import Terms, settled

log = logging.getLogger(__name__)
TERMS: Terms = "plan"
"""An agent is paid for by its user's plan or key, which Onyx does not see."""
MAX_TEXT_CHARS = 1_000_000
MAX_CALLS = 2_000
SHOWN_CHARS = 200
UNREPORTED = ToolResult("The agent did not report how this ended.", ok=False, origin="own")
NOT_AWAITED = ToolResult("Stopped: the agent did not wait for it. It may be partly done.", ok=False, origin="own")
PLAN_SHOWN = ToolResult("Shown.", origin="own")
CUT_SHORT = "unfinished"
_APART = "\n\n"
_HARMLESS = ("other", "read", "search", "think")
_SHORT: Mapping[str, str] = {
    "max_tokens": "The agent reached its limit of tokens, so this answer is incomplete.",
    "max_turn_requests": "The agent used all its steps for this request, so this answer may be incomplete.",
}


class AgentTurn:
    """Takes one prompt to its end. Whatever happens, nothing of it works on afterwards."""

    def __init__(self, run: Run, connection: AgentConnection, meter: UsageMeter, facts: Mapping[str, Any]) -> None:
        """`facts` go into the entries that it writes; `meter` counts what the agent reports to have used."""
        self.run = run
        self._connection = connection
        self._meter = meter
        self._facts = facts
        self._filter = run.processors.text_filter()
        self._thoughts = run.think()
        self._said_chars = 0
        self._has_text = self._has_calls = False
        self._calls: dict[tuple[str, int], OwnCall] = {}
        self._plan: ToolCall | None = None
        self._one_at_a_time = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._halt: Halt | None = None

    async def answer(self, prompt: AgentPrompt) -> str:
        """Returns the text of the turn's last words. Raises: ModelError, StorageError, Halt."""
        for state in await self._meter.admit(TERMS):
            await self.run.note("budget", warning(state), state_to_json(state))
        sent = Message("user", prompt.text, attachments=prompt.pictures)
        sent = (await self.run.processors.before_model(ModelRequest("", [sent]))).messages[-1]
        self._spawn(self._make_way())
        end: TurnEnded | None = None
        try:
            async with aclosing(self._connection.prompt(sent.text, sent.attachments)) as events:
                try:
                    async for event in events:
                        if isinstance(event, TurnEnded):
                            end = event
                        else:
                            await self._take(event)
                finally:
                    await self._end_tasks()
        finally:
            self._thoughts.end()
            self._show(self._filter.finish())
            if end is None or self._halt is not None:
                await self._count_unfinished()
        if self._halt is not None:
            raise self._halt
        assert end is not None
        return await self._end(end)

    async def call_tool(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Called by MCP: the call of a tool of ours, made as the run's own."""
        await asyncio.sleep(0)  # what the agent said before comes another way
        result: ToolResult = await self._spawn(self._perform(name, arguments))
        return result

    async def _perform(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        async with self._one_at_a_time:
            call = ToolCall(self.run.new_id(), name, arguments)
            self._connection.busy += 1
            try:
                await self._write(call)
                await perform(call, self.run)
            except Halt as halt:
                self._halt = halt
                await self._connection.cancel()
            finally:
                self._connection.busy -= 1
        messages = reversed(self.run.transcript.conversation(self.run.run_id))
        said = next((one for one in messages if one.role == "tool" and one.tool_call_id == call.id), None)
        if said is None:
            return UNREPORTED
        return ToolResult(said.content, said.status in (None, "ok"), said.attachments)

    async def _make_way(self) -> None:
        """A message that comes meanwhile is what the user wants now: the agent stops, and gets it next."""
        await self.run.inbox.arrival()
        async with self._one_at_a_time:  # a call of ours that runs is not torn off
            await self._connection.cancel()

    async def _take(self, event: Said | Thought | Planned | CallReported | PermissionAsked) -> None:
        match event:
            case Said(text):
                self._say(text)
            case Thought(text):
                self._thoughts.add(text)
            case Planned(steps):
                await self._show_plan([{"text": text, "status": status} for text, status in steps])
            case CallReported(call):
                await self._report(call)
            case PermissionAsked(call, options, answer):
                self._spawn(self._permit(call, options, answer))

    def _say(self, text: str) -> None:
        self._said_chars += len(text)
        if self._said_chars > MAX_TEXT_CHARS:
            message = (
                f"{self._connection.agent.title} wrote more than {MAX_TEXT_CHARS:,} characters, so it was stopped."
            )
            raise ModelError("bad_response", message)
        self._thoughts.word()
        self._has_text = self._has_text or bool(text.strip())
        self._show(self._filter.feed(text))

    def _show(self, text: str) -> None:
        if text:
            self.run.text += text
            self.run.partial.add(text)
            self.run.emit(ChatDelta(self.run.run_id, self.run.lead + text))
            self.run.lead = ""

    async def _write(self, *calls: ToolCall, usage: Usage | None = None) -> None:
        """What was said so far, and the calls that follow it, as an entry."""
        run = self.run
        text, run.text = run.text, ""
        run.lead = "" if calls else run.lead
        if calls:
            self._has_calls = True
            run.why = text
        facts = {"model": run.model.id, "acp": dict(self._facts), **run.take_thought()}
        self._thoughts = run.think()
        try:
            await run.transcript.append_assistant(run.run_id, text, calls, usage, facts)
        except StorageError:
            run.text = text + run.text
            raise
        if text:
            await run.partial.discard()

    async def _show_plan(self, steps: list[dict[str, str]]) -> None:
        run = self.run
        call = ToolCall(run.new_id(), "plan_update", {"steps": steps})
        if self._plan is not None and self._plan.arguments == call.arguments:
            return
        self._plan = call
        await self._write(call)
        run.emit(ToolStarted(run.run_id, call.id, call.name, dict(call.arguments)))
        await record(call, PLAN_SHOWN, "ok", run, self._of_agent)

    async def _report(self, reported: AgentCall) -> None:
        if is_call_of_ours(reported, self.run.tools.names):
            return
        own = self._calls.get(reported.key)
        if own is None and reported.status == "pending":
            return  # its arguments may still be on their way
        own = own or await self._begin(reported)
        if own.is_over:
            return
        self._start(own, reported)
        if reported.is_over:
            own.is_over = True
            await self._finish(own.call, reported)
        elif reported.text:
            line = self.run.redact(first_line(reported.text[-2_000:], SHOWN_CHARS))
            self.run.emit(ToolProgress(self.run.run_id, own.call.id, own.call.name, line))

    async def _begin(self, reported: AgentCall) -> OwnCall:
        if len(self._calls) >= MAX_CALLS:
            message = f"{self._connection.agent.title} made more than {MAX_CALLS:,} calls, so it was stopped."
            raise ModelError("bad_response", message)
        call = recorded(reported, self.run.new_id())
        own = self._calls[reported.key] = OwnCall(call)
        await self._write(call)
        return own

    def _start(self, own: OwnCall, reported: AgentCall) -> None:
        if own.has_started:
            return
        own.has_started = True
        call, paths = own.call, self.run.context_for(own.call).paths
        shown = self.run.secrets.redact_data(dict(call.arguments))
        label = label_of(reported, paths, is_done=False)
        self.run.emit(ToolStarted(self.run.run_id, call.id, call.name, shown, label))

    async def _finish(self, call: ToolCall, reported: AgentCall) -> None:
        run = self.run
        result = result_of(reported, run.context_for(call).paths)
        result = await redact_off_loop(run.secrets.redact_result, result)
        result = await run.results.fit(call.id, result)
        status = "ok" if result.ok else "failed"
        try:
            result = await run.processors.after_tool(call, result)
        except Halt as halt:
            await record(call, halt.result or result, status, run, self._of_agent)
            raise
        await record(call, result, status, run, self._of_agent)

    @property
    def _of_agent(self) -> Mapping[str, Any]:
        """Marks a call as the agent's own, in the conversation and in the audit."""
        return {"by": self.run.model.id}

    async def _permit(self, asked: AgentCall, options: Mapping[str, str], answer: asyncio.Future[str | None]) -> None:
        """Answers a permission request; if anything fails, there is no permission."""
        once = options.get("allow_once")
        yes, no = once or options.get("allow_always"), options.get("reject_once") or options.get("reject_always")
        chosen: str | None = None
        self._connection.busy += 1
        try:
            if asked.kind in _HARMLESS and is_call_of_ours(asked, self.run.tools.names):
                chosen = yes  # the call itself is checked, and asked about, when it comes
            elif yes is not None:
                chosen = yes if await self._is_allowed(asked, only_for_good=once is None) else no
        finally:
            self._connection.busy -= 1
            if not answer.done():
                answer.set_result(chosen)

    async def _is_allowed(self, asked: AgentCall, *, only_for_good: bool) -> bool:
        run = self.run
        async with self._one_at_a_time:
            own = self._calls.get(asked.key) or await self._begin(asked)
            try:
                decision = await decide(asked, own.call, run, only_for_good=only_for_good)
            except Steered:
                return await self._refuse(own, asked, SKIPPED, "skipped")
            except OnyxError as error:
                failed = ToolResult(f"Denied: the answer could not be saved. {error}", ok=False, origin="own")
                return await self._refuse(own, asked, failed, "denied")
            if decision.allowed:
                self._start(own, asked)
                return True
            reason = f"Denied: {decision.reason}" if decision.reason else "Denied."
            return await self._refuse(own, asked, ToolResult(reason, ok=False, origin="person"), "denied")

    async def _refuse(self, own: OwnCall, asked: AgentCall, result: ToolResult, status: str) -> bool:
        if not own.is_over:
            own.is_over = True
            label = label_of(asked, self.run.context_for(own.call).paths, is_done=False)
            failure = Failure(FAILURE_OF_STATUS[status], first_line(result.output, REASON_CHARS))
            result = replace(result, label=label, failure=failure)
            await record(own.call, result, status, self.run, self._of_agent)
        return False

    async def _count_unfinished(self) -> None:
        """A turn without an answer counts if the agent says what it used: it makes calls of its own, unseen."""
        if (reported := self._connection.last_usage) is not None:
            usage = settled(reported, TERMS)
            self.run.add_unfinished(usage)
            await self._meter.record(self.run.model.id, TERMS, usage)

    async def _end(self, end: TurnEnded) -> str:
        run = self.run
        for own in self._calls.values():
            if not own.is_over:
                own.is_over = True
                await record(own.call, UNREPORTED, "aborted", run, self._of_agent)
        for call in run.transcript.open_calls(run.run_id):
            await record(call, NOT_AWAITED, "aborted", run, {})
        if end.usage is not None:
            usage = settled(end.usage, TERMS)
            end = replace(end, usage=usage)
            await self._meter.record(run.model.id, TERMS, usage)
        if end.reason == "refusal":
            raise ModelError("refused", f"{self._connection.agent.title} refused to answer this.")
        reply = await run.processors.after_model(Reply(run.text, (), end.usage or Usage(), self._has_text))
        if not self._has_text and not self._has_calls and end.reason != "cancelled":
            raise EmptyAnswer(run.model.id)
        run.text = reply.text
        await self._write(usage=end.usage)
        await run.partial.discard()
        run.lead = _APART if reply.text else run.lead
        if end.reason in _SHORT:
            await run.note(CUT_SHORT, _SHORT[end.reason])
        return reply.text

    def _spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work, name="onyx part of an agent's turn")
        self._tasks.add(task)
        return task

    async def _end_tasks(self) -> None:
        """Stops what is in progress. What failed in it ends the turn as well."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        errors = [error for task in self._tasks if not task.cancelled() and (error := task.exception()) is not None]
        for error in errors:
            if isinstance(error, OnyxError):
                raise error
            log.error("A part of an agent's turn failed in session %s", self.run.session_key, exc_info=error)
