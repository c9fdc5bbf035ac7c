"""The agent loop: ask the model, run what it calls, feed the results back, until it answers in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onyx_jupyter.agent.context import ask_within_window
from onyx_jupyter.agent.processor import Halt, Reply, RunSoFar
from onyx_jupyter.agent.reflection import should_reflect
from onyx_jupyter.agent.run import Run
from onyx_jupyter.agent.tool_calls import perform, record
from onyx_jupyter.errors import EmptyAnswer, ModelError, StorageError
from onyx_jupyter.events import ChatDelta, ToolDraft, ToolProgress
from onyx_jupyter.messages import Message, ToolCall, ToolResult
from onyx_jupyter.protocols import (
    CellDraft,
    ModelDone,
    ModelNote,
    ModelProgress,
    ModelRequest,
    TextDelta,
    TextWasThinking,
    ThoughtDelta,
)
from onyx_jupyter.toolsets.more_tools import unwrapped

LAST_TURN = Message(
    "user",
    "[Onyx] You have used all your steps for this request. Answer now with what you know, without tools, and say "
    "what is left to do.",
)
AFTER_FAILURE = Message(
    "user",
    "[Onyx] Your last call failed or was denied, and then your answer was empty. Its result says why: if the call was "
    "wrong, make the right one; otherwise say in words what prevents it.",
)
_APART = "\n\n"
HALTED = ToolResult("Not done: the answer ended before this call.", ok=False, origin="own")


async def run_loop(run: Run) -> str:
    """Returns the text of the last reply. Resumes from the transcript, so a run also continues after a restart.

    Raises: ModelError, StorageError.
    """
    done, usage = run.transcript.finished_calls(run.run_id), run.transcript.usage(run.run_id)
    await run.processors.begin(RunSoFar(run.tools, done, usage, run.spent))
    while True:
        try:
            text = await _turns(run)
        except Halt as halt:
            text = await _emit_answer(halt.text, run)
        if not await run.inbox.join_or_close():
            return text


async def _turns(run: Run) -> str:
    """A message that joins counts as a new request and gets the full number of steps."""
    while True:
        await _finish_open_calls(run)
        await run.inbox.join()
        is_last = run.transcript.model_calls(run.run_id) >= run.max_turns
        reply = await _ask_model(run, is_last)
        if reply.calls:
            continue
        run.lead = _APART if reply.text else run.lead
        if is_last or run.inbox.waiting or not await should_reflect(run, reply.text):
            return reply.text or run.transcript.reflected_answer(run.run_id) or ""


async def _finish_open_calls(run: Run) -> None:
    """Strictly one at a time: a later call may depend on what an earlier one did."""
    for call in run.transcript.open_calls(run.run_id):
        await perform(call, run)


async def _ask_model(run: Run, is_last: bool) -> Reply:
    """One model call, streamed to the watchers and saved before anything acts on it."""
    try:
        reply, estimate = await _answer(run, is_last)
    except EmptyAnswer:
        if not _last_call_failed(run):
            raise
        reply, estimate = await _answer(run, is_last, AFTER_FAILURE)
    calls = () if is_last else _with_new_ids(reply.calls, run)
    run.carried.keep(calls, run.model.id, reply.carried)
    run.text, run.why = "", reply.text  # before the write, since a Stop during it must not save the text twice
    try:
        facts = {"model": run.model.id, "estimate": estimate, **run.take_thought()}
        await run.transcript.append_assistant(run.run_id, reply.text, calls, reply.usage, facts)
    except StorageError:
        run.text = reply.text
        raise
    await run.partial.discard()
    return Reply(reply.text, calls, reply.usage)


async def _answer(run: Run, is_last: bool, *hints: Message) -> tuple[Reply, int]:
    """Returns the model's answer and the request's local token count. Raises: ModelError (EmptyAnswer)."""
    run.work.check()
    hints = (*hints, LAST_TURN) if is_last else hints
    reply, estimate = await ask_within_window(run, lambda: _request(run, is_last, hints), lambda it: _stream(run, it))
    reply = await run.processors.after_model(reply)
    if not reply.text.strip() and not reply.has_text and (is_last or not reply.calls):
        raise EmptyAnswer(run.model.id)
    return reply, estimate


def _last_call_failed(run: Run) -> bool:
    """Whether the model was answering the result of a failed call; weak models then often return nothing."""
    done = run.transcript.finished_calls(run.run_id)
    messages = run.transcript.conversation(run.run_id)
    return bool(done and not done[-1][1].ok and messages and messages[-1].role == "tool")


async def _request(run: Run, is_last: bool, hints: Sequence[Message]) -> ModelRequest:
    request = ModelRequest(
        system=await run.build_prompt(run.note),
        messages=[*run.carried.given_back(run.transcript.conversation(run.run_id)), *hints],
        temperature=run.temperature,
        max_tokens=run.max_tokens,
        effort=run.effort,
    )
    return request if is_last else run.toolbox.equip(request)


async def _emit_answer(text: str, run: Run) -> str:
    """Emits and saves an answer that no model wrote."""
    for call in run.transcript.open_calls(run.run_id):
        await record(call, HALTED, "aborted", run, {})
    text = run.redact(text)
    run.emit(ChatDelta(run.run_id, (_APART if run.text else run.lead) + text))
    run.lead, run.text = _APART, f"{run.text}{_APART}{text}" if run.text else text
    await run.transcript.append_assistant(run.run_id, run.text, (), None, {"halted": True, **run.take_thought()})
    run.text = ""
    await run.partial.discard()
    return text


def _with_new_ids(calls: Sequence[ToolCall], run: Run) -> tuple[ToolCall, ...]:
    """Some providers number calls from zero in each reply, but a result must belong to exactly one call."""
    taken = run.transcript.call_ids()
    unique = []
    for call in calls:
        call = replace(call, id=run.new_id()) if not call.id or call.id in taken else call
        taken.add(call.id)
        unique.append(unwrapped(call))
    return tuple(unique)


async def _stream(run: Run, request: ModelRequest) -> Reply:
    request = await run.processors.before_model(request)
    run.text, lead = "", run.lead
    await run.partial.begin(run.run_id)
    filtered, draft, thoughts = run.processors.text_filter(), run.processors.text_filter(), run.think()
    stream, has_text = run.model.stream(request), False
    try:
        async for event in stream:
            if isinstance(event, ThoughtDelta):
                thoughts.add(event.text)
            elif isinstance(event, TextDelta):
                thoughts.word()
                has_text = has_text or bool(event.text.strip())
                _show(filtered.feed(event.text), run)
            elif isinstance(event, TextWasThinking):
                thoughts.take_back(lead, run.text, filtered.finish())
                run.text, run.lead, has_text, filtered = "", lead, False, run.processors.text_filter()
                await run.partial.discard()
            elif isinstance(event, ModelProgress):
                thoughts.part()
                run.emit(ToolProgress(run.run_id, "", "model", event.message))
            elif isinstance(event, CellDraft):
                thoughts.end()
                draft = run.processors.text_filter() if event.begins else draft
                if (shown := draft.feed(event.text)) or event.begins:  # what may become a secret is held back
                    run.emit(ToolDraft(run.run_id, shown, event.begins or None))
            elif isinstance(event, ModelNote):
                await run.note(event.kind, run.redact(event.message), event.data)
            elif isinstance(event, ModelDone):
                _show(filtered.finish(), run)
                return Reply(run.text, event.tool_calls, event.usage, has_text, event.carried)
    except ModelError:
        _show(filtered.finish(), run)  # keep everything that was received
        raise
    finally:
        thoughts.end()
        await run.end_call(stream, request)
    raise ModelError("bad_response", f"The answer of {run.model.id} was cut off before its end.", hint="Try again.")


def _show(text: str, run: Run) -> None:
    if text:
        run.text += text
        run.partial.add(text)
        run.emit(ChatDelta(run.run_id, run.lead + text))
        run.lead = ""
