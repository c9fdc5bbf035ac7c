"""The words by which facts are compared: those that say nothing, deny, stand for a value, or mean the same.

It holds words alone, and decides nothing. What is missing here makes of two close facts a change, so that their person
is asked; a word too many in `EMPTY`, in `FILLING` or among those of one meaning joins what says different things.
"""

from __future__ import annotations

EMPTY = frozenset(
    {"a", "an", "the", "user", "users", "s", "i", "my", "is", "are", "am", "was", "were", "does", "do", "did", "n"}
)
"""They say nothing in any fact."""
THE_USER = frozenset({"user", "users", "i", "my"})
"""Whose fact it is; empty too, but for the place in which it stands."""
FILLING = frozenset(
    {"at", "that", "which", "it", "its", "they", "their", "be", "been", "being", "now", "currently", "really", "very"}
)
"""They say nothing where two texts are close anyway."""
PAST = frozenset({"was", "were", "did", "had"})
DENYING = frozenset(
    {"not", "no", "never", "without", "dislike", "dislikes", "hate", "hates", "avoid", "avoids", "stopped", "cannot"}
    | {"nicht", "kein", "keine", "keinen", "nie", "ne", "pas", "jamais", "nunca"}
)
DISLIKING = frozenset({"dislike", "dislikes", "hate", "hates"})
FRENCH_SECOND = frozenset({"pas", "jamais"})
"""They deny nothing anew behind `ne`."""
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
"""Months that are other words, too."""
PERSONS = frozenset(
    {"mother", "father", "parent", "son", "daughter", "sister", "brother", "wife", "husband", "partner", "boss"}
    | {"colleague", "friend", "neighbour", "neighbor", "team", "manager", "teacher", "student", "customer"}
)
"""They say whom a fact is about, as a name does."""
SEVERAL = frozenset({"own", "like", "speak", "know", "meet", "met", "read", "visited", "allergic"})
"""Of these a person may have several: the next one ends none."""
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
