"""Finds the columns that a text mentions, and those that it groups by, if the words are unambiguous."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from dataclasses import dataclass

from onyx_jupyter.cell_mode.notebook_facts import Column, Frame

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[\W_]+")
_SHORTEST = 3
_SHORTEST_BEGINNING = 4
_STOP_WORDS = frozenset(
    ["the", "and", "for", "per", "num", "number", "value", "values", "with", "from", "column", "total", "mean", "avg"]
)
_BY = re.compile(
    r"\b(?:by|per|for each|of each|across)\s+(?:the |a |an |number of |each )*(?P<groups>[^.,;:?!\n]+)", re.I
)
_WHICH = re.compile(r"\bwhich\s+(?P<groups>\w+)", re.I)
_AND = re.compile(r"\band\b|\bby\b|×")
_OF_NUMBERS = re.compile(r"^(?:u?int|float|bool|double|decimal)", re.I)
_SHARE = re.compile(r"\b(?:rates?|shares?|percentages?|proportions?)\b", re.I)
_MAX_GROUPS = 2


def named_columns(names: Iterable[str], text: str) -> tuple[str, ...]:
    """The columns whose name occurs in the text, then those that share a word with it, in any form."""
    every = list(names)
    plain, words = plain_name(text), {word.lower() for word in _WORD.findall(text)}
    whole = [name for name in every if _is_whole(name, plain, words)]
    request_words = _significant_words(text)
    return (
        *whole,
        *(name for name in every if name not in whole and _shares_word(_significant_words(name), request_words)),
    )


def _is_whole(name: str, plain: str, words: Set[str]) -> bool:
    signs_off = plain_name(name)
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


def plain_name(text: str) -> str:
    """Without blanks, signs and capitals."""
    return _SIGNS.sub("", text).lower()


@dataclass(frozen=True, slots=True)
class AskedGroups:
    """The columns; no groups, or None as the value, if it is not certain which are meant."""

    groups: tuple[str, ...] = ()
    value: str | None = None


def asked_groups(request: str, frame: Frame) -> AskedGroups:
    """The columns of this table meant by `rate by contract and sex`, or `which species … on average`."""
    found = _BY.search(request) or _WHICH.search(request)
    if found is None:
        return AskedGroups()
    names = [column.name for column in frame.columns]
    parts = [part for part in _AND.split(found["groups"]) if part.strip()]
    meant = [_the_one(names, part) for part in parts[:_MAX_GROUPS]]
    groups = tuple(name for name in meant if name is not None)
    if not groups or meant[0] is None:
        return AskedGroups()
    others = [column for column in frame.columns if column.name not in groups]
    return AskedGroups(groups, _value(others, request[: found.start("groups")]))


def _value(columns: list[Column], words: str) -> str | None:
    numbers = [column for column in columns if _OF_NUMBERS.match(column.dtype)]
    if (name := _the_one([column.name for column in numbers], words)) is not None:
        return name
    yes_no = [column.name for column in numbers if column.dtype.startswith("bool")]
    return yes_no[0] if len(yes_no) == 1 and _SHARE.search(words) else None


def _the_one(names: list[str], words: str) -> str | None:
    """The only column mentioned; None if there is none, or several."""
    named = named_columns(names, words)
    return named[0] if len(named) == 1 else None
