"""The shape of a secret: fixed words and runs of characters, found in a text or begun at its end. It knows no kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

Span = tuple[int, int, int]
"""Where a match begins, and where the secret in it begins and ends."""


@dataclass(frozen=True, slots=True)
class Words:
    """One of these texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Run:
    """`least` to `most` characters of a class (a regular expression for one); `secret` marks what is hidden."""

    characters: str
    least: int
    most: int
    secret: bool = False


Part = Words | Run
Accepts = Callable[[str, str, str], bool]


def fold(text: str) -> str:
    """Lower case, character for character (`lower` alone makes two of a dotted capital I)."""
    return text.replace("\u0130", "i").lower()


def found_at(text: str, part: str, start: int = 0) -> Iterator[int]:
    """Every place where the part stands, overlapping ones too."""
    place = text.find(part, start)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


@dataclass(frozen=True, eq=False)
class Shape:
    """A kind of secret. The first part is `Words`, so that a search need not look at every character.

    `accepts(secret, before, after)` has the last word, with the characters around the secret (empty at an end of the
    text). `folded` shapes are matched in lower case. None starts behind what `bound` matches (a class of
    characters, or one for it and one for the first of the secret), and `whole` ones never end before a letter or digit.
    """

    kind: str
    parts: tuple[Part, ...]
    accepts: Accepts = lambda secret, before, after: True
    folded: bool = False
    bound: str = "[A-Za-z0-9]"
    whole: bool = False

    @property
    def heads(self) -> tuple[str, ...]:
        """What every match begins with: one of these."""
        first = self.parts[0]
        return first.texts if isinstance(first, Words) else ()

    def spans(self, text: str, folded: str) -> Iterator[Span]:
        """Where the secrets are; `folded` is `fold(text)`."""
        searched = folded if self.folded else text
        past = 0
        for start in _places(searched, self.heads):
            if start < past or self._is_behind_a_letter(text, start):
                continue
            match = self._whole.match(searched, start)
            if match is None:
                continue
            begin, end = match.span("secret" if self._has_part else 0)
            if self._fits(text, begin, end):
                yield start, begin, end
                past = match.end()

    def may_begin(self, text: str, folded: str, start: int) -> bool:
        """Whether a match that starts here may reach beyond the end of the text."""
        searched = folded if self.folded else text
        return not self._is_behind_a_letter(text, start) and self._begun.match(searched, start) is not None

    def _fits(self, text: str, begin: int, end: int) -> bool:
        before, after = text[begin - 1 : begin] if begin else "", text[end : end + 1]
        if self.whole and after.isalnum():
            return False
        return self.accepts(text[begin:end], before, after)

    def _is_behind_a_letter(self, text: str, start: int) -> bool:
        return start > 0 and self.bound != "" and self._bound.match(text, start - 1) is not None

    @cached_property
    def _bound(self) -> re.Pattern[str]:
        return re.compile(self.bound)

    @cached_property
    def _has_part(self) -> bool:
        return any(isinstance(part, Run) and part.secret for part in self.parts)

    @cached_property
    def _whole(self) -> re.Pattern[str]:
        return re.compile("".join(map(_pattern, self.parts)))

    @cached_property
    def _begun(self) -> re.Pattern[str]:
        return re.compile(_beginning(self.parts))


def _places(text: str, heads: Sequence[str]) -> list[int]:
    """Where any of the heads stands, in order."""
    return sorted({place for head in heads for place in found_at(text, head)})


def _pattern(part: Part) -> str:
    if isinstance(part, Words):
        return _any_of(part.texts)
    run = f"{part.characters}{{{part.least},{part.most}}}"
    return f"(?P<secret>{run})" if part.secret else run


def _beginning(parts: Sequence[Part]) -> str:
    """A pattern for whatever the text may end with while a match is under way."""
    pattern = "(?!)"
    for part in reversed(parts):
        if isinstance(part, Words):
            begun = sorted({text[:size] for text in part.texts for size in range(1, len(text) + 1)}, key=len)
            pattern = rf"(?:{_any_of(begun)}\Z|{_any_of(part.texts)}{pattern})"
        else:
            run = part.characters
            pattern = rf"(?:{run}{{0,{part.most}}}\Z|{run}{{{part.least},{part.most}}}{pattern})"
    return pattern


def _any_of(texts: Sequence[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, texts))})"
