"""What each family of tools is for, and the words of a request that ask for it.

A small model is shown few tools, and further families only when a message names them. The words are English; in other
languages such a model finds a family through `more_tools`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onyx_jupyter.toolsets.tool import Tool


@dataclass(frozen=True)
class Family:
    """`words` is a pattern of whole words that ask for the family; `about` adds what its name does not say."""

    words: str
    about: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Case-insensitive."""
        return re.compile(rf"\b(?:{self.words})\b", re.IGNORECASE)


_ASKING_CHARS = 600
# Table files are not in `fs`: they are read in a cell.
FAMILIES: Mapping[str, Family] = {
    "notebook": Family(
        r"(?:new|create|make|list|which|other) (?:\w+ ){0,3}notebooks?"
        r"|(?:delete|remove|move|find|run|all) (?:\w+ ){0,3}cells?|run all|restart"
    ),
    "kernel": Family(r"variables?|data ?frames?|kernel|in memory", "variables"),
    "fs": Family(r"files?|folders?|director(?:y|ies)|\w+\.(?:txt|md|py|ya?ml|toml|json|log|ini|cfg)", "files"),
    "process": Family(r"shell|terminal|commands?|git|pip|conda|install|packages?", "shell"),
    "memory": Family(r"remember|forget|memory|memories|notes?|noted|know about me"),
    "chat": Family(r"ask me|plan"),
    "web": Family(r"web|internet|online|https?|urls?|websites?|web ?pages?|download"),
    "knowledge": Family(r"documents?|pdfs?|papers?|manuals?|knowledge", "documents"),
    "sessions": Family(r"sessions?|conversations?|chats?|talked|discussed|last time"),
    "schedule": Family(
        r"schedules?|scheduled|remind|reminders?|cron|daily|weekly|hourly"
        r"|every (?:day|morning|evening|night|week|month|hour|minute|\d+ \w+)"
    ),
    "skills": Family(r"skills?"),
}


def named_in(text: str, tools: Sequence[Tool[Any]]) -> list[Tool[Any]]:
    """The tools whose family the text names in its beginning or end: the middle may be pasted content."""
    asking = f"{text[:_ASKING_CHARS]}\n{text[_ASKING_CHARS:][-_ASKING_CHARS:]}"
    asked = {name for name, family in FAMILIES.items() if family.pattern.search(asking)}
    return [tool for tool in tools if tool.family in asked]
