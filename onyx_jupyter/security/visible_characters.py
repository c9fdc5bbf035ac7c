"""Finds what a text hides from its reader: invisible characters, odd spaces, letters that look like others.

The front end does the same with the same tables (labextension/src/shared/visible_characters.ts), which
`python -m onyx_jupyter.security.character_tables` writes; the cases in labextension/tests keep both consistent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from onyx_jupyter.security.character_tables import EMOJI, GREEK, JOINING, SIGNS, WIDE, tables

Kind = Literal["invisible", "space", "look_alike"]
_FLAGS = ("gbeng", "gbsct", "gbwls")
_WORDS = re.compile(r"[\w\u0300-\u036f]+")
_LETTERS = re.compile(r"(?:(?![0-9_])[\w\u0300-\u036f])+")
_LATIN = re.compile("[A-Za-z]")
_BRACKETS = re.compile(r"⟨(?=U\+[0-9A-F])")


class Mark(NamedTuple):
    """`text[start:end]` is one character, or the same one repeated."""

    start: int
    end: int
    kind: Kind


def marks(text: str) -> list[Mark]:
    """Every place that needs a mark, in order.

    Emoji, accents, prose in any script, and joiners within Arabic and Indic words need none.
    """
    found = _finders()
    if found.plain.fullmatch(text):
        return []
    single = [
        *(Mark(at, at + 1, "invisible") for at in _invisible(text, found)),
        *(Mark(at, at + 1, "space") for at in _odd_spaces(text, found)),
        *(Mark(at, at + 1, "look_alike") for at in _look_alikes(text, found)),
    ]
    return list(_joined(text, sorted(single)))


def with_marks(text: str) -> str:
    """The text with `⟨U+202E⟩` in each such place, `⟨U+200B×3⟩` for repetitions; different texts stay different."""
    pieces, past = [], 0
    for start, end in sorted([*((mark.start, mark.end) for mark in marks(text)), *_own_marks(text)]):
        count = f"×{end - start}" if end - start > 1 else ""
        pieces += [text[past:start], f"⟨{label(text[start])}{count}⟩"]
        past = end
    return "".join([*pieces, text[past:]])


def label(character: str) -> str:
    """`U+202E`."""
    return f"U+{ord(character):04X}"


def kinds_in(data: Any) -> set[Kind]:
    """The kinds found in JSON-like data, including field names."""
    if isinstance(data, str):
        return {mark.kind for mark in marks(data)}
    if isinstance(data, Mapping):
        return {kind for pair in data.items() for item in pair for kind in kinds_in(item)}
    if isinstance(data, Iterable) and not isinstance(data, bytes):
        return {kind for item in data for kind in kinds_in(item)}
    return set()


class _Finders(NamedTuple):
    plain: re.Pattern[str]
    invisible: re.Pattern[str]
    spaces: re.Pattern[str]
    look_alikes: re.Pattern[str]
    signs: re.Pattern[str]
    emoji: re.Pattern[str]
    joining: re.Pattern[str]
    wide: re.Pattern[str]
    greek: re.Pattern[str]
    flags: re.Pattern[str]


@cache
def _finders() -> _Finders:
    table = tables()
    looks = [*_ranges(table.look_alikes), *table.styled]
    return _Finders(
        plain=re.compile(r"[\n\t\x20-\x7e]*"),
        invisible=_class((first, last) for first, last, _ in table.invisible),
        spaces=_class((first, last) for first, last, _ in table.spaces),
        look_alikes=_class(looks),
        signs=_class(_ranges("".join(SIGNS.values()))),
        emoji=_class(EMOJI),
        joining=_class(JOINING),
        wide=_class(WIDE),
        greek=_class(GREEK),
        flags=re.compile("|".join(f"\U0001f3f4{_tags(flag)}\U000e007f" for flag in _FLAGS)),
    )


def _class(ranges: Iterable[tuple[int, int]]) -> re.Pattern[str]:
    return re.compile("[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges) + "]")


def _ranges(characters: Iterable[str]) -> list[tuple[int, int]]:
    return [(ord(character), ord(character)) for character in characters]


def _tags(letters: str) -> str:
    return "".join(chr(0xE0000 + ord(letter)) for letter in letters)


def _invisible(text: str, found: _Finders) -> Iterator[int]:
    flags = [match.span() for match in found.flags.finditer(text)]
    for match in found.invisible.finditer(text):
        at = match.start()
        if not (_joins(text, at, found) or any(start < at < end for start, end in flags)):
            yield at


def _joins(text: str, at: int, found: _Finders) -> bool:
    """Whether it is part of an emoji, or joins the letters of a word."""
    character, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if character in "\ufe0e\ufe0f":
        keycap = before != "" and before in "0123456789#*" and after == "\u20e3"
        return keycap or found.emoji.fullmatch(before) is not None
    if character not in "\u200c\u200d":
        return False
    if found.joining.fullmatch(before) and found.joining.fullmatch(after):
        return True
    base = text[at - 2 : at - 1] if before == "\ufe0f" and at > 1 else before
    return character == "\u200d" and bool(found.emoji.fullmatch(base) and found.emoji.fullmatch(after))


def _odd_spaces(text: str, found: _Finders) -> Iterator[int]:
    """The wide space of Chinese and Japanese prose is not odd next to their characters."""
    for match in found.spaces.finditer(text):
        at = match.start()
        around = text[max(0, at - 1) : at + 2]
        if text[at] != "\u3000" or not any(found.wide.fullmatch(character) for character in around):
            yield at


def _look_alikes(text: str, found: _Finders) -> Iterator[int]:
    """Letters in an otherwise Latin word, and signs between Latin letters."""
    for match in found.signs.finditer(text):
        sides = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        if all(_plain(side) for side in sides) and any(side.isalpha() for side in sides):
            yield match.start()
    for word in _WORDS.finditer(text):
        if not (_LATIN.search(word[0]) and found.look_alikes.search(word[0])):
            continue
        for letters in _LETTERS.finditer(word[0]):
            if all(map(found.greek.fullmatch, letters[0])):
                continue  # a separate symbol in a name, such as a rho in front of `_air`
            yield from (
                word.start() + letters.start() + match.start() for match in found.look_alikes.finditer(letters[0])
            )


def _plain(side: str) -> bool:
    return side.isascii() and side.isalnum()


def _joined(text: str, single: Sequence[Mark]) -> Iterator[Mark]:
    """Merges repetitions of a character into one mark."""
    start = 0
    for index, (one, following) in enumerate(pairwise([*single, None]), 1):
        assert one is not None
        if following is None or following.start != one.end or text[following.start] != text[one.start]:
            yield Mark(single[start].start, one.end, one.kind)
            start = index


def _own_marks(text: str) -> list[tuple[int, int]]:
    """Text that itself looks like one of our marks."""
    return [match.span() for match in _BRACKETS.finditer(text)]
