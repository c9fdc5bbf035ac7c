"""Whether a request needs a cell, words, or another action. In doubt it is a cell: a wrong one costs only a card.

A wrong "words" is the serious mistake, since a small model then invents a number.
"""

from __future__ import annotations

import re
from typing import Literal

from onyx_jupyter.cell_mode.action_requests import action_request
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts

Kind = Literal["cell", "words", "remember", "action"]

_REMEMBER = re.compile(
    r"^\s*(?:please\s+)?(?:remember|note|keep in mind|don't forget)\b(?:\s+that\b)?[\s:,]*(?P<what>.+)", re.I | re.S
)
_GREETING = re.compile(
    r"^\s*(?:hi|hello|hey|thanks?|thank you|good (?:morning|afternoon|evening|day)|bye|ok(?:ay)?|great|nice|cool)\b"
    r"[\s,.!a-z]{0,40}$",
    re.I,
)
_GREETING_WORDS = 2
_ABOUT_ONYX = re.compile(
    r"\b(?:who are you|what can (?:you|i) (?:do|ask)|your name|how (?:can|do) you (?:help|work))\b", re.I
)
_EXPLAIN = re.compile(
    r"^\s*(?:please\s+|can you\s+|could you\s+)*"
    r"(?:explain|describe|summari[sz]e|walk me through|tell me (?:about|what)|what (?:does|do|is|are)|what's"
    r"|why (?:do|does|is|are|did)|how (?:do|does|can|should|would))\b",
    re.I,
)
_NOTEBOOK = re.compile(
    r"\b(?:(?:this|the|my|that) (?:notebook|cell|code|function|error|traceback|output|plot|chart|figure)"
    r"|cell \d+|here)\b",
    re.I,
)
_TO_DO = re.compile(
    r"\b(?:plot|draw|chart|graph|histogram|compute|calculate|count|mean|average|median|sum|total|correlat\w*|regress\w*"
    r"|predict|train|fit|cluster|group|sort|filter|merge|join|pivot|load|read|save|export|add a cell|insert|run"
    r"|how many|how much|which|percent\w*|share|rate|ratio|distribution|outliers?|highest|lowest|largest|smallest"
    r"|maximum|minimum|max|min|top|most|least|standard deviation|variance|skew\w*|missing|duplicat\w*|unique)\b",
    re.I,
)
_FIGURES = re.compile(r"\b(?:how many|how much|compute|calculate|count|plot|draw|add|insert|make)\b", re.I)
_GENERAL = re.compile(
    r"\b(?:(?:what|is|are|explain|describe|'s) an?|in general|the difference between|mean(?:s|ing) of"
    r"|pandas|numpy|python|matplotlib|sklearn|scikit)\b",
    re.I,
)


def kind_of(request: str, facts: NotebookFacts, *, follows: bool = False) -> Kind:
    """Decided by the words of the request and the names of the data; `follows` says that it is not the first request.

    The words are English. In another language, a word or two in the first request are a greeting, and all else is a
    cell.
    """
    if remembered(request):
        return "remember"
    if action_request(request, facts, names_data=names_data(request, facts)) is not None:
        return "action"
    if _GREETING.match(request) or _ABOUT_ONYX.search(request):
        return "words"
    if names_data(request, facts):
        return "cell"
    explains = _EXPLAIN.match(request) is not None
    if explains and _NOTEBOOK.search(request) and not _FIGURES.search(request):
        return "words"
    if explains and _GENERAL.search(request):
        return "words"
    if not follows and len(request.split()) <= _GREETING_WORDS and not _TO_DO.search(request):
        return "words"
    if facts.path is None and not _TO_DO.search(request):
        return "words"
    return "cell"


def remembered(request: str) -> str | None:
    """What the user wants remembered; None for any other request."""
    found = _REMEMBER.match(request)
    return found["what"].strip() if found and not request.rstrip().endswith("?") else None


def names_data(request: str, facts: NotebookFacts) -> bool:
    """Whether the request contains the name of a table, a file or a column."""
    text = request.lower()
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for name in facts.names())
