"""What each family of tools is for, and the words of a request that ask for it. It decides nothing about a call.

A small model is told of few tools, and of a further family where a message names it. The words are English; in other
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
    """`words` is a pattern of whole words that ask for it; `about` says what its name does not."""

    words: str
    about: str = ""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Upper and lower case are the same."""
        return re.compile(rf"\b(?:{self.words})\b", re.IGNORECASE)


_ASKING_CHARS = 600
# A table's file is no matter of `fs`: it is read in a cell.
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
    "skills": Family(r"skills?"),
}


def named_in(text: str, tools: Sequence[Tool[Any]]) -> list[Tool[Any]]:
    """Those of the tools whose family the text asks for, where it begins or ends: between may be what was pasted."""
    asking = f"{text[:_ASKING_CHARS]}\n{text[_ASKING_CHARS:][-_ASKING_CHARS:]}"
    asked = {name for name, family in FAMILIES.items() if family.pattern.search(asking)}
    return [tool for tool in tools if tool.family in asked]
