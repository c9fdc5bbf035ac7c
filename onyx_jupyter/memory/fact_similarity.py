"""Decides from their words whether two facts say the same, or the newer one changes the older, or neither.

Vectors are close if texts are about the same thing, even if one denies the other or names another value: "left-handed"
and "right-handed" have a cosine of 0.98, and one more word may reverse a fact in any language. So the words decide what
a close pair means, and only facts of which neither says more or less are the same.

A word missing below makes two close facts look like a change, so the user is asked; a word too many in `EMPTY`, in
`FILLING` or in a group of synonyms merges facts that say different things.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

EMPTY = frozenset(
    {"a", "an", "the", "user", "users", "s", "i", "my", "is", "are", "am", "was", "were", "does", "do", "did", "n"}
)
"""Words that carry no meaning in any fact."""
THE_USER = frozenset({"user", "users", "i", "my"})
"""Whose fact it is; empty too, except for its position."""
FILLING = frozenset(
    {"at", "that", "which", "it", "its", "they", "their", "be", "been", "being", "now", "currently", "really", "very"}
)
"""Words that carry no meaning if two texts are close anyway."""
PAST = frozenset({"was", "were", "did", "had"})
DENYING = frozenset(
    {"not", "no", "never", "without", "dislike", "dislikes", "hate", "hates", "avoid", "avoids", "stopped", "cannot"}
    | {"nicht", "kein", "keine", "keinen", "nie", "ne", "pas", "jamais", "nunca"}
)
DISLIKING = frozenset({"dislike", "dislikes", "hate", "hates"})
FRENCH_SECOND = frozenset({"pas", "jamais"})
"""No second negation after `ne`."""
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: str(number) for number, word in enumerate(_NUMBERS.split())}
_DAYS_AND_MONTHS = """
    monday tuesday wednesday thursday friday saturday sunday
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo
    january february april june july september october november december
    januar februar marz juni juli oktober dezember
    janvier fevrier avril juin juillet aout septembre octobre novembre decembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
"""
VALUES = frozenset(_DAYS_AND_MONTHS.split())
VALUES_IN_CAPITALS = frozenset({"may", "march", "august", "mai", "mars"})
"""Months that are also other words."""
PERSONS = frozenset(
    {"mother", "father", "parent", "son", "daughter", "sister", "brother", "wife", "husband", "partner", "boss"}
    | {"colleague", "friend", "neighbour", "neighbor", "team", "manager", "teacher", "student", "customer"}
)
"""They say whom a fact is about, like a name."""
SEVERAL = frozenset({"own", "like", "speak", "know", "meet", "met", "read", "visited", "allergic"})
"""A person may have several of these: a new one doesn't end the old one."""
_THE_SAME = """
    like enjoy love
    live reside dwell
    own has have possess
    use utilize utilise employ
    start begin commence
    end finish conclude
    big large
    prefer favour favor
    favourite favorite
    colour color
    photo picture
    film movie
    car automobile
    child children kid
    each every
    purchase buy
    colleague coworker
    short brief concise
    fast quick
    job occupation
    doctor physician
    phone telephone
    plot chart graph diagram
    answer reply response
"""
SYNONYMS = {word: line.split()[0] for line in _THE_SAME.strip().splitlines() for word in line.split()}

Similarity = Literal["same", "changed"]

