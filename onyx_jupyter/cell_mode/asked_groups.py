"""The columns that a request groups by, and the column of its value, if the words are unambiguous."""

from __future__ import annotations

import re
from dataclasses import dataclass

from onyx_jupyter.cell_mode.facts import Column, Frame
from onyx_jupyter.cell_mode.named_columns import named_columns

_BY = re.compile(
    r"\b(?:by|per|for each|of each|across)\s+(?:the |a |an |number of |each )*(?P<groups>[^.,;:?!\n]+)", re.I
)
_WHICH = re.compile(r"\bwhich\s+(?P<groups>\w+)", re.I)
_AND = re.compile(r"\band\b|\bby\b|×")
_OF_NUMBERS = re.compile(r"^(?:u?int|float|bool|double|decimal)", re.I)
_SHARE = re.compile(r"\b(?:rates?|shares?|percentages?|proportions?)\b", re.I)
_MAX_GROUPS = 2


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
