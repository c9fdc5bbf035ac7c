"""Texts whose words are as frequent as those of English are, the same in every run. They mean nothing."""

from __future__ import annotations

import numpy as np

VOCABULARY = 50_000
_COMMON = """
the of and to in a is that for it was on with as be by at this from have not are or his they which an we you were
her she there been their has will would if more no when who what do can so said its about up into than them could
"""
COMMON_WORDS = tuple(_COMMON.split())
# Mandelbrot's shift: the second word is not half as frequent as the first.
_SHIFT = 2.7


class NaturalText:
    """Draws words by Zipf's law, as Mandelbrot corrected it. Source: Manning and Schütze (1999), 1.4.3."""

    def __init__(self, seed: int) -> None:
        self._numbers = np.random.default_rng(seed)
        letters = np.random.default_rng(0)
        made = ("".join(letters.choice(list("abdegiklmnoprstu"), 4 + n % 7)) for n in range(VOCABULARY))
        self._vocabulary = np.array([*COMMON_WORDS, *made][:VOCABULARY])
        weights = 1 / (np.arange(VOCABULARY) + 1 + _SHIFT)
        self._cumulative = np.cumsum(weights / weights.sum())

    def words(self, count: int) -> str:
        """So many of them."""
        places = np.searchsorted(self._cumulative, self._numbers.random(count))
        return " ".join(self._vocabulary[np.minimum(places, VOCABULARY - 1)].tolist())
