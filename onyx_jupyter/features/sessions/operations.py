"""`sessions.*` and `chat.*`: create, find and watch sessions; send messages, read the history, stop a run."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence, Set
from typing import Any

from onyx_jupyter.errors import InvalidRequest
from onyx_jupyter.features.sessions.conversations import CONVERSATIONS
from onyx_jupyter.features.sessions.search import SESSION_SEARCH, SessionAnswer, SessionHit
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
    SessionCreated,
    SessionDetail,
    SessionList,
    SessionParams,
    SessionsCreateParams,
    SessionsFound,
    SessionsListParams,
    SessionsSearchParams,
    SessionsSubscribeParams,
    Subscribed,
)
from onyx_jupyter.operations.caller import Caller
from onyx_jupyter.operations.keys import PREFILL, SESSIONS, STREAMS, WARM_UP
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.operations.wire import Ok
from onyx_jupyter.runs.prefill import Draft
from onyx_jupyter.sessions.attachments import as_shown, items_as_shown
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import to_json
from onyx_jupyter.sessions.older_results import display_entries
from onyx_jupyter.sessions.origin import RunOrigin

TOO_LATE = "The search took too long, so only titles were searched."
_CONTENT_S = 2.0
_READING_S = 1.5
_CONTENT_HITS = 50
# The user expects a filtered list to contain what was typed, so only close matches count.
_CONTENT_SCORE = 0.25


async def create(params: SessionsCreateParams, caller: Caller) -> dict[str, Any]:
    key = await caller.get(CONVERSATIONS).create_session(params.agent_id, params.title, params.model)
    caller.get(STREAMS).watch(key, caller.on_event)
    return {"sessionKey": key}


async def list_sessions(params: SessionsListParams, caller: Caller) -> dict[str, Any]:
    infos = [
        caller.get(CONVERSATIONS).session_info(item.session_key, item.summary)
        for item in await caller.get(SESSIONS).list()
    ]
    fitting = [info for info in infos if _fits(info, params)]
    wanted = [info for info in fitting if _is_named(info, params)]
    answer: dict[str, Any] = {"isWhole": True}
    if params.query and params.query.strip():
        said = await _search_contents(params.query, params.agent_id, caller)
        wanted += _with_turns(fitting, {info["sessionKey"] for info in wanted}, said.hits)
        answer = {"isWhole": said.is_whole} | ({"note": said.note} if said.note else {})
    return {"sessions": wanted[params.offset : params.offset + params.limit], "total": len(wanted), **answer}


async def search(params: SessionsSearchParams, caller: Caller) -> dict[str, Any]:
    answer = await caller.get(SESSION_SEARCH).search(params.query, params.agent_id, limit=params.limit)
    results = [
        {"sessionKey": hit.session_key, "title": hit.summary.title, "score": hit.score, **_turn(hit)}
        for hit in answer.hits
    ]
    return {"results": results} | ({"note": answer.note} if answer.note else {})


async def get(params: SessionParams, caller: Caller) -> dict[str, Any]:
    transcript = await caller.get(SESSIONS).get(params.session_key)
    info = caller.get(CONVERSATIONS).session_info(params.session_key, summarise(transcript.entries))
    entries = display_entries(transcript.entries, transcript.entries)
    return {"session": info, "messages": [to_json(as_shown(entry)) for entry in entries]}


async def subscribe(params: SessionsSubscribeParams, caller: Caller) -> dict[str, Any]:
    await caller.get(SESSIONS).get(params.session_key)
    caller.get(CONVERSATIONS).opened(params.session_key)
    seq, missed = caller.get(STREAMS).subscribe(params.session_key, caller.on_event, params.after_seq)
    caller.after_result.extend(missed)
    return {"seq": seq}


def _fits(info: dict[str, Any], params: SessionsListParams) -> bool:
    is_listed = params.unattended or info["origin"] not in ("job", "heartbeat")
    return is_listed and params.agent_id in (None, info["agentId"]) and params.status in (None, info["status"])


def _is_named(info: dict[str, Any], params: SessionsListParams) -> bool:
    words = (params.query or "").casefold().split()
    text = f"{info['title']} {info['lastMessagePreview']}".casefold()
    return all(word in text for word in words)


async def _search_contents(query: str, agent_id: str | None, caller: Caller) -> SessionAnswer:
    """Searches the contents within a time limit, because the titles are available at once."""
    try:
        async with asyncio.timeout(_CONTENT_S):
            return await caller.get(SESSION_SEARCH).search(
                query, agent_id, limit=_CONTENT_HITS, min_score=_CONTENT_SCORE, within_s=_READING_S
            )
    except TimeoutError:
        return SessionAnswer((), TOO_LATE, is_whole=False)


def _with_turns(
    infos: Sequence[dict[str, Any]], known: Set[str], hits: Sequence[SessionHit]
) -> Iterable[dict[str, Any]]:
    """The sessions not in `known` that have a matching turn, best first, each with its best turn."""
    by_key = {info["sessionKey"]: info for info in infos if info["sessionKey"] not in known}
    found: dict[str, dict[str, Any]] = {}
    for hit in hits:
        if hit.session_key in by_key:
            found.setdefault(hit.session_key, {**by_key[hit.session_key], "match": _turn(hit)})
    return found.values()


def _turn(hit: SessionHit) -> dict[str, Any]:
    return {"entryId": hit.place.entry_id, "role": hit.place.role, "at": hit.place.at, "snippet": hit.snippet}


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
    Operation("sessions.create", SessionsCreateParams, SessionCreated, create, "chat", streams=True),
    Operation("sessions.list", SessionsListParams, SessionList, list_sessions, "read"),
    Operation("sessions.search", SessionsSearchParams, SessionsFound, search, "read"),
    Operation("sessions.get", SessionParams, SessionDetail, get, "read"),
    Operation("sessions.subscribe", SessionsSubscribeParams, Subscribed, subscribe, "read", streams=True),
    Operation("chat.send", ChatSendParams, ChatSent, send, "chat", dispatch="ordered", reads="context", streams=True),
    Operation("chat.composing", ChatComposingParams, Ok, composing, "chat"),
    Operation("chat.history", ChatHistoryParams, ChatHistory, history, "read"),
    Operation("chat.abort", ChatAbortParams, Ok, abort, "chat"),
    Operation("context.preview", ContextPreviewParams, ContextPreview, preview_context, "read", dispatch="beside"),
)
