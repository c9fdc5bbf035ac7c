"""Hides text between `<internal>` and `</internal>` from people. Tool calls and results are not filtered."""

from __future__ import annotations

import re

from onyx_jupyter.agent.control_tokens import INTERNAL
from onyx_jupyter.agent.processor import Processor, TextFilter

_MAX_ATTRIBUTES = 100
_ATTRIBUTES = rf"(?:[ \t][^<>\n]{{0,{_MAX_ATTRIBUTES}}})?/?"
_TAG = re.compile(rf"<(?P<closes>/?){INTERNAL}{_ATTRIBUTES}>", re.IGNORECASE)
_BEGUN_NAMES = "|".join(INTERNAL[:length] for length in range(len(INTERNAL)))
_AT_THE_END = re.compile(rf"</?(?:{INTERNAL}{_ATTRIBUTES}>?|{_BEGUN_NAMES})\Z", re.IGNORECASE)
_NAMED_TAG = re.compile(rf"</?{INTERNAL}", re.IGNORECASE)


class InternalTags(Processor):
    """Hides tagged text while it streams, so that it appears in no delta, final or transcript."""

    def text_filter(self) -> TextFilter:
        return InternalTagFilter()


class InternalTagFilter:
    """Passes text outside the tags, however the pieces are split.

    Tags nest; an unclosed one hides everything to the end. A tag that fills a code span (`<internal>` in a sentence
    about it) is shown; in a code block it is a tag as anywhere else.
    """

    def __init__(self) -> None:
        self._held = ""  # a tag, or what may become one, until the next character is known
        self._backticks = 0  # backticks before it on the same line
        self._after_backtick = False
        self._depth = 0
        self._has_hidden = False
        self._has_shown = False

    def feed(self, text: str) -> str:
        buffer = self._held + text
        begun = _AT_THE_END.search(buffer)
        cut = begun.start() if begun else len(buffer)
        self._held = buffer[cut:]
        return self._without_gap(self._outside(buffer[:cut]))

    def finish(self) -> str:
        """Returns what was held back but is not a tag; a tag that only lacks its end stays hidden."""
        held, self._held = self._held, ""
        return "" if _NAMED_TAG.match(held) else self._without_gap(self._pass(held))

    def _outside(self, text: str) -> str:
        start, visible = 0, ""
        for tag in _TAG.finditer(text):
            visible += self._pass(text[start : tag.start()])
            visible += self._pass_tag(tag, text[tag.end() : tag.end() + 1])
            start = tag.end()
        return visible + self._pass(text[start:])

    def _pass(self, text: str) -> str:
        if text:
            _, newline, line = text.rpartition("\n")
            self._backticks = (0 if newline else self._backticks) + line.count("`")
            self._after_backtick = line.endswith("`")
        return text if self._depth == 0 else ""

    def _pass_tag(self, tag: re.Match[str], following: str) -> str:
        if self._after_backtick and self._backticks % 2 == 1 and following == "`":
            return self._pass(tag[0])
        self._after_backtick, self._has_hidden = False, True
        if tag["closes"]:
            self._depth = max(0, self._depth - 1)
        elif not tag[0].endswith("/>"):
            self._depth += 1
        return ""

    def _without_gap(self, text: str) -> str:
        """Removes leading blank lines if the answer began with something hidden."""
        if not self._has_shown:
            text = text.lstrip() if self._has_hidden else text
            self._has_shown = bool(text.strip())
        return text
