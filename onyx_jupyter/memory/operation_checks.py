"""What must never come into the memory by itself: secrets, words that steer an assistant, what no person said.

It never asks a model: each check looks at the text alone, so the same operation always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.memory.operations import Check, Operation
from onyx_jupyter.memory.passed_on import addresses, is_order, parted
from onyx_jupyter.security.injected_words import injected_words
from onyx_jupyter.security.secrets_filter import marked

_WORD = re.compile(r"[^\W_]+")
_STEM_CHARS = 4
_LEAST_SHARE = 0.5
# No words of what was said, but of how a memory is put.
_FRAME = frozenset({"user", "pers", "pref", "want", "like", "they", "thei"})
# What has to be exact: addresses, paths, names in code, and anything with three digits or more.
_NAME = re.compile(r"[^\s\"'`()<>\[\]{}|]+")
_EXACT = re.compile(r"://|[@/\\_]|\d.*\d.*\d")
_EDGES = ".,;:!?*"
PASSED_ON = "it may be from a text that you only passed on, and no orders, addresses or paths are taken from there"


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said in a conversation; `id` is the transcript's entry.

    `own` is False for an answer that was given after a tool had brought something in: it may only pass that on.
    """

    id: str
    who: Literal["person", "assistant"]
    text: str
    own: bool = True


def no_secret(redact: Callable[[str], str]) -> Check:
    """Refuses what holds a secret, or the mark that stands in the place of one."""

    def check(operation: Operation) -> str | None:
        for text in (operation.content, operation.section, operation.reason):
            if redact(text) != text or marked(text) is not None:
                return "it holds a secret"
        return None

    return check


def no_steering(operation: Operation) -> str | None:
    """Refuses words that would steer whoever reads the memory."""
    return next(filter(None, map(injected_words, (operation.content, operation.section))), None)


def said_by_a_person(turns: Sequence[Turn], before: Sequence[str] = ()) -> Check:
    """Refuses what does not follow from what a person said in these turns, or agreed to.

    Of what they may only have passed on, here or in a message `before`, facts count, but no orders and no addresses.
    """
    by_id = {turn.id: turn for turn in turns}
    texts = [*before, *(turn.text for turn in turns if turn.who == "person")]
    passed_on = "\n".join(parted(text).passed_on for text in texts)
    return lambda operation: _unfounded(operation, by_id) or _only_passed_on(operation, by_id, passed_on)


def unfounded(text: str, turns: Sequence[Turn]) -> str | None:
    """Why this is not what was said in these turns (those that only pass on something do not count), or None."""
    said = " ".join(turn.text for turn in turns if turn.own)
    if not _has_the_words(said, text):
        return "it is not what was said there"
    known = _exactly(said)
    names = (name.strip(_EDGES) for name in _NAME.findall(text) if _EXACT.search(name))
    missing = next((name for name in names if _exactly(name) not in known), None)
    return None if missing is None else f"nobody said {missing!r} there"


def _unfounded(operation: Operation, by_id: Mapping[str, Turn]) -> str | None:
    cited = [by_id[source] for source in operation.sources if source in by_id]
    words = " ".join(turn.text for turn in cited if turn.who == "person")
    if not words.strip():
        return "it does not follow from anything that you said"
    if operation.op != "add" and set(_stems(operation.item)).isdisjoint(_stems(words)):
        return "what you said there is not about that entry"
    if operation.op == "drop":
        return None
    return unfounded(operation.content, [*cited, Turn("", "person", operation.item)])


def _only_passed_on(operation: Operation, by_id: Mapping[str, Turn], passed_on: str) -> str | None:
    if operation.op == "drop" or not passed_on:
        return None
    cited = [by_id[source] for source in operation.sources if source in by_id]
    own = " ".join([*(parted(turn.text).own for turn in cited if turn.who == "person"), operation.item])
    content, theirs, typed = operation.content, _exactly(passed_on), _exactly(own)
    if any(_exactly(one) in theirs and _exactly(one) not in typed for one in addresses(content)):
        return PASSED_ON
    orders = is_order(content) and _has_the_words(passed_on, content) and not _has_the_words(own, content)
    return PASSED_ON if orders else None


def _has_the_words(said: str, text: str) -> bool:
    stems, wanted = set(_stems(said)), set(_stems(text)) - _FRAME
    return not wanted or len(wanted & stems) >= len(wanted) * _LEAST_SHARE


def _stems(text: str) -> Iterator[str]:
    """The beginnings of longer words; of scripts without spaces each pair of characters."""
    for word in _WORD.findall(text.casefold()):
        if any(ord(character) > 0x2E80 for character in word):
            yield from (word[place : place + 2] for place in range(max(1, len(word) - 1)))
        elif len(word) >= _STEM_CHARS:
            yield word[:_STEM_CHARS]


def _exactly(text: str) -> str:
    return text.casefold().replace(",", "")