# A number, a word, or a sign that makes a difference (C and C++, < and >, a minus, a currency).
_WORD = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+|(?<!\w)-(?=\d)|[+<>=≤≥≠%#°*^~&@|$€£¥]+")
_SHORT = 3
_CONTRACTED = re.compile(r"n['\u2019]t\b")
_NO_MORE = re.compile(r"\bno (?:longer|more)\b|\bused to\b", re.IGNORECASE)
_ANY_MORE = re.compile(r"\bany ?(?:longer|more)\b|(?<=nicht )mehr\b", re.IGNORECASE)
_NOT = "not"
_USER = "user"
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class FactWords:
    """A fact's words without case, accents, punctuation and words that carry no meaning here.

    `values`: its numbers, weekdays, months and signs; `names`: the other capitalized words within it, and words for a
    person; `words`: all that are not empty, a value or a denial. `sequence` is everything in order: one word for each
    group of synonyms, with denials and the user at their places, since these decide whose fact it is.
    """

    words: tuple[str, ...]
    values: tuple[str, ...]
    names: frozenset[str]
    sequence: tuple[str, ...]
    is_past: bool

    @property
    def content(self) -> frozenset[str]:
        """What it is about."""
        return frozenset(self.sequence) - {_NOT, _USER, *self.values}


def tokenize_fact(text: str) -> FactWords:
    """The words of a fact."""
    plain = _CONTRACTED.sub(" not", text.replace("\u2019", "'"))
    found = _WORD.findall(_ANY_MORE.sub(" ", _NO_MORE.sub(" not ", plain)))
    folded = [_folded(word) for word in found]
    values = tuple(value for word in found if (value := _value(word)) is not None)
    said = [word for word in found if _value(word) is None and _folded(word) not in EMPTY | DENYING]
    inside = said[1:] if said and said[0] is found[0] else said
    names = frozenset(_folded(word) for word in inside if word[0].isupper())
    persons = frozenset(_folded(word) for word in said) & PERSONS
    disliked = ("like",) if not DISLIKING.isdisjoint(folded) else ()
    words = (*disliked, *(_without_ending(_folded(word)) for word in said))
    return FactWords(
        words, values, names | persons, tuple(_meaningful_words(found)) or words, not PAST.isdisjoint(folded)
    )


def compare_facts(older: FactWords, newer: FactWords, *, close: bool = False) -> Similarity | None:
    """None if they are about different things; `close` says that their vectors nearly agree."""
    same_words = older.words == newer.words and bool(older.words)
    if not same_words and not close:
        return None
    if _are_equivalent(older, newer):
        return "same"
    if same_words:
        return "changed"
    if older.names - newer.names and newer.names - older.names:
        return None
    gone, added = older.content - newer.content, newer.content - older.content
    another_of_several = gone and added and not SEVERAL.isdisjoint(older.content & newer.content)
    return None if another_of_several and older.values == newer.values else "changed"


def are_near(older: FactWords, newer: FactWords) -> bool:
    """Whether they share at least half of the words of the shorter one, so that one may be a change of the other."""
    shorter = min(len(older.content), len(newer.content))
    return shorter > 1 and len(older.content & newer.content) >= _HALF * shorter


def _are_equivalent(older: FactWords, newer: FactWords) -> bool:
    """Whether neither says more than the other, in the same order or rotated."""
    if not older.sequence or older.is_past != newer.is_past:
        return False
    if _beginning_with_the_user(older.sequence) == _beginning_with_the_user(newer.sequence):
        return True
    # With two values, or one word twice ("Monday here, Tuesday there"), the end belongs to what precedes it.
    if len(older.values) > 1 or len(set(older.sequence)) < len(older.sequence):
        return False
    turned = (older.sequence[place:] + older.sequence[:place] for place in range(len(older.sequence)))
    return newer.sequence in turned


def _beginning_with_the_user(sequence: Sequence[str]) -> Sequence[str]:
    """Adds the user as the subject if it was left out."""
    return sequence if sequence[:1] == (_USER,) else (_USER, *sequence)


def _meaningful_words(found: Sequence[str]) -> Iterator[str]:
    is_french = not {"ne", "n"}.isdisjoint(map(_folded, found))
    for word in found:
        folded, value = _folded(word), _value(word)
        if value is not None:
            yield value
        elif folded in THE_USER:
            yield _USER
        elif folded in DENYING or (is_french and folded == "n"):
            if not is_french or folded not in FRENCH_SECOND:
                yield _NOT
            if folded in DISLIKING:
                yield "like"
        elif folded not in EMPTY | FILLING:
            yield _meaning(_without_ending(folded))


def _value(word: str) -> str | None:
    """A number, a weekday, a month or a sign, normalized."""
    folded = _folded(word)
    if not folded[:1].isalpha() or folded in VALUES or (folded in VALUES_IN_CAPITALS and word[0].isupper()):
        return folded
    return NUMBERS.get(folded)


def _meaning(word: str) -> str:
    """The word that represents all its synonyms."""
    found = SYNONYMS.get(word)
    if found is None and len(word) > _SHORT + 1 and word.endswith("ing"):
        stem = word[:-3]
        stem = stem[:-1] if stem[-1:] == stem[-2:-1] and stem[-1] not in "ls" else stem
        found = SYNONYMS.get(stem) or SYNONYMS.get(stem + "e") or stem
    found = found or word
    return found[:-1] if len(found) >= _SHORT and found.endswith("e") and found not in SEVERAL else found


def _without_ending(word: str) -> str:
    """Without the English s of a plural or a third person."""
    return word[:-1] if len(word) > _SHORT and word.endswith("s") and not word.endswith("ss") else word


def _folded(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word.casefold())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))
