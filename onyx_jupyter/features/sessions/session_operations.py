"""`sessions.*`: create, list, read and watch sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence, Set
from typing import Any

from onyx_jupyter.features.sessions.keys import CONVERSATIONS, SESSION_SEARCH
from onyx_jupyter.features.sessions.search import SessionAnswer, SessionHit
from onyx_jupyter.features.sessions.session_wire import (
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
from onyx_jupyter.operations.keys import SESSIONS, STREAMS
from onyx_jupyter.operations.operation import Operation
from onyx_jupyter.sessions.attachments import as_shown
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import to_json
from onyx_jupyter.sessions.older_results import display_entries

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
    return params.agent_id in (None, info["agentId"]) and params.status in (None, info["status"])


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


OPERATIONS = (
    Operation("sessions.create", SessionsCreateParams, SessionCreated, create, "chat", streams=True),
    Operation("sessions.list", SessionsListParams, SessionList, list_sessions, "read"),
    Operation("sessions.search", SessionsSearchParams, SessionsFound, search, "read"),
    Operation("sessions.get", SessionParams, SessionDetail, get, "read"),
    Operation("sessions.subscribe", SessionsSubscribeParams, Subscribed, subscribe, "read", streams=True),
)
