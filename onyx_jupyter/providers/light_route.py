"""Decides for the tiny embedded model whether a question needs an action at all. It reads the last message only.

A model of 135 million parameters picks an action nearly at random when it is offered one, yet answers a plain question
readably. So tools are offered only where the words ask for something to be done, and never twice in a row: after a
result the model says in words what came out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onyx_jupyter.messages import Message, ToolDefinition

_ACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), tool)
    for pattern, tool in (
        (r"\b(run|execute|shell|command|terminal|list (the )?files|ls|pwd)\b|`[^`]+`", "exec"),
        (r"\b(add|insert|append|create|make|write|put)\b.*\b(cell|notebook)\b", "notebook_insert_cell"),
        (r"\b(change|edit|replace|fix|update)\b.*\b(cell|notebook)\b", "notebook_edit_cell"),
        (r"\b(run|execute)\b.*\bcell\b", "notebook_run_cell"),
        (r"\b(read|show|see|summari[sz]e|look|open|what)\b.*(\bnotebook\b|\.ipynb\b)", "notebook_read"),
        (r"\b(remember|note that|keep in mind|don't forget)\b", "memory_write"),
        (r"\b(what do you (know|remember)|recall|your memory)\b", "memory_get"),
        (r"\b(what do you (know|remember)|recall|your memory)\b", "memory_search"),
    )
)


def wanted_tools(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """The tools that the last message asks for; none after a result, and none for a plain question."""
    if not messages or messages[-1].role != "user":
        return []
    text = messages[-1].content
    wanted = {tool for pattern, tool in _ACTIONS if pattern.search(text)}
    wanted |= {tool.name for tool in tools if re.search(rf"\b{re.escape(tool.name)}\b", text)}
    return [tool for tool in tools if tool.name in wanted]
