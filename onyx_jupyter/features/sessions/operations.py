"""`chat.*`: send messages, read the history, stop a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.sessions.keys import CONVERSATIONS
from onyx_jupyter.features.sessions.wire import (
    ChatAbortParams,
    ChatComposingParams,
    ChatHistory,
    ChatHistoryParams,
    ChatSendParams,
    ChatSent,
    ContextItem,
    ContextPreview,
    ContextPreviewParams,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import PREFILL, SESSIONS, STREAMS, WARM_UP
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok
from onyx_jupyter.runs.prefill import Draft
from onyx_jupyter.sessions.attachments import as_shown, items_as_shown
from onyx_jupyter.sessions.entry import to_json
from onyx_jupyter.sessions.older_results import display_entries
from onyx_jupyter.sessions.origin import RunOrigin


async def send(params: ChatSendParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SESSIONS).get(params.session_key)
    caller.get(STREAMS).watch(params.session_key, caller.on_event)
    kernel = params.from_kernel.model_dump(by_alias=True, exclude_none=True) if params.from_kernel else None
    sent = await caller.get(CONVERSATIONS).send(
        params.session_key,
        params.message,
        model=params.model,
        tool_mode=params.tool_mode,
        effort=params.effort,
        mode=params.mode,
        context=_items(params.context or []),
        when_busy=params.when_busy,
        origin=RunOrigin.of_cell(kernel, typed=params.typed) if kernel else RunOrigin(typed=params.typed),
    )
    return {"runId": sent.run_id, "delivery": sent.delivery, "context": list(items_as_shown(sent.context)) or None}


async def preview_context(params: ContextPreviewParams, caller: Caller) -> dict[str, Any]:
    items = await caller.get(CONVERSATIONS).preview_context(params.session_key, _items(params.items), params.model)
    return {"items": list(items_as_shown(items))}


async def composing(params: ChatComposingParams, caller: Caller) -> dict[str, Any]:
    caller.get(WARM_UP).begin()
    caller.get(PREFILL).composing(Draft(params.session_key, params.text, params.model, params.mode))
    return {"ok": True}


async def history(params: ChatHistoryParams, caller: Caller) -> dict[str, Any]:
    every = (await caller.get(SESSIONS).get(params.session_key)).entries
    entries = list(every)
    if params.before is not None:
        ids = [entry.id for entry in entries]
        if params.before not in ids:
            raise InvalidRequest(f"`before`: this session has no entry {params.before!r}.", field="before")
        entries = entries[: ids.index(params.before)]
    wanted = display_entries(every, entries[-params.limit :])
    return {"messages": [to_json(as_shown(entry)) for entry in wanted]}


async def abort(params: ChatAbortParams, caller: Caller) -> dict[str, Any]:
    return {"ok": await caller.get(CONVERSATIONS).abort(params.run_id)}


def _items(items: Sequence[ContextItem]) -> list[dict[str, Any]]:
    return [item.model_dump(by_alias=True, exclude_none=True) for item in items]


OPERATIONS = (
    Operation("chat.send", ChatSendParams, ChatSent, send, "chat", dispatch="ordered", reads="context", streams=True),
    Operation("chat.composing", ChatComposingParams, Ok, composing, "chat"),
    Operation("chat.history", ChatHistoryParams, ChatHistory, history, "read"),
    Operation("chat.abort", ChatAbortParams, Ok, abort, "chat"),
    Operation("context.preview", ContextPreviewParams, ContextPreview, preview_context, "read", dispatch="beside"),
)
