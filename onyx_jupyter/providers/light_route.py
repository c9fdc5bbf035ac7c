"""Leads the tiny embedded model: what it is asked to do, and what it is spared. It reads words and calls nothing.

A model of 135 million parameters picks an action nearly at random when it is offered one, yet answers a plain question
readably. So tools are offered only where the words of the last message ask for something to be done. And it invents
what a command printed, so after a result the result itself is shown instead of the model's account of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from onyx_jupyter.messages import Message, ToolDefinition
from onyx_jupyter.security.external_content import unfenced

_QUOTED_CHARS = 600
_ACTIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), tool)
    for pattern, tool in (
        (r"\b(run|execute|shell|command|terminal|list (the )?files|ls|pwd)\b|`[^`]+`", "exec"),
        (r"\b(add|insert|append|create|make|write|put)\b.*\b(cell|notebook)\b", "notebook_insert_cell"),
        (r"\b(change|edit|replace|fix|update)\b.*\b(cell|notebook)\b", "notebook_edit_cell"),
        (r"\b(run|execute)\b.*\bcell\b", "notebook_run_cell"),
        (r"\b(read|show|see|summari[sz]e|look|what)\b.*(\b(this|the|my) notebook\b|\.ipynb\b)", "notebook_read"),
        (r"\b(remember|note that|keep in mind|don't forget)\b", "memory_write"),
        (r"\b(what do you (know|remember)|recall|your memory)\b", "memory_get"),
        (r"\b(what do you (know|remember)|recall|your memory)\b", "memory_search"),
    )
)

_EXPLAIN = re.compile(
    r"^\s*(how|why|when|explain|tell me (about|how)|can you explain|what (is|are|does|do|can) (a|an|the|you|it)\b)"
    r"(?!.*\.ipynb\b)(?!.*\b(know|remember)\b)",
    re.IGNORECASE,
)

# What stands in the result of a call that was not allowed; the second is the words for a no without a reason.
_DENIED = re.compile(r"Denied(?:\.|: (?P<reason>.+))", re.DOTALL)
_NO_FROM_THE_USER = re.compile(r"The user said no\b[^.]*\.")


def wanted_tools(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> list[ToolDefinition]:
    """The tools that the last message asks for; none after a result, and none for a plain question."""
    if not messages or messages[-1].role != "user":
        return []
    text = messages[-1].content
    if _EXPLAIN.search(text):
        return []
    wanted = {tool for pattern, tool in _ACTIONS if pattern.search(text)}
    wanted |= {tool.name for tool in tools if re.search(rf"\b{re.escape(tool.name)}\b", text)}
    return [tool for tool in tools if tool.name in wanted]


def result_in_words(messages: Sequence[Message]) -> str | None:
    """The answer after tool results: the results themselves, shortened; None where no result came last."""
    results = list(takewhile(lambda message: message.role == "tool", reversed(messages)))
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    parts = [_quote(names.get(result.tool_call_id or "", "The tool"), result.content) for result in reversed(results)]
    return "\n\n".join(parts) or None


def _quote(name: str, output: str) -> str:
    output = unfenced(output).strip()  # a person reads this
    if not output:
        return f"`{name}` is done; it had nothing to say."
    if denied := _DENIED.fullmatch(output):
        reason = denied["reason"] or "It was not allowed."
        return f"`{name}` was not done. {_NO_FROM_THE_USER.sub('You said no.', reason)}"
    if len(output) > _QUOTED_CHARS:
        output = f"{output[:_QUOTED_CHARS].rstrip()}\n…"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", output)), default=0))
    return f"`{name}` answered:\n\n{fence}\n{output}\n{fence}"
