"""Marks appended to a model's name to tell it from others of that name."""

from __future__ import annotations

import hashlib
import re

_DIGITS = 8
_MARK = re.compile(r"@[0-9a-f]{8,12}$")


def marked(model: str, mark: str) -> str:
    """`mark` is 8 to 12 hex digits."""
    return f"{model}@{mark}"


def tag_of(text: str) -> str:
    """Hex digits that depend only on the text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def unmarked(model: str) -> str:
    """The name as a person knows it."""
    return _MARK.sub("", model)
