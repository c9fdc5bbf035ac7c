"""What a secret's shape is made of: words, runs of characters, and sequences of them. It searches nothing.

Each part takes as much as it can and gives nothing back, so a match takes time linear in what it reads; and whether a
text that ends in the middle of one may go on with it can be told from the parts alone, which is what a stream needs.
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
        """What a text may end with inside of it, the text's end (`\\Z`) included."""
        ...


@dataclass(frozen=True, slots=True)
class Words:
    """The first of these texts that stands there: of two that begin alike, the longer goes first."""

    texts: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"(?>{'|'.join(map(re.escape, self.texts))})"

    @property
    def begun(self) -> str:
        return prefixes_of(self.texts) + r"\Z"


@dataclass(frozen=True, slots=True)
class Run:
    """`least` to `most` characters (None: any number) of a class, a regular expression for one.

    `secret` marks what is hidden; without such a mark it is the whole match.
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
    """What is given to a name: a run that ends where a shell's word may end, so no code is ever a part of it.

    `characters` is a class in brackets. Beside them it may have `$`, unless that begins `$(` or `${`, and `=` in one
    place and at its end: with more of them, every name in `a=a=a=…` would have all that follows for its value.
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
class Several:
    """The parts in their order, `least` to `most` times (None: any number)."""

    parts: tuple[Part, ...]
    least: int = 0
    most: int | None = 1

    @property
    def pattern(self) -> str:
        return f"(?:{sequence(self.parts)}){{{self.least},{self._most}}}+"

    @property
    def begun(self) -> str:
        """Times are given back here: the last may be complete only because the text ends where it could go on."""
        return rf"(?:{sequence(self.parts)}){{0,{self._most}}}(?:\Z|{begun(self.parts)})"

    @property
    def _most(self) -> str:
        return "" if self.most is None else str(self.most)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The first of these sequences that stands there."""

    options: tuple[tuple[Part, ...], ...]

    @property
    def pattern(self) -> str:
        return f"(?>{'|'.join(map(sequence, self.options))})"

    @property
    def begun(self) -> str:
        return f"(?:{'|'.join(map(begun, self.options))})"


def sequence(parts: Iterable[Part]) -> str:
    """The parts one after the other."""
    return "".join(part.pattern for part in parts)


def begun(parts: Sequence[Part]) -> str:
    """Whatever a text may end with while the sequence is under way."""
    pattern = ""
    for part in reversed(parts):
        pattern = rf"(?:{part.begun}|{part.pattern}(?:\Z|{pattern}))" if pattern else f"(?:{part.begun})"
    return pattern


def any_of(texts: Iterable[str]) -> str:
    """One of these texts, the longest first; letters that many begin with are compared once."""
    return _tree({}, texts, ends_early=False)


def prefixes_of(texts: Iterable[str]) -> str:
    """The beginning of one of these texts, of one character or more."""
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
