"""Matches tools by name or by family, as the configuration lists them."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Sequence
from typing import Any

from onyx_jupyter.errors import InvalidArguments
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.toolsets.tool import Tool

GROUP = "group:"
# A skill's tool exists only as long as the skill does.
SKILLS, SKILL_PREFIX = "skills", "skill_"
# The family of tools defined in an agent's own files.
WORKSPACE = "workspace"


def is_allowed(tool: Tool[Any], allow: Collection[str] | None, deny: Collection[str]) -> bool:
    """`allow` None means all; deny wins. Names that no tool has are ignored."""
    return not is_named(tool, deny) and (allow is None or is_named(tool, allow))


def is_named(tool: Tool[Any], names: Collection[str]) -> bool:
    """Whether one of the names is the tool's own or its family's."""
    return not _names(tool).isdisjoint(names)


def is_denied(name: str, denied: Collection[str], tools: Sequence[Tool[Any]]) -> bool:
    """Whether these names deny the tool with that name; a skill's tool need not be among `tools`."""
    if name in denied or (name.startswith(SKILL_PREFIX) and GROUP + SKILLS in denied):
        return True
    return any(tool.name == name and is_named(tool, denied) for tool in tools)


def names_in(call: ToolCall, tools: Sequence[Tool[Any]]) -> Sequence[str]:
    """The call's own tool and those whose work it also does; only the former if the arguments are invalid."""
    tool = next((tool for tool in tools if tool.name == call.name), None)
    try:
        also = tool.also(tool.check(call.arguments)) if tool else ()
    except InvalidArguments:
        also = ()
    return (call.name, *also)


def unknown_names(key: str, names: Collection[str], tools: Sequence[Tool[Any]]) -> tuple[str, ...]:
    """Messages for the user about names under that configuration key that match nothing."""
    known = [GROUP + SKILLS, GROUP + WORKSPACE, *(name for tool in tools for name in _names(tool))]
    unknown = [name for name in names if name not in known and not name.startswith(SKILL_PREFIX)]
    return tuple(_problem(key, name, known) for name in unknown)


def _names(tool: Tool[Any]) -> set[str]:
    return {tool.name, GROUP + tool.family} if tool.family else {tool.name}


def _problem(key: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(dict.fromkeys(known))}."
    return f"{key} names {name!r}, and there is no such tool or group. {hint}"
