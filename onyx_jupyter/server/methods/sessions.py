"""`sessions.*`: make, list, read and watch sessions."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.server.caller import Caller
from onyx_jupyter.server.wire.sessions import (
    SessionParams,
    SessionsCreateParams,
    SessionsListParams,
    SessionsSubscribeParams,
)
from onyx_jupyter.sessions.conversation import summarise
from onyx_jupyter.sessions.entry import to_json


async def create(params: SessionsCreateParams, caller: Caller) -> dict[str, Any]:
    key = await caller.onyx.create_session(params.agent_id, params.title, params.model)
    caller.onyx.streams.watch(key, caller.send)
    return {"sessionKey": key}


async def list_sessions(params: SessionsListParams, caller: Caller) -> dict[str, Any]:
    onyx = caller.onyx
    infos = [onyx.session_info(item.session_key, item.summary) for item in await onyx.sessions.list()]
    wanted = [info for info in infos if _matches(info, params)]
    return {"sessions": wanted[params.offset : params.offset + params.limit], "total": len(wanted)}


async def get(params: SessionParams, caller: Caller) -> dict[str, Any]:
    transcript = await caller.onyx.sessions.get(params.session_key)
    info = caller.onyx.session_info(params.session_key, summarise(transcript.entries))
    return {"session": info, "messages": [to_json(entry) for entry in transcript.entries]}


async def subscribe(params: SessionsSubscribeParams, caller: Caller) -> dict[str, Any]:
    await caller.onyx.sessions.get(params.session_key)
    caller.onyx.opened(params.session_key)
    seq, missed = caller.onyx.streams.subscribe(params.session_key, caller.send, params.after_seq)
    caller.after_result.extend(missed)
    return {"seq": seq}


def _matches(info: dict[str, Any], params: SessionsListParams) -> bool:
    if params.agent_id not in (None, info["agentId"]) or params.status not in (None, info["status"]):
        return False
    words = (params.query or "").casefold().split()
    text = f"{info['title']} {info['lastMessagePreview']}".casefold()
    return all(word in text for word in words)
