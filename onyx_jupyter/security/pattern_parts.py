"""The parts of a secret's shape: words, runs of characters, and sequences of them.

Each part is possessive (it never backtracks), so a match takes time linear in what it reads. Whether a text that ends
inside a part may continue it can be told from the parts alone, which a stream needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol


class Part(Protocol):
    """A piece of a shape as two regular expressions."""

    @property
    def pattern(self) -> str:
        """The whole part."""
        ...

    @property
    def begun(self) -> str:
        """What a text may end with inside of the part, including the text's end (`\\Z`)."""
        ...


@dataclass(frozen=True, slots=True)
class Literals:
    """The first of these texts that matches; if one begins with another, list the longer one first."""

    texts: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"(?>{'|'.join(map(re.escape, self.texts))})"

    @property
    def begun(self) -> str:
        return prefixes_of(self.texts) + r"\Z"


@dataclass(frozen=True, slots=True)
class Run:
    """`least` to `most` characters (None: any number) of a class, a regular expression for one character.

    `secret` marks what is hidden; if no part has it, the whole match is hidden.
    """

    characters: str
    least: int
    most: int | None
    secret: bool = False

    @property
    def pattern(self) -> str:
        run = f"{self.characters}{{{self.least},{self._most}}}+"
        return f"(?P<secret>{run})" if self.secret else run

    @property
    def begun(self) -> str:
        return rf"{self.characters}{{0,{self._most}}}+\Z"

    @property
    def _most(self) -> str:
        return "" if self.most is None else str(self.most)


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a name: a run that ends where a shell word may end, so it never includes code.

    `characters` is a class in brackets. The run may also contain `$`, except in `$(` or `${`, and `=` in one place and
    at its end: with more of them, the value of every name in `a=a=a=…` would be all that follows.
    """

    characters: str
    least: int
    secret: bool = True

    @property
    def pattern(self) -> str:
        return f"(?P<secret>(?=[$={self.characters[1:]}{{{self.least}}}){self._run})"

    @property
    def begun(self) -> str:
        return rf"(?:{self._run})?+\Z"

    @property
    def _run(self) -> str:
        dollar, run = r"\$(?![({])", f"{self.characters}{{1,256}}+"
        piece = f"(?:{dollar})*+{run}(?:(?:{dollar})++(?:{run})?+){{0,8}}+"
        return f"{piece}(?:=++{piece})?+=*+"


@dataclass(frozen=True, slots=True)
class Repeat:
    """The parts in order, `least` to `most` times (None: any number)."""

    parts: tuple[Part, ...]
    least: int = 0
    most: int | None = 1

    @property
    def pattern(self) -> str:
        return f"(?:{sequence(self.parts)}){{{self.least},{self._most}}}+"

    @property
    def begun(self) -> str:
        """Backtracks over repetitions: the last may be complete only because the text ends where it could continue."""
        return rf"(?:{sequence(self.parts)}){{0,{self._most}}}(?:\Z|{begun(self.parts)})"

    @property
    def _most(self) -> str:
        return "" if self.most is None else str(self.most)


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The first of these sequences that matches."""

    options: tuple[tuple[Part, ...], ...]

    @property
    def pattern(self) -> str:
        return f"(?>{'|'.join(map(sequence, self.options))})"

    @property
    def begun(self) -> str:
        return f"(?:{'|'.join(map(begun, self.options))})"


def sequence(parts: Iterable[Part]) -> str:
    """The parts one after another."""
    return "".join(part.pattern for part in parts)


def begun(parts: Sequence[Part]) -> str:
    """What a text may end with in the middle of the sequence."""
    pattern = ""
    for part in reversed(parts):
        pattern = rf"(?:{part.begun}|{part.pattern}(?:\Z|{pattern}))" if pattern else f"(?:{part.begun})"
    return pattern


def any_of(texts: Iterable[str]) -> str:
    """One of these texts, the longest first; shared beginnings are compared once."""
    return _tree({}, texts, ends_early=False)


def prefixes_of(texts: Iterable[str]) -> str:
    """The beginning of one of these texts, at least one character."""
    return _tree({}, texts, ends_early=True)


_Tree = dict[str, "_Tree"]


def _tree(root: _Tree, texts: Iterable[str], *, ends_early: bool) -> str:
    for text in texts:
        node = root
        for character in text:
            node = node.setdefault(character, {})
        node[""] = {}
    return _as_pattern(root, ends_early)


def _as_pattern(node: _Tree, ends_early: bool) -> str:
    options = []
    for character in sorted(filter(None, node)):
        below = node[character]
        rest = _as_pattern(below, ends_early) if any(below) else ""
        can_end = ends_early or "" in below
        options.append(re.escape(character) + (f"(?:{rest})?" if rest and can_end else rest))
    return f"(?:{'|'.join(options)})"
