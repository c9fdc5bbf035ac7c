"""Whether two facts say the same, whether the newer one changes the older, or neither. It never embeds.

Vectors lie close where texts are about the same thing, also where one denies the other, names another number or turns
things round. What the words alone show therefore decides what a close pair means.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import Literal

Likeness = Literal["same", "changed"]

_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")
_SHORT = 3
_CONTRACTED = re.compile(r"n['\u2019]t\b")
_EMPTY = frozenset({"a", "an", "the", "user", "users", "s", "i", "my", "is", "are", "am", "was", "were", "does", "do"})
_COMPARING = frozenset({"over", "to", "than", "before", "after", "of", "als", "vor", "nach", "que"})
_DENYING = frozenset(
    {"not", "no", "never", "without", "longer", "dislike", "dislikes", "hate", "hates", "avoid", "avoids", "stopped"}
    | {"nicht", "kein", "keine", "keinen", "nie", "ne", "pas", "jamais", "nunca"}
)


@dataclass(frozen=True, slots=True)
class FactWords:
    """A fact's words without case, accents, punctuation and words that say nothing here.

    `names` are the words that begin with a capital inside of it.
    """

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    names: frozenset[str]
    denies: bool


def fact_words(text: str) -> FactWords:
    """The words of a fact."""
    plain = _CONTRACTED.sub(" not", text.replace("\u2019", "'"))
    found = _WORD.findall(plain)
    folded = [_folded(word) for word in found]
    numbers = tuple(word for word in folded if word[0].isdigit())
    said = (word for word in folded if not word[0].isdigit() and word not in _EMPTY and word not in _DENYING)
    words = tuple(_without_ending(word) for word in said)
    names = frozenset(_folded(word) for word in found[1:] if word[0].isupper() and _folded(word) not in _EMPTY)
    denies = sum(word in _DENYING for word in folded) % 2 == 1
    return FactWords(words, numbers, names, denies)


def likeness(older: FactWords, newer: FactWords, *, close: bool = False) -> Likeness | None:
    """None where they are about different things; `close` says that their vectors nearly agree."""
    if older.words == newer.words and older.words:
        return "changed" if _contradicts(older, newer) else "same"
    if not close or (older.names and newer.names and older.names != newer.names):
        return None
    turned_round = not _COMPARING.isdisjoint(newer.words) and Counter(older.words) == Counter(newer.words)
    return "changed" if turned_round or _contradicts(older, newer) else "same"


def _contradicts(older: FactWords, newer: FactWords) -> bool:
    other_numbers = bool(older.numbers and newer.numbers) and older.numbers != newer.numbers
    return other_numbers or older.denies != newer.denies


def _without_ending(word: str) -> str:
    """English's s of a plural or a third person."""
    return word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith("ss") else word


def _folded(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
