"""What must never come into the memory by itself: secrets, words that steer an assistant, what no person said.

It never asks a model: each check looks at the text alone, so the same operation always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.memory.operations import Check, Operation
from onyx_jupyter.memory.quoted_text import addresses, is_order, parted
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
    Reads all of it at once, however many operations come, so it belongs into a worker thread.
    """
    heard = {turn.id: _heard(turn) for turn in turns}
    texts = [*before, *(turn.text for turn in turns if turn.who == "person")]
    passed_on = _said("\n".join(parted(text).passed_on for text in texts))

    def check(operation: Operation) -> str | None:
        cited = [heard[source] for source in operation.sources if source in heard]
        return _unfounded(operation, cited) or _only_passed_on(operation, cited, passed_on)

    return check


def unfounded(text: str, turns: Sequence[Turn]) -> str | None:
    """Why this is not what was said in these turns (those that only pass on something do not count), or None."""
    return _not_said(text, [_said(turn.text) for turn in turns if turn.own])


@dataclass(frozen=True, slots=True)
class _Said:
    """A text as others are compared with it: the beginnings of its words, and all of it but for case and commas."""

    stems: frozenset[str]
    exactly: str


@dataclass(frozen=True, slots=True)
class _Heard:
    """`typed` is what of the turn its person did not only pass on."""

    turn: Turn
    said: _Said
    typed: _Said


def _heard(turn: Turn) -> _Heard:
    return _Heard(turn, _said(turn.text), _said(parted(turn.text).own if turn.who == "person" else ""))


def _said(text: str) -> _Said:
    return _Said(frozenset(_stems(text)), _exactly(text))


def _unfounded(operation: Operation, cited: Sequence[_Heard]) -> str | None:
    persons = [one.said for one in cited if one.turn.who == "person" and one.turn.text.strip()]
    if not persons:
        return "it does not follow from anything that you said"
    item = _said(operation.item)
    if operation.op != "add" and all(item.stems.isdisjoint(said.stems) for said in persons):
        return "what you said there is not about that entry"
    if operation.op == "drop":
        return None
    return _not_said(operation.content, [*(one.said for one in cited if one.turn.own), item])


def _not_said(text: str, said: Sequence[_Said]) -> str | None:
    if not _has_the_words(said, text):
        return "it is not what was said there"
    names = (name.strip(_EDGES) for name in _NAME.findall(text) if _EXACT.search(name))
    missing = next((name for name in names if not _has_exactly(said, name)), None)
    return None if missing is None else f"nobody said {missing!r} there"


def _only_passed_on(operation: Operation, cited: Sequence[_Heard], passed_on: _Said) -> str | None:
    if operation.op == "drop" or not passed_on.exactly:
        return None
    content, typed = operation.content, [*(one.typed for one in cited), _said(operation.item)]
    if any(_has_exactly([passed_on], one) and not _has_exactly(typed, one) for one in addresses(content)):
        return PASSED_ON
    orders = is_order(content) and _has_the_words([passed_on], content) and not _has_the_words(typed, content)
    return PASSED_ON if orders else None


def _has_the_words(said: Sequence[_Said], text: str) -> bool:
    wanted = set(_stems(text)) - _FRAME
    found = sum(any(stem in one.stems for one in said) for stem in wanted)
    return found >= len(wanted) * _LEAST_SHARE


def _has_exactly(said: Sequence[_Said], text: str) -> bool:
    return any(_exactly(text) in one.exactly for one in said)


def _stems(text: str) -> Iterator[str]:
    """The beginnings of longer words; of scripts without spaces each pair of characters."""
    for word in _WORD.findall(text.casefold()):
        if any(ord(character) > 0x2E80 for character in word):
            yield from (word[place : place + 2] for place in range(max(1, len(word) - 1)))
        elif len(word) >= _STEM_CHARS:
            yield word[:_STEM_CHARS]


def _exactly(text: str) -> str:
    return text.casefold().replace(",", "")
