"""How to convert text columns of numbers: a conversion that drops unparsable values would lose rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?"),
        "numbers with commas, so `.str.replace(',', '').astype(float)`",
    ),
    (re.compile(rf"{_NUMBER}\s*%"), "percentages, so `.str.rstrip('% ').astype(float)`"),
    (
        re.compile(r"[$€£¥]\s*[-+]?[\d,]+(?:\.\d+)?"),
        r"amounts of money, so `.str.replace(r'[^\d.-]', '', regex=True).astype(float)`",
    ),
    (
        re.compile(rf"{_NUMBER}\s*(?:[\[(].*|[A-Za-z°/]+)", re.S),
        r"text that begins with a number, so `.str.extract(r'([-+]?\d+\.?\d*)')[0].astype(float)`",
    ),
)
_PLAIN = re.compile(_NUMBER)


def conversion_hint(examples: Sequence[str]) -> str:
    """What the values are and how to convert them; empty if they are already numbers, or not numbers at all."""
    odd = [text.strip() for text in examples if not _PLAIN.fullmatch(text.strip())]
    return next((how for form, how in _FORMS if odd and all(form.fullmatch(text) for text in odd)), "")
