"""The read-only commands of `%onyx`: sessions, memory, help."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.arguments import Options
from onyx_jupyter.magics.connection import ServerConnection
from onyx_jupyter.magics.tool_words import code, escaped

SESSIONS = 20
PASSAGES = 6
HELP = """\
**Onyx in a cell**

| | |
|---|---|
| `%onyx question` | ask; the answer streams below. The question may end in `?` |
| `%%onyx [options]` and a cell | ask a longer question; the first line may contain options |
| `{name}`, `{df.head()}` | insert a variable or a simple expression; DataFrames as a short summary; `{{` is a brace |
| `%onyx sessions` | the newest sessions, with their keys |
| `%onyx memory words` | search the agent's memory by keyword and by meaning |
| `%onyx memory --since 2026-03-01 --until 2026-03-31 words` | only these dates, both included |
| `%onyx skill name key=value …` | run a notebook skill; a value may be `{variable}` |
| `%onyx help` | this help |

| option | |
|---|---|
| `--out name` | store the answer in a variable, as text |
| `--out name --schema S` | as JSON that matches a JSON schema: a variable's name, or `{…}` |
| `--out name --out-type T` | `str`, `json` or `frame` (a pandas DataFrame of the first table) |
| `--code` | insert the answer's code as the next cell |
| `--agent id` | use another agent |
| `--session key` | use another session for this question; `new` starts a new one and keeps using it |
| `--model provider/model` | use another model from this question on |
| `--mode ask` | `ask` (read-only), `agent` (asks before each change) or `auto` |
| `--` | end of options: the rest is a question, even if it starts with a command name |

Options apply to questions. `sessions`, `memory` and `skill` take `--agent`, before or after their name; `skill` also
takes `--out name`, for its text.

Onyx asks here, in the cell, before it writes, runs or reaches the network. Interrupt the cell to stop the answer.
"""


def sessions(connection: ServerConnection, own: Collection[str], agent: str | None = None) -> str:
    """The newest sessions, of all agents or one, as a Markdown table; those of this kernel are marked."""
    asked: dict[str, Any] = {"agentId": agent} if agent is not None else {}
    listed = connection.request("sessions.list", limit=SESSIONS, **asked)
    if not listed["sessions"]:
        return "There are no sessions yet."
    rows = [_session_row(session, session["sessionKey"] in own) for session in listed["sessions"]]
    left = listed["total"] - len(rows)
    table = "\n".join(["| | session | used | messages | key |", "|---|---|---|---|---|", *rows])
    return f"{table}\n\n{left} older sessions are in the sidebar." if left > 0 else table


def memory(connection: ServerConnection, query: str, options: Options) -> str:
    """The passages as Markdown, best first, each with its place. Raises: MagicError (usage).

    It uses the options for the agent, and for the first and the last day to search.
    """
    if not query:
        raise MagicError("usage", "%onyx memory needs search words.", hint="For example: %onyx memory fiscal year")
    given = {"agentId": options.agent, "since": options.since, "until": options.until}
    asked: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    answer = connection.request("memory.search", query=query, limit=PASSAGES, **asked)
    days = " for these dates" if options.since or options.until else ""
    parts = [passage_markdown(passage) for passage in answer["results"]] or [
        f"Nothing found in memory{days}: {escaped(query)}.",
        f"To ask the agent instead: {code(f'%onyx -- memory {query}')}",
    ]
    if answer.get("note"):
        parts.append(f"*{escaped(answer['note'])}*")
    return "\n\n".join(parts)


def passage_markdown(passage: Mapping[str, Any]) -> str:
    """`MEMORY.md:3–4 · Work`, and the words below it."""
    heading = f" · {escaped(passage['heading'])}" if passage["heading"] else ""
    quoted = "\n".join(f"> {escaped(line)}  " for line in str(passage["snippet"]).splitlines())
    return f"{code(place(passage))}{heading}\n\n{quoted}"


def place(passage: Mapping[str, Any]) -> str:
    """`MEMORY.md:3–4`."""
    first, last = passage["startLine"], passage["endLine"]
    return f"{passage['path']}:{first}" + (f"–{last}" if last > first else "")


def ago(moment: str) -> str:
    """`3 h ago`, from ISO 8601 in UTC."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    seconds = (datetime.now(UTC) - then).total_seconds()
    for unit_s, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= unit_s:
            return f"{int(seconds // unit_s)} {name} ago"
    return "now"


def _session_row(session: Mapping[str, Any], is_own: bool) -> str:
    cells: Sequence[str] = (
        "●" if is_own else "",
        escaped(session["title"]),
        ago(session["updatedAt"]),
        str(session["messageCount"]),
        code(session["sessionKey"]),
    )
    return f"| {' | '.join(cells)} |"
