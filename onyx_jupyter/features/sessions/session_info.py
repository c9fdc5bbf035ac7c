"""A session's metadata in wire format."""

from __future__ import annotations

from typing import Any

from onyx_jupyter.events import to_camel
from onyx_jupyter.sessions.conversation import Summary

_OF_SUMMARY = (
    "agent_id",
    "title",
    "created_at",
    "updated_at",
    "message_count",
    "token_count",
    "last_message_preview",
    "model",
    "tool_mode",
)


def session_info(session_key: str, summary: Summary, activity: str) -> dict[str, Any]:
    """`activity` is idle, running or waiting."""
    info = {to_camel(name): getattr(summary, name) for name in _OF_SUMMARY}
    return {"sessionKey": session_key, **info, "status": "active", "activity": activity}
