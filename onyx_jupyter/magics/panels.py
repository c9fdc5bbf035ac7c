"""The widgets that a notebook can show: a skill's form, a memory search, a table of usage."""

from __future__ import annotations

import html
from typing import Any

from IPython import get_ipython

from onyx_jupyter.errors import MagicError
from onyx_jupyter.magics.commands import ago, place
from onyx_jupyter.magics.connection import ServerConnection
from onyx_jupyter.magics.kernel_facts import KernelFacts, kernel_facts
from onyx_jupyter.magics.onyx_magic import connected
from onyx_jupyter.magics.skill_form import SkillForm
from onyx_jupyter.magics.widget_library import note, widgets

PASSAGES = 12
SESSIONS = 100
_CELL = 'style="text-align: left; padding: 2px 12px 2px 0"'


def skill_form(name: str, agent: str | None = None) -> Any:
    """Raises: MagicError."""
    form = SkillForm(name, _facts(), agent)
    form.widget.form = form  # for use from code
    return form.widget


def memory_search(query: str = "", agent: str | None = None) -> Any:
    """Searches passages and shows them with their file and lines. Raises: MagicError."""
    library = widgets()
    facts = _facts()
    words = library.Text(value=query, placeholder="Search memory", continuous_update=False)
    found = library.HTML()

    def search(_: object = None) -> None:
        found.value = _passages(facts, words.value.strip(), agent)

    words.observe(search, names="value")
    search()
    return library.VBox([words, found])


def usage() -> Any:
    """The newest sessions with their messages and tokens, and the sum. Raises: MagicError."""
    library = widgets()
    with connected(_facts()) as connection:
        return library.HTML(_usage_table(connection))


def _facts() -> KernelFacts:
    shell = get_ipython()
    if shell is None:
        raise MagicError("no_kernel", "This works only in a notebook or in IPython.")
    return kernel_facts(shell)


def _passages(facts: KernelFacts, query: str, agent: str | None) -> str:
    if not query:
        return ""
    asked: dict[str, Any] = {} if agent is None else {"agentId": agent}
    try:
        with connected(facts) as connection:
            answer = connection.request("memory.search", query=query, limit=PASSAGES, **asked)
    except MagicError as error:
        return note(str(error), is_problem=True)
    limits = note(answer.get("note") or "")
    if not answer["results"]:
        return note("Nothing found in memory.") + limits
    return limits + "".join(
        f"<p><code>{html.escape(place(one))}</code> "
        f"{note(one['heading'])}<br>{html.escape(one['snippet']).replace(chr(10), '<br>')}</p>"
        for one in answer["results"]
    )


def _usage_table(connection: ServerConnection) -> str:
    listed = connection.request("sessions.list", limit=SESSIONS)
    sessions = sorted(listed["sessions"], key=lambda one: one["tokenCount"], reverse=True)
    total = sum(one["tokenCount"] for one in sessions)
    rows = [(one["title"], one["messageCount"], one["tokenCount"], ago(one["updatedAt"])) for one in sessions]
    head = f"<tr>{''.join(f'<th {_CELL}>{name}</th>' for name in ('session', 'messages', 'tokens', 'used'))}</tr>"
    body = "".join(
        f"<tr><td {_CELL}>{html.escape(title)}</td><td {_CELL}>{messages:,}</td>"
        f"<td {_CELL}>{tokens:,}</td><td {_CELL}>{used}</td></tr>"
        for title, messages, tokens, used in rows
    )
    older = f"; {listed['total'] - len(sessions)} older ones are not shown" if listed["total"] > len(sessions) else ""
    return f"<table>{head}{body}</table>{note(f'{total:,} tokens in {len(sessions)} sessions{older}')}"
