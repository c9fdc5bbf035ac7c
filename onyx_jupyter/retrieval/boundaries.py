"""Where a text may be cut: after a sentence, a line, a clause, a word, a character. It knows nothing of Markdown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from onyx_jupyter.text_tokens import token_weight

Boundaries = Callable[[str], Sequence[int]]

# A full stop after one of these does not end a sentence. Single letters (initials, "z. B.") and one or two digits
# (German ordinals, numbered items) are recognized by their form.
_ABBREVIATION_WORDS = """
abs al approx apr art asst aug bd betr bzw ca capt cf ch chap co col corp dec dept dr ed eds eq eqs etc evtl ex exp
feb fig figs ggf gen gov hr hrsg inc incl inkl jan jr jul jun lt ltd max mfg mgr min misc mme mr mrs ms mt nov nr
oct op pp prof pt pvt ref refs rep rev resp s sec sen sep sept sr st str tel univ usf usw vgl viz vol vols vs wg
zb zzt
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
_SENTENCE_END = re.compile(
    r"""[.!?…]+["'”’»)\]]*(?=\s)"""  # scripts with a space after it
    r"""|[。！？｡．]+[」』”’）】》]*"""  # Chinese and Japanese, without a space
    r"""|[।॥؟۔]+"""  # Devanagari, Arabic, Urdu
)
_CLAUSE_END = re.compile(r"[,;:–—](?=\s)|[，；：、،]")
_SPACE = re.compile(r"\s*")
_LAST_SPACE = re.compile(r"\s(?=\S*\Z)")
_LAST_WORD = re.compile(r"[\w.]+$")
_LONGEST_WORD = 24
_MIN_CHARACTER_WEIGHT = 0.25
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_LONGEST_CLUSTER = 32
_PIECES_OF_A_RUN = 5  # of words without punctuation: small enough that a chunk can repeat the last one


def sentence_starts(text: str) -> Sequence[int]:
    """The start of each sentence but the first; abbreviations, decimals and ordinals end none."""
    return [
        _next_word(text, end.end())
        for end in _SENTENCE_END.finditer(text)
        if _ends_sentence(text, end.start(), end.end())
    ]


def line_starts(text: str) -> Sequence[int]:
    """The start of each line but the first."""
    return [match.end() for match in re.finditer(r"\n", text)]


def clause_starts(text: str) -> Sequence[int]:
    """The start of each clause, after a comma or a similar mark."""
    return [_next_word(text, end.end()) for end in _CLAUSE_END.finditer(text)]


PROSE: Sequence[Boundaries] = (sentence_starts, line_starts, clause_starts)
LINES: Sequence[Boundaries] = (line_starts, sentence_starts, clause_starts)


def pieces(text: str, start: int, end: int, max_tokens: int, by: Sequence[Boundaries]) -> Iterator[tuple[int, int]]:
    """Splits `start` to `end` into parts of at most `max_tokens`, at the first kind of boundary that helps."""
    part = text[start:end]
    if token_weight(part) <= max_tokens:
        yield start, end
    elif not by:
        yield from _word_pieces(text, start, end, max(1, max_tokens // _PIECES_OF_A_RUN))
    else:
        inner = sorted({point for point in by[0](part) if 0 < point < len(part)})
        for one, other in pairwise([0, *inner, len(part)]):
            yield from pieces(text, start + one, start + other, max_tokens, by[1:])


def _ends_sentence(text: str, start: int, end: int) -> bool:
    if text[start] == "．":
        return not text[end : end + 1].isdigit()
    following = _next_word(text, end)
    if text[following : following + 1].islower():
        return False
    if text[start:end].rstrip("\"'”’»)]") != ".":
        return True
    last = _LAST_WORD.search(text, max(0, start - _LONGEST_WORD), start)
    word = last[0].rpartition(".")[2].casefold() if last else ""
    is_ordinal = word.isdigit() and len(word) <= 2 and last is not None and last[0] == word
    return not (is_ordinal or (len(word) == 1 and word.isalpha()) or word in _ABBREVIATIONS)


def _next_word(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _word_pieces(text: str, start: int, end: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Cuts between words, and within a word that is too long by itself."""
    longest = int(max_tokens / _MIN_CHARACTER_WEIGHT) + 1
    while start < end:
        stop = start + _fitting(text[start : min(end, start + longest)], max_tokens)
        if stop < end:
            space = _LAST_SPACE.search(text, start + 1, stop)
            stop = space.end() if space else _before_cluster(text, start, stop)
        yield start, stop
        start = stop


def _fitting(text: str, max_tokens: int) -> int:
    """The longest prefix that is not too heavy, in characters; at least one."""
    low, high = 1, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if token_weight(text[:middle]) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return low


def _before_cluster(text: str, start: int, stop: int) -> int:
    """Never cuts between a letter and its accent, nor within a joined emoji, unless the cluster is too long."""
    for place in range(stop, max(start, stop - _LONGEST_CLUSTER), -1):
        if not (unicodedata.combining(text[place]) or text[place] in _JOINERS or text[place - 1] == "\u200d"):
            return place
    return stop
