"""Replays a run that continues after a restart from its transcript, so that a watcher sees all of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onyx_jupyter.events import (
    ChatDelta,
    ChatJoined,
    ChatNote,
    ChatSteered,
    ChatThought,
    RunEvent,
    ToolFinished,
    ToolStarted,
)
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.sessions.attachments import as_shown
from onyx_jupyter.sessions.entry import Entry
from onyx_jupyter.sessions.older_results import with_current_form
from onyx_jupyter.sessions.run_order import joined_ids


def earlier_events(entries: Sequence[Entry], run_id: str) -> Iterator[RunEvent]:
    """What the run has said and done so far, as the events that were sent for it."""
    calls: dict[str, ToolCall] = {}
    lead = ""
    for entry in entries:
        if entry.run_id != run_id:
            continue
        if entry.is_steer:
            yield ChatSteered(run_id, entry.id, entry.content, as_shown(entry).context)
        elif ids := joined_ids(entry):
            yield ChatJoined(run_id, tuple(ids))
        elif entry.role == "assistant":
            calls.update({call.id: call for call in entry.tool_calls})
            if entry.thought is not None:
                yield ChatThought(run_id, *entry.thought)
            if entry.content:
                yield ChatDelta(run_id, lead + entry.content)
            lead = "" if entry.tool_calls else "\n\n"
        elif entry.kind == "note":
            data = entry.meta.get("data")
            yield ChatNote(run_id, str(entry.meta.get("note")), entry.content, data if isinstance(data, dict) else None)
        elif entry.role == "tool" and entry.tool_call_id in calls:
            call = calls[entry.tool_call_id]
            said = with_current_form(entry, call)
            label, status = said.meta.get("label"), entry.meta.get("status")
            yield ToolStarted(run_id, call.id, call.name, dict(call.arguments), label)
            ok, attachments = bool(entry.meta.get("ok")), entry.attachments or None
            yield ToolFinished(
                run_id,
                call.id,
                call.name,
                ok,
                as_shown(entry).content,
                attachments,
                status,
                data=said.meta.get("data"),
                label=label,
                failure=said.meta.get("failure"),
            )
