"""The tools that list, search and read the agent's other sessions and send messages to them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from onyx_jupyter.activities import Activity
from onyx_jupyter.errors import ToolError
from onyx_jupyter.messages import ToolResult, head_and_tail
from onyx_jupyter.protocols import OtherSession, SessionMessage, Sessions, ToolPreview
from onyx_jupyter.toolsets.arguments import Arguments
from onyx_jupyter.toolsets.context import ToolContext
from onyx_jupyter.toolsets.tool import tool

MAX_HISTORY_CHARS = 2000
MAX_MESSAGE_CHARS = 20_000
# The share of a result's limit; the fence around it and the note on omitted messages need room too.
_SHARE = 0.9


class ListArguments(Arguments):
    query: str | None = Field(default=None, max_length=200, description="Words in its title or preview.")
    limit: int = Field(default=20, ge=1, le=100)


class HistoryArguments(Arguments):
    session_key: str = Field(min_length=1, description="From sessions_list.")
    limit: int = Field(default=20, ge=1, le=200, description="How many of the newest messages.")


class SearchArguments(Arguments):
    query: str = Field(min_length=1, max_length=500, description="Words, or a question.")
    limit: int = Field(default=6, ge=1, le=30)


class SendArguments(Arguments):
    session_key: str = Field(min_length=1, description="From sessions_list.")
    message: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="Everything needed to act on it.")


@tool(
    name="sessions_list",
    activity=Activity("list_sessions", "query"),
    arguments=ListArguments,
    description="Lists your other sessions, last used first: key, time, title, start of the newest message.",
    risk="read",
    family="sessions",
    deferred=True,
)
async def sessions_list_tool(arguments: ListArguments, context: ToolContext) -> ToolResult:
    """Lists the agent's other sessions, most recently used first."""
    words = (arguments.query or "").casefold().split()
    sessions = [one for one in await _sessions(context).list() if _holds(one, words)]
    if not sessions:
        which = f" with {arguments.query!r}" if words else ""
        return ToolResult(f"There is no other session{which}.", origin="own")
    lines = [_line(one) for one in sessions[: arguments.limit]]
    left = len(sessions) - len(lines)
    tail = f"\n[{left} more; a query finds them]" if left else ""
    source = "the list of other sessions"
    return ToolResult("\n".join(lines) + tail, truncated=bool(left), external=source, own_tail=tail)


@tool(
    name="sessions_history",
    activity=Activity("read_session"),
    arguments=HistoryArguments,
    description="Shows what was said in another session, newest last, with the names of the tools called there.",
    risk="read",
    family="sessions",
    deferred=True,
)
async def sessions_history_tool(arguments: HistoryArguments, context: ToolContext) -> ToolResult:
    """Shows the end of another session: who said what, and the names of the tools called."""
    sessions = _sessions(context)
    session = await sessions.get(arguments.session_key)
    history = await sessions.history(arguments.session_key)
    source = f"session {session.session_key} “{session.title}”"
    if not history:
        return ToolResult("Nothing was said there yet.", origin="own")
    parts = _newest(history[-arguments.limit :], int(context.max_result_chars * _SHARE))
    left = len(history) - len(parts)
    head = f"[{left} earlier messages are left out]\n\n" if left else ""
    return ToolResult(head + "\n\n".join(parts), truncated=bool(left), external=source, own_head=head)


@tool(
    name="sessions_search",
    activity=Activity("search_sessions", "query"),
    arguments=SearchArguments,
    description="Finds what was said in your other sessions, by words and by meaning: session key, time, who, words.",
    risk="read",
    family="sessions",
    deferred=True,
)
async def sessions_search_tool(arguments: SearchArguments, context: ToolContext) -> ToolResult:
    """Searches other sessions by words and by meaning."""
    found, note = await _sessions(context).search(arguments.query, arguments.limit)
    notes = [f"[{note}]"] if note else []
    if not found:
        head = f"Nothing was said about {arguments.query!r} in another session."
        return ToolResult("\n".join([head, *notes]), own_head=head)
    parts = [f"{one.session.session_key} | {one.at} | {one.session.title} | {one.role}: {one.snippet}" for one in found]
    return ToolResult("\n\n".join([*parts, *notes]), external="what was said in other sessions")


async def _send_preview(arguments: SendArguments, context: ToolContext) -> ToolPreview:
    session = await _sessions(context).receiver(arguments.session_key)
    return ToolPreview(
        summary=f"Send a message to the session “{session.title}”",
        details={"sessionKey": session.session_key, "title": session.title, "message": arguments.message},
        grant=f"sessions_send {session.session_key} {arguments.message}",
        grant_text=f"exactly this message to “{session.title}”",
    )


@tool(
    name="sessions_send",
    activity=Activity("write_to_session"),
    arguments=SendArguments,
    description=(
        "Sends a message to another session and returns at once. It is answered there, without access to this "
        "conversation. sessions_history shows the answer."
    ),
    risk="write",
    family="sessions",
    deferred=True,
    preview=_send_preview,
)
async def sessions_send_tool(arguments: SendArguments, context: ToolContext) -> ToolResult:
    """Sends a message to another session, where its own run answers it. The answer stays there."""
    run_id = await _sessions(context).send(arguments.session_key, arguments.message)
    return ToolResult(
        f"Sent. Run {run_id} answers it there; sessions_history shows the answer when it is done.", origin="own"
    )


def _sessions(context: ToolContext) -> Sessions:
    if context.sessions is None:
        raise ToolError("Other sessions cannot be reached from here.")
    return context.sessions


def _holds(session: OtherSession, words: Sequence[str]) -> bool:
    text = f"{session.title} {session.preview}".casefold()
    return all(word in text for word in words)


def _line(session: OtherSession) -> str:
    preview = f": {session.preview}" if session.preview else ""
    return f"{session.session_key} | {session.updated_at} | {session.title}{preview}"


def _newest(history: Sequence[SessionMessage], most_chars: int) -> list[str]:
    """As many of the newest messages as fit, at least one, in chronological order."""
    parts: list[str] = []
    for one in reversed(history):
        calls = f"\n(called {', '.join(one.tools)})" if one.tools else ""
        part = f"{one.at} {one.who}: {head_and_tail(one.text, MAX_HISTORY_CHARS)}{calls}"
        most_chars -= len(part) + 2
        if parts and most_chars < 0:
            break
        parts.insert(0, part)
    return parts
