"""The words by which facts are compared: those that say nothing, deny, stand for a value, or mean the same.

A word missing here makes two close facts look like a change, so the user is asked; a word too many in `EMPTY`, in
`FILLING` or in a group of synonyms merges facts that say different things.
"""

from __future__ import annotations

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
