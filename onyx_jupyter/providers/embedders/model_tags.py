"""What stands behind a model's name to tell it from others of that name. It never asks anybody for it."""

from __future__ import annotations

import hashlib
import re

_DIGITS = 8
_MARK = re.compile(r"@[0-9a-f]{8,12}$")


def marked(model: str, mark: str) -> str:
    """`mark` are 8 to 12 hex digits."""
    return f"{model}@{mark}"


def mark_of(text: str) -> str:
    """The same digits for the same text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def unmarked(model: str) -> str:
    """As a person knows it."""
    return _MARK.sub("", model)
