"""What is wrong with the configuration, in words: where, which key, what is allowed, and what holds instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from pydantic_core import ErrorDetails

from onyx_jupyter.config.json5_lines import Path

# Where API keys are set, and which values there can still be shown: a key is easily put one level too high.
_KEY_PLACES = (("providers",), ("tools", "web"), ("acp", "agents"))
_SHOWN_OF_THEM = ("baseUrl", "toolMode", "effort", "search", "searxngUrl", "allowPrivate", "command", "cwd")
_USER_IN_URL = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_LONGEST_VALUE = 60
# Above this likeness (0 to 1), a key is taken for a misspelling of another one.
_ALIKE = 0.75
_LONGEST_PREFIX = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """An error (the value is refused), a warning (it has no effect), or a notice (it works, and should be elsewhere).

    `key` is the dotted path, `line` counts from 1; a value of the environment has its `variable` instead of a line.
    """

    severity: Literal["error", "warning", "notice"]
    message: str
    key: str | None = None
    line: int | None = None
    variable: str | None = None

    def __str__(self) -> str:
        return self.message


def dotted(path: Path) -> str:
    """agents.list[0].name"""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def at_line(line: int | None) -> str:
    return f", line {line}" if line else ""


def what_is_wrong(error: ErrorDetails, path: Path) -> str:
    """Key, value and what is allowed, without a full stop; the value is left out where it may be a secret."""
    subject = dotted(path)
    if error["type"] == "missing":
        subject += " is missing"
    elif error["type"] not in ("value_error", "conflict") and not _may_be_secret(path):
        subject += f" is {_shown(error['input'])}"
    return f"{subject}: {_reason(error)}"


def suggestion(key: str, known: Iterable[str]) -> str:
    """The closest known key, and all of them."""
    names = sorted(known)
    close = misspelt(key, names) or next(iter(difflib.get_close_matches(key, names, n=1)), None)
    return (f" Did you mean {close!r}?" if close else "") + f" Known here: {', '.join(names)}."


def misspelt(key: str, known: Iterable[str]) -> str | None:
    """The known key that this one is most likely meant to be."""
    names = {name.lower(): name for name in known}
    begun = (low for low in names if len(low) >= _LONGEST_PREFIX and key.lower().startswith(low))
    close = difflib.get_close_matches(key.lower(), names, n=1, cutoff=_ALIKE)
    return next((names[low] for low in (*close, *begun)), None)


def _reason(error: ErrorDetails) -> str:
    if error["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return "it should be an object ({…})"
    reason = error["msg"].removeprefix("Value error, ")
    return reason[0].lower() + reason[1:]


def _may_be_secret(path: Path) -> bool:
    """Where API keys are set, only values that cannot be one are shown."""
    stands_there = any(path[: len(place)] == place for place in _KEY_PLACES)
    return stands_there and path[-1] not in _SHOWN_OF_THEM


def _shown(value: Any) -> str:
    text = _USER_IN_URL.sub("…", repr(value))
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "…"
