"""Finds the columns that a text mentions, so that a small model sees more of those and less of the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[\W_]+")
_SHORTEST = 3
_SHORTEST_BEGINNING = 4
_STOP_WORDS = frozenset(
    ["the", "and", "for", "per", "num", "number", "value", "values", "with", "from", "column", "total", "mean", "avg"]
)


def named_columns(names: Iterable[str], text: str) -> tuple[str, ...]:
    """The columns whose name occurs in the text, then those that share a word with it, in any form."""
    every = list(names)
    plain, words = _plain(text), {word.lower() for word in _WORD.findall(text)}
    whole = [name for name in every if _is_whole(name, plain, words)]
    request_words = _significant_words(text)
    return (
        *whole,
        *(name for name in every if name not in whole and _shares_word(_significant_words(name), request_words)),
    )


def _is_whole(name: str, plain: str, words: Set[str]) -> bool:
    signs_off = _plain(name)
    return signs_off in plain if len(signs_off) >= _SHORTEST else name.strip().lower() in words


def _significant_words(text: str) -> set[str]:
    return {part.lower() for part in _PART.findall(text) if len(part) >= _SHORTEST} - _STOP_WORDS


def _shares_word(parts: Set[str], request_words: Set[str]) -> bool:
    """'wait' and 'waiting' count as one word, as do 'fares' and 'fare'."""
    return any(
        part == word or (min(len(part), len(word)) >= _SHORTEST_BEGINNING and _begins(part, word))
        for part in parts
        for word in request_words
    )


def _begins(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _plain(text: str) -> str:
    return _SIGNS.sub("", text).lower()
