"""Whether two facts say the same, whether the newer one changes the older, or neither. It never embeds.

Vectors lie close where texts are about the same thing, also where one denies the other or names another value:
"left-handed" and "right-handed" are 0.98 alike. What the words show therefore decides what a close pair means, and
where the older one says something that the newer does not, they are never taken for the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.memory.fact_vocabulary import (
    COMPARING,
    DENYING,
    EMPTY,
    FILLING,
    FRENCH_SECOND,
    NUMBERS,
    PAST,
    PERSONS,
    SEVERAL,
    SYNONYMS,
    VALUES,
    VALUES_IN_CAPITALS,
)

Likeness = Literal["same", "changed"]

# A number, a word, or a sign that tells things apart (C and C++, < and >, a minus, a currency).
_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+|(?<!\w)-(?=\d)|[+<>=≤≥≠%#°*^~&@|$€£¥]+")
_SHORT = 3
_CONTRACTED = re.compile(r"n['\u2019]t\b")
_NO_MORE = re.compile(r"\bno (?:longer|more)\b|\bused to\b", re.IGNORECASE)
_ANY_MORE = re.compile(r"\bany ?(?:longer|more)\b|(?<=nicht )mehr\b", re.IGNORECASE)
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class FactWords:
    """A fact's words without case, accents, punctuation and words that say nothing here.

    `values` are its numbers, weekdays, months and signs; `names` the other words that begin with a capital inside of
    it, and those for a person; `content` the words again, one for all that mean the same, in no order.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]
    names: frozenset[str]
    content: frozenset[str]
    denies: bool
    is_past: bool


def fact_words(text: str) -> FactWords:
    """The words of a fact."""
    plain = _CONTRACTED.sub(" not", text.replace("\u2019", "'"))
    found = _WORD.findall(_ANY_MORE.sub(" ", _NO_MORE.sub(" not ", plain)))
    folded = [_folded(word) for word in found]
    values = tuple(value for word in found if (value := _value(word)) is not None)
    said = [word for word in found if _value(word) is None and _folded(word) not in EMPTY | DENYING]
    inside = said[1:] if said and said[0] is found[0] else said
    names = frozenset(_folded(word) for word in inside if word[0].isupper())
    persons = frozenset(_folded(word) for word in said) & PERSONS
    disliked = ("like",) if {"dislike", "dislikes", "hate", "hates"} & set(folded) else ()
    words = (*disliked, *(_without_ending(_folded(word)) for word in said))
    content = frozenset(_meaning(word) for word in words if word not in FILLING)
    return FactWords(words, values, names | persons, content, _denies(folded), not PAST.isdisjoint(folded))


def likeness(older: FactWords, newer: FactWords, *, close: bool = False) -> Likeness | None:
    """None where they are about different things; `close` says that their vectors nearly agree."""
    if older.words == newer.words and older.words:
        return "changed" if _contradicts(older, newer) else "same"
    if not close or (older.names - newer.names and newer.names - older.names):
        return None
    gone, added = older.content - newer.content, newer.content - older.content
    if gone and added and not SEVERAL.isdisjoint(older.content & newer.content) and older.values == newer.values:
        return None
    turned_round = not COMPARING.isdisjoint(newer.words) and Counter(older.words) == Counter(newer.words)
    compares = not COMPARING.isdisjoint(gone | added)
    return "changed" if gone or compares or turned_round or _contradicts(older, newer) else "same"


def are_near(older: FactWords, newer: FactWords) -> bool:
    """Whether they share at least half of the words of the shorter one, so that one may be a change of the other."""
    shorter = min(len(older.content), len(newer.content))
    return shorter > 1 and len(older.content & newer.content) >= _HALF * shorter


def _contradicts(older: FactWords, newer: FactWords) -> bool:
    return older.values != newer.values or older.denies != newer.denies or older.is_past != newer.is_past


def _value(word: str) -> str | None:
    """A number, a weekday, a month or a sign, in one way of writing."""
    folded = _folded(word)
    if not folded[:1].isalpha() or folded in VALUES or (folded in VALUES_IN_CAPITALS and word[0].isupper()):
        return folded
    return NUMBERS.get(folded)


def _denies(folded: list[str]) -> bool:
    """Twice denied is affirmed."""
    denying = [word for word in folded if word in DENYING]
    if not {"ne", "n"}.isdisjoint(folded):
        denying = [word for word in denying if word not in FRENCH_SECOND and word != "ne"] + ["ne"]
    return len(denying) % 2 == 1


def _meaning(word: str) -> str:
    """The word that stands for all that mean the same."""
    found = SYNONYMS.get(word)
    if found is None and len(word) > _SHORT + 1 and word.endswith("ing"):
        stem = word[:-3]
        stem = stem[:-1] if stem[-1:] == stem[-2:-1] and stem[-1] not in "ls" else stem
        found = SYNONYMS.get(stem) or SYNONYMS.get(stem + "e") or stem
    found = found or word
    return found[:-1] if len(found) >= _SHORT and found.endswith("e") and found not in SEVERAL else found


def _without_ending(word: str) -> str:
    """English's s of a plural or a third person."""
    return word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith("ss") else word


def _folded(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
