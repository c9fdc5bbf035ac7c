"""Whether a text contains a value: numbers within a tolerance, words as words. It knows no question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RELATIVE = 0.01
_ABSOLUTE = 1e-6
# A date, a month or a time is one value and not several numbers.
_MOMENT = re.compile(r"(?<![\w.])\d{4}-\d{1,2}(?:-\d{1,2})?(?![\w-])|(?<![\w.])\d{1,2}:\d{2}(?::\d{2})?(?!\w)")
_NUMBER = re.compile(
    r"""(?<![\w.])(?<!\d[\u2009\u202f])     # within no word and no other number
        (?P<sign>(?<!\w)[-+\u2212\u2013])?
        (?P<digits>\d{1,3}(?:[,\u2009\u202f]\d{3})+(?!\d)(?:\.\d+)? | \d+(?:\.\d+)? | \.\d+)
        (?P<power>[eE][-+]?\d+)?
        (?!\.?\d)(?![^\W\d])                 # nor the beginning of one
        (?P<percent>\s?%)?""",
    re.VERBOSE,
)
_FORM = re.compile(r"@+(\w+)\s*\[([^\]]*)\]")
_NONE = re.compile(r"\b(none|nothing|empty|nan)\b|\bno (?!idea|answer)(\w+ )?\w+s\b|\[\]|\(\)", re.IGNORECASE)
_NEGATION = r"(?:not|no|non|isn't|isn’t|never)"
_SHORTEST_ECHO_CHARS = 20


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written, with `decimals` digits after the point."""

    value: float
    decimals: int
    is_percentage: bool = False

    @property
    def readings(self) -> tuple[float, ...]:
        """37 % matches both 37 and 0.37: a share may be given either way."""
        return (self.value, self.value / 100) if self.is_percentage else (self.value,)


def numbers_in(text: str) -> list[Number]:
    """Every number in order of appearance; parts of words, dates and times are excluded."""
    found = []
    for match in _NUMBER.finditer(_MOMENT.sub(" ; ", text)):
        digits = re.sub(r"[,\u2009\u202f]", "", match["digits"])
        sign = "-" if match["sign"] in ("-", "\u2212", "\u2013") else ""
        decimals = 99 if match["power"] else len(digits.partition(".")[2])
        found.append(Number(float(f"{sign}{digits}{match['power'] or ''}"), decimals, bool(match["percent"])))
    return found


def is_near(found: float, wanted: float) -> bool:
    """Within 1 % of the expected value."""
    return abs(found - wanted) <= max(RELATIVE * abs(wanted), _ABSOLUTE)


def stands_in(text: str, value: str, *, rounds: bool = False) -> bool:
    """Whether the value is said: as a number within 1 %, else in these words; an empty one as there being none.

    With `rounds` a number counts, too, that gives the value when it is rounded to as many decimals: a cell shows what
    it has computed with all its digits.
    """
    if not value.strip():
        return _NONE.search(text) is not None
    wanted = _as_number(value)
    if wanted is None:
        return _words_in(value, text)
    given = [reading for number in numbers_in(text) for reading in number.readings]
    return any(is_near(one, aim) or (rounds and _rounds_to(one, wanted)) for one in given for aim in wanted.readings)


def in_form(text: str, name: str, value: str) -> bool:
    """Whether `@name[value]` stands there and says this and nothing else; the last one of that name counts."""
    given = forms(text).get(name)
    if given is None:
        return False
    wanted, found = _as_number(value), _as_number(given)
    if wanted is None:
        return _plain(given) == _plain(value) or (not value.strip() and _NONE.fullmatch(given.strip()) is not None)
    return found is not None and any(is_near(one, aim) for one in found.readings for aim in wanted.readings)


def is_solved(text: str, labels: Sequence[tuple[str, str]]) -> bool:
    """Every label in the requested format."""
    return all(in_form(text, name, value) for name, value in labels)


def is_right(text: str, labels: Sequence[tuple[str, str]], asked: str = "") -> bool:
    """Every label's value is said, in words or in the form; what repeats `asked`, the form's own text, says nothing.

    Where a label stands in the form, it is what stands there that counts.
    """
    said = _without_echo(text, asked)
    given = forms(said)
    words = _FORM.sub(lambda match: f"[{match[2]}]", said)
    return all(in_form(said, name, value) or stands_in(given.get(name, words), value) for name, value in labels)


def is_computed(outputs: Sequence[str], labels: Sequence[tuple[str, str]]) -> bool:
    """Every label's value is in some output."""
    return all(any(stands_in(text, value, rounds=True) for text in outputs) for _, value in labels)


def forms(text: str) -> Mapping[str, str]:
    """The values written as `@name[value]`, by name; the last one wins."""
    return {match[1]: match[2] for match in _FORM.finditer(text)}


def shows_number(text: str, wanted: float, *, share: bool = False) -> bool:
    """Whether the text shows a number that was computed: within 1 %, or rounded to two decimals or more.

    A `share` may be shown as a percentage, with or without its sign.
    """
    return any(_shows(number, wanted, share) for number in numbers_in(text))


def _shows(number: Number, wanted: float, share: bool) -> bool:
    readings = [(number.value, number.decimals)]
    if share or number.is_percentage:
        readings.append((number.value / 100, number.decimals + 2))
    return any(
        is_near(value, wanted) or (decimals >= 2 and abs(value - wanted) <= 0.5001 * 10**-decimals)
        for value, decimals in readings
    )


def _rounds_to(found: float, wanted: Number) -> bool:
    return wanted.decimals > 0 and abs(found - wanted.value) <= 0.5001 * 10**-wanted.decimals


def _as_number(text: str) -> Number | None:
    """The number if the text is nothing else."""
    bare = text.strip().strip("\"'`$").strip()
    match = _NUMBER.fullmatch(bare)
    return numbers_in(bare)[0] if match else None


def _words_in(value: str, text: str) -> bool:
    """As whole words in this order; negated ones do not count."""
    words = _plain(value)
    if not words:
        return value.strip() in text
    pattern = re.compile(rf"(?<!\w)(?P<denied>{_NEGATION} (?:an? )?)?{re.escape(words)}(?!\w)")
    return any(match["denied"] is None for match in pattern.finditer(_plain(text)))


def _plain(text: str) -> str:
    """Lower case, one space between words, no mark around them: `not_sorted` and "Not sorted." are the same."""
    spaced = re.sub(r"[\s_\-\u2010-\u2015]+", " ", text.casefold())
    return re.sub(r"(?<!\w)[\"'`*.]+|[\"'`*.]+(?!\w)", "", spaced).strip(" ,;:!?")


def _without_echo(text: str, asked: str) -> str:
    for line in filter(lambda line: len(line) >= _SHORTEST_ECHO_CHARS, map(str.strip, asked.splitlines())):
        text = text.replace(line, " ")
    return text
