"""Checks for what must never enter the memory: secrets, words that steer an assistant, what no person said.

Each check looks at the text alone, without a model, so the same operation always gets the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.memory.operations import Check, Operation
from onyx_jupyter.memory.quoted_text import addresses, is_order, split_quoted
from onyx_jupyter.security.injected_words import find_injection
from onyx_jupyter.security.secret_redactor import marked

_WORD = re.compile(r"[^\W_]+")
_STEM_CHARS = 4
_MIN_SHARE = 0.5
# Words that phrase a memory rather than repeat what was said.
_FRAME = frozenset({"user", "pers", "pref", "want", "like", "they", "thei"})
# What must match exactly: addresses, paths, names in code, and anything with three digits or more.
_NAME = re.compile(r"[^\s\"'`()<>\[\]{}|]+")
_EXACT = re.compile(r"://|[@/\\_]|\d.*\d.*\d")
_PUNCTUATION = ".,;:!?*"
QUOTED_ONLY = (
    "it may come from a text that you only quoted, and instructions, addresses and paths are not taken from quoted text"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """What someone said in a conversation; `id` is the transcript entry.

    `own` is False for an answer given after a tool brought something in: it may only pass that on.
    """

    id: str
    who: Literal["person", "assistant"]
    text: str
    own: bool = True


def no_secret(redact: Callable[[str], str]) -> Check:
    """Refuses text that contains a secret, or the placeholder for one."""

    def check(operation: Operation) -> str | None:
        for text in (operation.content, operation.section, operation.reason):
            if redact(text) != text or marked(text) is not None:
                return "it contains a secret"
        return None

    return check


def reject_instructions(operation: Operation) -> str | None:
    """Refuses words that would steer an assistant that reads the memory."""
    return next(filter(None, map(find_injection, (operation.content, operation.section))), None)


def grounded_in_user(turns: Sequence[Turn], before: Sequence[str] = ()) -> Check:
    """Refuses what does not follow from what a person said in these turns, or agreed to.

    From text that they may only have passed on, here or in a message in `before`, facts are accepted, but no orders and
    no addresses. Reads all turns at once, however many operations follow, so call it in a worker thread.
    """
    heard = {turn.id: _tokenize_turn(turn) for turn in turns}
    texts = [*before, *(turn.text for turn in turns if turn.who == "person")]
    passed_on = _tokenize("\n".join(split_quoted(text).passed_on for text in texts))

    def check(operation: Operation) -> str | None:
        cited = [heard[source] for source in operation.sources if source in heard]
        return _unfounded(operation, cited) or _quoted_only_reason(operation, cited, passed_on)

    return check


def unfounded(text: str, turns: Sequence[Turn]) -> str | None:
    """Why this is not what was said in these turns (turns that only pass something on don't count), or None."""
    return _ungrounded(text, [_tokenize(turn.text) for turn in turns if turn.own])


@dataclass(frozen=True, slots=True)
class _Said:
    """A text prepared for comparison: the stems of its words, and the whole text without case and commas."""

    stems: frozenset[str]
    exactly: str


@dataclass(frozen=True, slots=True)
class _UserTurn:
    """`typed` is the part of the turn that the user did not only pass on."""

    turn: Turn
    said: _Said
    typed: _Said


def _tokenize_turn(turn: Turn) -> _UserTurn:
    return _UserTurn(turn, _tokenize(turn.text), _tokenize(split_quoted(turn.text).own if turn.who == "person" else ""))


def _tokenize(text: str) -> _Said:
    return _Said(frozenset(_stems(text)), _normalize(text))


def _unfounded(operation: Operation, cited: Sequence[_UserTurn]) -> str | None:
    persons = [one.said for one in cited if one.turn.who == "person" and one.turn.text.strip()]
    if not persons:
        return "nothing you said supports it"
    item = _tokenize(operation.item)
    if operation.op != "add" and all(item.stems.isdisjoint(said.stems) for said in persons):
        return "what you said there is not about this entry"
    if operation.op == "drop":
        return None
    return _ungrounded(operation.content, [*(one.said for one in cited if one.turn.own), item])


def _ungrounded(text: str, said: Sequence[_Said]) -> str | None:
    if not _covers_words(said, text):
        return "it differs from what was said there"
    names = (name.strip(_PUNCTUATION) for name in _NAME.findall(text) if _EXACT.search(name))
    missing = next((name for name in names if not _contains_exactly(said, name)), None)
    return None if missing is None else f"{missing!r} was not mentioned there"


def _quoted_only_reason(operation: Operation, cited: Sequence[_UserTurn], passed_on: _Said) -> str | None:
    if operation.op == "drop" or not passed_on.exactly:
        return None
    content, typed = operation.content, [*(one.typed for one in cited), _tokenize(operation.item)]
    if any(_contains_exactly([passed_on], one) and not _contains_exactly(typed, one) for one in addresses(content)):
        return QUOTED_ONLY
    orders = is_order(content) and _covers_words([passed_on], content) and not _covers_words(typed, content)
    return QUOTED_ONLY if orders else None


def _covers_words(said: Sequence[_Said], text: str) -> bool:
    wanted = set(_stems(text)) - _FRAME
    found = sum(any(stem in one.stems for one in said) for stem in wanted)
    return found >= len(wanted) * _MIN_SHARE


def _contains_exactly(said: Sequence[_Said], text: str) -> bool:
    return any(_normalize(text) in one.exactly for one in said)


def _stems(text: str) -> Iterator[str]:
    """The first characters of longer words; for scripts without spaces, each pair of characters."""
    for word in _WORD.findall(text.casefold()):
        if any(ord(character) > 0x2E80 for character in word):
            yield from (word[place : place + 2] for place in range(max(1, len(word) - 1)))
        elif len(word) >= _STEM_CHARS:
            yield word[:_STEM_CHARS]


def _normalize(text: str) -> str:
    return text.casefold().replace(",", "")
