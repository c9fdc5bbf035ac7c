"""The life of a run: it starts once, ends in exactly one of final, error and aborted, and leaves no call unpaired."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from onyx_jupyter.agent.loop import run_loop
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.tool_calls import record
from onyx_jupyter.errors import OnyxError, RunTimedOut
from onyx_jupyter.events import ChatAborted, ChatError, ChatFinal, ChatStarted
from onyx_jupyter.messages import ToolResult

log = logging.getLogger(__name__)
RunEnd = ChatFinal | ChatError | ChatAborted

STOPPED = ToolResult("Stopped by the user. It may be partly done.", ok=False, origin="own")
CUT_SHORT = ToolResult("Stopped: this answer reached its time limit. It may be partly done.", ok=False, origin="own")
ENDED_EARLY = ToolResult("Not done: the answer ended with an error before this call.", ok=False, origin="own")


async def run_turn(run: Run, is_closing: Callable[[], bool]) -> None:
    """Runs to the end. Cancelling it means Stop; while the server closes, it leaves a state that a restart can resume.

    Errors of providers and disks end the run and are not raised.
    """
    for event in (ChatStarted(run.run_id), *run.earlier):
        run.emit(event)
    try:
        if run.has_waited:
            await run.transcript.append_start(run.run_id)  # after this, a kill ends it instead of queueing it again
        async with run.work.limit():
            text = await _work(run)
    except asyncio.CancelledError:
        if is_closing():
            await run.partial.flush()
            raise
        await _end(run, "aborted", {}, STOPPED, ChatAborted(run.run_id))
    except RunTimedOut as error:
        await _end_with_error(run, error.code, str(error), error.hint, CUT_SHORT)
    except OnyxError as error:
        await _end_with_error(run, error.code, run.redact(str(error)), error.hint)
    except Exception as error:
        log.exception("Run %s of session %s failed", run.run_id, run.session_key)
        message = f"Onyx hit an internal error ({type(error).__name__}). See the server log for details."
        await _end_with_error(run, "internal", message, "Try again. If it keeps happening, please report it.")
    else:
        await _end(run, "final", {}, ENDED_EARLY, ChatFinal(run.run_id, text))


async def _work(run: Run) -> str:
    """However the loop ends, background processes end before the end of the run is announced."""
    try:
        return await (run.external_agent.answer(run) if run.external_agent else run_loop(run))
    finally:
        closing = asyncio.ensure_future(run.processes.close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await asyncio.wait([closing])
            raise


async def _end_with_error(
    run: Run, code: str, message: str, hint: str | None, unanswered: ToolResult = ENDED_EARLY
) -> None:
    details = {"code": code, "message": message} | ({"hint": hint} if hint else {})
    await _end(run, "error", details, unanswered, ChatError(run.run_id, code, message, hint))


async def _end(run: Run, outcome: str, details: Mapping[str, Any], unanswered: ToolResult, event: RunEnd) -> None:
    """A Stop that arrives while the end is being written has no effect."""
    run.inbox.close()
    ending = asyncio.ensure_future(_write_end(run, outcome, details, unanswered, event))
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await asyncio.wait([ending])


async def _write_end(run: Run, outcome: str, details: Mapping[str, Any], unanswered: ToolResult, event: RunEnd) -> None:
    """Saves what is still unsaved, then announces the end and what the run used, even if the disk fails."""
    log.info("Run ended: %s", outcome)
    try:
        thought = run.take_thought()
        if run.text or thought:
            meta = {"model": run.model.id, "partial": True, **thought}
            await run.transcript.append_assistant(run.run_id, run.text, (), None, meta)
        await run.partial.discard()
        for call in run.transcript.open_calls(run.run_id):
            await record(call, unanswered, "aborted", run, {})
        await run.transcript.append_end(run.run_id, outcome, details, run.unfinished)
    except OnyxError as error:
        log.error("The end of run %s could not be recorded: %s", run.run_id, error)
        if not isinstance(event, ChatError):
            event = ChatError(run.run_id, error.code, str(error), error.hint)
    run.emit(replace(event, usage=run.transcript.usage(run.run_id)))
