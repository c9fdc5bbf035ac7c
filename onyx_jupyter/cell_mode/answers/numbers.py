"""Whether the numbers in an answer occur anywhere: in an output, a cell, the data or the request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation

_SPACES = "\u202f\u00a0"
_MINUS = "\u2212"
_NUMBER = re.compile(
    rf"(?<![\w.])[-+{_MINUS}]?(?:\d{{1,3}}(?:[,{_SPACES}]\d{{3}})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)(?:\s?%)?"
)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_NO_DIGITS = re.compile(rf"[,\s%{_SPACES}]")
# Small whole numbers count things in a sentence ("three groups", "step 1"), and these are common knowledge.
_SMALL = 12
_GENERAL = frozenset(
    map(Decimal, ("0.05", "0.01", "0.1", "0.5", "0.95", "0.99", "1.5", "50", "90", "95", "99", "100", "1000"))
)
_YEARS = range(1900, 2101)
_HUNDRED = Decimal(100)


class Numbers:
    """The allowed numbers: all that occur in these texts, also rounded, as a percentage or without a sign."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._known = {abs(value) for text in texts for value, _ in _numbers(text)}

    def unfounded(self, text: str, *, strict: bool = False) -> str | None:
        """The first number in the text that occurs nowhere, as written; None if all do. Code is ignored.

        `strict` also checks small whole numbers, years and common knowledge: for computed results.
        """
        for found in _NUMBER.finditer(_CODE.sub(" ", text)):
            value, percent = _value(found[0])
            if value is not None and not self._is_known(abs(value), percent, strict):
                return found[0].strip()
        return None

    def _is_known(self, value: Decimal, percent: bool, strict: bool) -> bool:
        is_small = value == value.to_integral() and (value <= _SMALL or value in _YEARS)
        if not strict and (is_small or value in _GENERAL):
            return True
        exponent = value.as_tuple().exponent
        room = Decimal(1).scaleb(min(exponent, 0) if isinstance(exponent, int) else 0) / 2
        ways = [(value, room), (value / _HUNDRED, room / _HUNDRED)]
        ways += [] if percent else [(value * _HUNDRED, room * _HUNDRED)]
        return any(abs(known - meant) <= near for meant, near in ways for known in self._known)


def _numbers(text: str) -> Iterator[tuple[Decimal, bool]]:
    for found in _NUMBER.finditer(text):
        value, percent = _value(found[0])
        if value is not None:
            yield value, percent


def _value(written: str) -> tuple[Decimal | None, bool]:
    """The number, and whether it is a percentage."""
    try:
        return Decimal(_NO_DIGITS.sub("", written).replace(_MINUS, "-")), written.rstrip().endswith("%")
    except InvalidOperation:
        return None, False
