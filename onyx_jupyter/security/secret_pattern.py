"""The shape of a kind of secret: finds it in a text, or its beginning at the text's end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from onyx_jupyter.security.pattern_parts import Literals, Part, Run, Value, begun, sequence

Span = tuple[int, int, int]
"""Start of the match, and start and end of the secret in it."""

Accepts = Callable[[str, str, str], bool]

_WITHIN_A_WORD = re.compile("[A-Za-z][a-z]|[A-Z][A-Z]")


def fold(text: str) -> str:
    """Lower case, character for character (`lower` alone makes two of a dotted capital I)."""
    return text.lower() if text.isascii() else text.replace("\u0130", "i").lower()


def found_at(text: str, part: str, start: int = 0) -> Iterator[int]:
    """Every position of the part, including overlapping ones."""
    place = text.find(part, start)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


@dataclass(frozen=True, eq=False)
class SecretPattern:
    """A kind of secret. The first part is `Literals`, so that a search need not look at every character.

    `accepts(secret, before, after)` has the last word: `before` is the match up to the secret, or the character before
    it if the secret is the whole match, `after` the character after it (both empty at an end of the text). `folded`
    shapes are matched in lower case; with `word` their first part never begins inside a word, and `dbPassword` counts
    as two. None starts after a character of the class `bound`, and `whole` ones never end before a letter or digit.

    If a shape is words and an unbounded run that may contain the words again, `accepts` must refuse every ending of
    what it refuses: those are skipped.
    """

    kind: str
    parts: tuple[Part, ...]
    accepts: Accepts = lambda secret, before, after: True
    folded: bool = False
    bound: str = "[A-Za-z0-9]"
    word: bool = False
    whole: bool = False

    @property
    def heads(self) -> tuple[str, ...]:
        """Every match begins with one of these."""
        first = self.parts[0]
        return first.texts if isinstance(first, Literals) else ()

    def spans(self, text: str, folded: str, start: int = 0) -> Iterator[Span]:
        """The secrets that begin at `start` or later; `folded` is `fold(text)`."""
        searched = folded if self.folded else text
        at = start
        while (match := self._pattern.search(searched, at)) is not None:
            first = match.start()
            begin, end = match.span("secret" if self._has_part else 0)
            if self._may_start(text, first) and self._fits(text, first, begin, end):
                yield first, begin, end
                at = match.end()
            else:
                at = match.end() if self._nests_nothing else first + 1

    def begun(self, text: str, folded: str, start: int) -> int:
        """The first position from `start` on of a match that may continue past the text's end; the length if none does.

        A first part that is itself cut off does not count.
        """
        searched = folded if self.folded else text
        if self._nests_nothing:
            ends = (match.start() for match in self._runs.finditer(searched, start) if match.end() == len(text))
            return next(ends, len(text))
        while (match := self._begun.search(searched, start)) is not None:
            if self._may_start(text, match.start()):
                return match.start()
            start = match.start() + 1
        return len(text)

    def starts(self, text: str, start: int) -> bool:
        """Whether one may start there, judging by the character before it."""
        if self.word or not self.bound:
            return self._may_start(text, start)
        return start == 0 or self._bound.match(text, start - 1) is None

    def _fits(self, text: str, start: int, begin: int, end: int) -> bool:
        before, after = text[start:begin] or text[max(0, begin - 1) : begin], text[end : end + 1]
        if self.whole and after.isalnum():
            return False
        return self.accepts(text[begin:end], before, after)

    def _may_start(self, text: str, start: int) -> bool:
        """The check that no pattern covers: it needs the original case of a text that is matched in lower case."""
        return not self.word or start == 0 or _WITHIN_A_WORD.match(text, start - 1) is None

    @cached_property
    def _bound(self) -> re.Pattern[str]:
        return re.compile(self.bound)

    @cached_property
    def _has_part(self) -> bool:
        return any(isinstance(part, Run | Value) and part.secret for part in self.parts)

    @cached_property
    def _nests_nothing(self) -> bool:
        """Whether matches inside a match end where it ends and are less secret, so that they can be skipped."""
        run = self.parts[-1]
        if len(self.parts) != 2 or not isinstance(run, Run) or run.most is not None:
            return False
        return all(re.fullmatch(f"{run.characters}+", head) for head in self.heads)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self._head + sequence(self.parts[1:]))

    @cached_property
    def _begun(self) -> re.Pattern[str]:
        return re.compile(rf"{self._head}(?:\Z|{begun(self.parts[1:])})")

    @cached_property
    def _runs(self) -> re.Pattern[str]:
        (_, run) = self.parts
        assert isinstance(run, Run)
        return re.compile(f"{self._head}{run.characters}*+")

    @property
    def _head(self) -> str:
        """The bound is checked after each head: a pattern that begins with letters is searched much faster."""
        if self.word or not self.bound:
            return f"(?:{'|'.join(map(re.escape, self.heads))})"
        return f"(?:{'|'.join(f'{re.escape(head)}(?<!{self.bound}{re.escape(head)})' for head in self.heads)})"
