"""Parses JSON5 and records the line of each key, so that an error can point there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import json5

Path = tuple[str | int, ...]

TOKEN = re.compile(
    r"""(?P<space>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
      | (?P<mark>[{}\[\]:,])
      | (?P<word>[^\s{}\[\]:,"'/]+)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Document:
    """A parsed file; `lines` gives the line (from 1) of every key and list item by its path. Cached: do not modify."""

    value: Any
    lines: dict[Path, int]

    def line_of(self, path: Path) -> int | None:
        """The line of that key, or of its nearest ancestor in the file."""
        return next((self.lines[path[:end]] for end in range(len(path), 0, -1) if path[:end] in self.lines), None)


# Called at each start and whenever the folder changes, mostly with the same text; parsing takes milliseconds per line.
@lru_cache(maxsize=1)
def parse(text: str) -> Document:
    """Raises: ValueError with the line, if the text is not JSON5 or a key appears twice."""
    if not _has_content(text):
        return Document({}, {})
    value = json5.loads(text, allow_duplicate_keys=False)
    return Document(value, dict(_positions(text)))


def _has_content(text: str) -> bool:
    return any(match.lastgroup != "space" for match in TOKEN.finditer(text))


def _positions(text: str) -> Iterator[tuple[Path, int]]:
    """Walks the tokens of a text that is known to be valid; a `mark` opens, closes or separates."""
    path: list[str | int] = []
    kinds: list[str] = []
    expects_key = False
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group()
        if kind == "space":
            continue
        line = text.count("\n", 0, match.start()) + 1
        if expects_key and token not in "}":
            path[-1] = str(json5.loads(token)) if kind == "string" else token
            expects_key = False
            yield tuple(path), line
            continue
        if kinds and kinds[-1] == "[" and token not in ("]", ","):
            yield tuple(path), line
        if token == "{":
            kinds.append(token)
            path.append("")
            expects_key = True
        elif token == "[":
            kinds.append(token)
            path.append(0)
        elif token in ("}", "]"):
            kinds.pop()
            path.pop()
            expects_key = False
        elif token == ",":
            _next_item(path, kinds)
            expects_key = kinds[-1] == "{"


def _next_item(path: list[str | int], kinds: list[str]) -> None:
    last = path[-1]
    if kinds[-1] == "[" and isinstance(last, int):
        path[-1] = last + 1
