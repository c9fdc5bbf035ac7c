"""Whether the names in an answer occur in its sources, and whether something it denies is there after all.

A small model mentions people and places that never occurred, and overlooks those that did.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"(?<!\w)[A-Z][a-z]\w*")
_WORD = re.compile(r"\w+")
_DENIES = re.compile(
    r"\b(?:nothing|no mention|no information|not (?:mention|say|contain|include)\w*|n't)\b", re.IGNORECASE
)
_NAME_CANDIDATE = re.compile(r"(?<![\w/.])(?:[A-Z]\w{2,}|\w{5,})(?![\w/]|\.\w)")
_ASKING_WORDS = (
    "about could does everything file found know mention notes please read remember says summarise summarize summary "
    "tell what when where which"
)
_ASKING = frozenset(_ASKING_WORDS.split())
_OPENING = ' *“”"()-'
_ENDS = ".!?:\n"


def unfounded_name(text: str, known: Iterable[str]) -> str | None:
    """The first capitalized word inside a sentence that occurs in none of the texts; None if all do."""
    words = {word.lower() for one in known for word in _WORD.findall(one)}
    for found in _NAME.finditer(text):
        before = text[: found.start()].rstrip(_OPENING)
        begins = not before or before[-1] in _ENDS
        if not begins and found[0].lower() not in words:
            return found[0]
    return None


def denied_lines(answer: str, found: str, request: str) -> str:
    """The lines about the subject of the request, if the answer says that there are none.

    All lines if the request has no particular subject: then there is something.
    """
    if not _DENIES.search(answer):
        return ""
    sought = {word.lower() for word in _NAME_CANDIDATE.findall(request)} - _ASKING
    if not sought:
        return found
    return "\n".join(line for line in found.splitlines() if sought & {word.lower() for word in _WORD.findall(line)})
