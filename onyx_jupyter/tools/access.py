"""Which tools an agent has: `tools.allow` and `tools.deny`, by name or by family. It never judges a single call."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.tools.spec import Tool

GROUP = "group:"


@dataclass(frozen=True, slots=True)
class ToolAccess:
    """The tools that are left, and what to tell the person about names that mean nothing."""

    tools: Sequence[Tool[Any]]
    problems: tuple[str, ...]


def allowed_tools(tools: Sequence[Tool[Any]], allow: Collection[str] | None, deny: Collection[str]) -> ToolAccess:
    """`allow` None means all; deny wins. A name that no tool has allows and denies nothing, and is a problem."""
    known = [name for tool in tools for name in _names(tool)]
    kept = [tool for tool in tools if not _names(tool) & set(deny) and (allow is None or _names(tool) & set(allow))]
    lists = (("allow", allow or ()), ("deny", deny))
    problems = tuple(_problem(key, name, known) for key, names in lists for name in names if name not in known)
    return ToolAccess(kept, problems)


def _names(tool: Tool[Any]) -> set[str]:
    return {tool.name, GROUP + tool.family} if tool.family else {tool.name}


def _problem(key: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(dict.fromkeys(known))}."
    return f"tools.{key} names {name!r}, and there is no such tool or group. {hint}"
