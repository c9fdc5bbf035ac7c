"""Chooses the part of a passage that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

SNIPPET_CHARS = 600
ELLIPSIS = "…"
_WORD = re.compile(r"\w+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SHORTEST_STEM = 4
_LONGEST_ENDING = 3
_COMMON_WORDS = """
a an and are as at be been but by can could did do does for from had has have he her his how i in is it its me my
of on or our she should that the their them they this to was we were what when where which who why will with would
you your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def significant_words(query: str) -> str:
    """The query without common words; the whole query if it has no others."""
    words = _WORD.findall(query)
    return " ".join(word for word in words if word.lower() not in _COMMON) or query


def query_stems(query: str) -> Sequence[str]:
    """Stems of the query's words, so that other forms match too; character pairs for scripts without spaces."""
    stems: list[str] = []
    for word in _WORD.findall(_folded(significant_words(query))):
        if _UNSPACED.search(word) and len(word) > 2:
            stems += [word[place : place + 2] for place in range(len(word) - 1)]
        else:
            stems.append(word[: max(_SHORTEST_STEM, len(word) - _LONGEST_ENDING)])
    return list(dict.fromkeys(stems))


def hits(text: str, stems: Sequence[str]) -> list[tuple[int, str]]:
    """Where words of the text begin with a stem, and the matched stem."""
    if not stems:
        return []
    return [(match.start(), match[0]) for match in _beginnings(tuple(stems)).finditer(_folded(text))]


def coverage(text: str, stems: Sequence[str]) -> float:
    """The share of the stems that the text contains. Source: Cleverdon's coordination level (1966)."""
    return len({stem for _, stem in hits(text, stems)}) / len(stems) if stems else 0.0


def snippet(text: str, stems: Sequence[str], max_chars: int = SNIPPET_CHARS) -> str:
    """At most `max_chars` of the text, around the most different stems; `…` marks omissions."""
    text = text.strip()
    if len(text) <= max_chars:
        return text
    room = max_chars - 2 * len(ELLIPSIS)
    start = _best_start(hits(text, stems), room)
    start = min(start, len(text) - room)
    start = _line_or_word_start(text, start)
    end = start + room
    if end < len(text):
        end = _last_word_end(text, start, end)
    part = text[start:end].strip()
    return f"{ELLIPSIS if start > 0 else ''}{part}{ELLIPSIS if end < len(text) else ''}"


def _folded(text: str) -> str:
    """Lowercase without accents, with unchanged offsets."""
    return text.lower() if text.isascii() else _NOT_ASCII.sub(_folded_letters, text).lower()


def _folded_letters(found: re.Match[str]) -> str:
    return "".join(map(_folded_letter, found[0]))


@lru_cache(maxsize=10_000)
def _folded_letter(letter: str) -> str:
    return unicodedata.normalize("NFD", letter)[0].lower()[:1]


@lru_cache(maxsize=16)
def _beginnings(stems: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that matches the longest of several stems at one place."""
    longest_first = sorted(stems, key=len, reverse=True)
    spaced = [re.escape(stem) for stem in longest_first if not _UNSPACED.search(stem)]
    unspaced = [re.escape(stem) for stem in longest_first if _UNSPACED.search(stem)]
    return re.compile("|".join([rf"\b(?:{'|'.join(spaced)})"] * bool(spaced) + unspaced))


def _best_start(found: Sequence[tuple[int, str]], room: int) -> int:
    """Starts a third of the room before the first hit of the densest stretch, to show what leads to it."""
    if not found:
        return 0
    lead = room // 3
    best, most, end = 0, 0, 0
    for first, (position, _) in enumerate(found):
        end = max(end, first)
        while end < len(found) and found[end][0] < position + room - lead:
            end += 1
        different = len({stem for _, stem in found[first:end]})
        if different > most:
            best, most = position, different
    return max(0, best - lead)


def _line_or_word_start(text: str, start: int) -> int:
    """Back to the beginning of the line if it is near, else forward to the next word."""
    if start <= 0:
        return 0
    line = text.rfind("\n", max(0, start - SNIPPET_CHARS // 10), start)
    if line >= 0:
        return line + 1
    space = re.compile(r"\s").search(text, start, start + SNIPPET_CHARS // 10)
    return space.end() if space else start


def _last_word_end(text: str, start: int, end: int) -> int:
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return space if space > end - SNIPPET_CHARS // 10 else end
