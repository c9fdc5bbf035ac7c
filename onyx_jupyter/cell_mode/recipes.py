"""What small models get wrong about the libraries, in a line each, told where the request is about it."""

from __future__ import annotations

import re

_RECIPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"(?i)(?=.*correlat)(?=.*(?:p[- ]?value|significan|two-tailed|scipy|pearsonr))", re.S),
        "For a p-value: `from scipy.stats import pearsonr`, then `r, p = pearsonr(x, y)` on rows with both values.",
    ),
    (
        re.compile(r"(?i)iqr\b|interquartile", re.S),
        "By the IQR rule: `q1, q3 = x.quantile(0.25), x.quantile(0.75)`, then keep "
        "`x.between(q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1))`.",
    ),
)


def recipes_for(request: str) -> str:
    """The lines that the request needs; most need none."""
    return "\n".join(line for pattern, line in _RECIPES if pattern.search(request))
