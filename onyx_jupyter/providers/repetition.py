"""Notices that an answer goes round in circles, as a tiny model's does once it has nothing more to say.

Penalties for repeated tokens do not help: such an answer is grammatical and says the same in other words, until its
tokens are used up. What gives it away is a sentence that was there before, or one that is made of phrases that were.
"""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_FENCE = "```"
_PHRASE_WORDS = 4
# Short sentences share a phrase by chance, and the items of a list may all begin alike.
_MIN_PHRASES = 3
_MAX_KNOWN_SHARE = 0.4


class Repetition:
    """One answer, piece by piece. Neither code is judged, whose lines repeat on purpose, nor what leads to it."""

    def __init__(self) -> None:
        self._rest = ""
        self._in_code = False
        self._sentences: set[tuple[str, ...]] = set()
        self._phrases: set[tuple[str, ...]] = set()

    def ends_in(self, text: str) -> bool:
        """Whether a sentence that comes to its end in `text`, the next piece, repeats what was said."""
        self._rest += text
        *sentences, self._rest = _SENTENCE_END.split(self._rest)
        return any(self._repeats(sentence.strip()) for sentence in sentences)

    def _repeats(self, sentence: str) -> bool:
        if sentence.startswith(_FENCE):
            self._in_code = not self._in_code
        if self._in_code or sentence.endswith(":"):
            return False
        # Without the numbers: the items of a list differ by theirs.
        words = tuple(re.findall(r"[^\W\d]+", sentence.lower()))
        phrases = {words[at : at + _PHRASE_WORDS] for at in range(len(words) - _PHRASE_WORDS + 1)}
        known = phrases & self._phrases
        again = len(words) > 1 and words in self._sentences
        self._sentences.add(words)
        self._phrases |= phrases
        return again or (len(phrases) >= _MIN_PHRASES and len(known) > _MAX_KNOWN_SHARE * len(phrases))
