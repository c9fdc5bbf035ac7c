"""Separates a model's thoughts from its answer while both stream in.

Thoughts come in a separate field or in the text: between `<think>` and `</think>` at its beginning, or before a lone
`</think>` if the chat template has written the opening tag into the prompt. Such a text looks like an answer until the
closing tag: if the model is known for it, all of it is held back until then, otherwise it is taken back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from onyx_jupyter.protocols import ModelEvent, TextDelta, TextWasThinking, ThoughtDelta

_OPEN, _CLOSE = "<think>", "</think>"
_TAG = re.compile(f"{_OPEN}|{_CLOSE}")
_BEGUN = re.compile("|".join(f"{tag[:length]}\\Z" for tag in (_OPEN, _CLOSE) for length in range(len(tag) - 1, 0, -1)))
# Models whose templates open the tag: DeepSeek-R1 with its distillates, QwQ, Qwen3-…-Thinking and the like.
_THINKS_SILENTLY = re.compile(r"deepseek-r1|r1-distill|qwq|thinking", re.IGNORECASE)
_FENCE_CHARS = 16


@dataclass
class ThinkingHabit:
    """Whether a model begins to think without a tag: guessed from its name, then learned from its last answer."""

    is_silent: bool = False

    @classmethod
    def of(cls, model_id: str) -> ThinkingHabit:
        return cls(bool(_THINKS_SILENTLY.search(model_id)))


class ThoughtSplitter:
    """Splits one answer: feed it the pieces, split anywhere, then finish it once. It updates the model's habit."""

    def __init__(self, habit: ThinkingHabit) -> None:
        self._habit = habit
        self._state: Literal["beginning", "thinking", "unsure", "silent", "closed", "answering"] = "beginning"
        self._held = ""  # what may become a tag
        self._blanks: list[str] = []  # the leading ones, later those that may end a thought
        self._silent: list[str] = []
        self._code = _Code()
        self._comes_apart = False
        self._has_thought = False

    def feed(self, text: str, thought: str = "") -> Iterator[ModelEvent]:
        """Returns what has become certain; `thought` came in a separate field, so that the text needs no tags."""
        if thought:
            yield from self._apart()
            yield ThoughtDelta(thought)
        self._held += text
        yield from self._read(at_end=False)

    def finish(self, *, is_whole: bool) -> Iterator[ModelEvent]:
        """What was held back; if the answer broke off, text that may be a thought counts as one."""
        yield from self._read(at_end=True)
        if self._state == "silent":
            text = "".join(self._silent)
            if is_whole:
                self._habit.is_silent = False
                yield TextDelta(text)
            elif text.strip():
                yield ThoughtDelta(text.strip())

    def _apart(self) -> Iterator[ModelEvent]:
        self._comes_apart, self._habit.is_silent = True, False
        if self._state == "silent":
            yield TextDelta("".join(self._silent))
        if self._state in ("silent", "unsure"):
            self._state = "answering"

    def _read(self, *, at_end: bool) -> Iterator[ModelEvent]:
        if self._state == "beginning":
            yield from self._begin(at_end=at_end)
        if self._state == "thinking":
            yield from self._think(at_end=at_end)
        if self._state in ("unsure", "silent"):
            yield from self._find_close(at_end=at_end)
        if self._state == "closed":
            self._held = self._held.lstrip()
            self._state = "answering" if self._held else "closed"
        if self._state == "answering" and self._held:
            yield TextDelta(self._held)
            self._held = ""

    def _begin(self, *, at_end: bool) -> Iterator[ModelEvent]:
        text = self._held.lstrip()
        self._blanks.append(self._held[: len(self._held) - len(text)])
        self._held = text
        if not at_end and any(tag.startswith(text) and tag != text for tag in (_OPEN, _CLOSE)):
            return
        blanks, self._blanks = "".join(self._blanks), []
        if text.startswith(_OPEN):
            self._habit.is_silent = False
            self._state, self._held = "thinking", text[len(_OPEN) :]
        elif text.startswith(_CLOSE):
            self._state, self._held = "closed", text[len(_CLOSE) :]
        elif self._comes_apart or not text:
            self._state, self._held = "answering", blanks + text
        elif self._habit.is_silent:
            self._state, self._held = "silent", blanks + text
            yield ThoughtDelta("")
        else:
            self._state, self._held = "unsure", blanks + text

    def _think(self, *, at_end: bool) -> Iterator[ModelEvent]:
        """Inside an opened thought: the next closing tag ends it, wherever it is."""
        thought, tag, rest = self._held.partition(_CLOSE)
        if tag:
            self._state, self._held = "closed", rest
        else:
            begun = None if at_end else _BEGUN.search(thought)
            thought = thought[: begun.start() if begun else None]
            self._held = self._held[len(thought) :]
        words = thought.rstrip()
        if words:
            yield ThoughtDelta("".join([*self._blanks, words]) if self._has_thought else words.lstrip())
            self._has_thought, self._blanks = True, []
        self._blanks.append(thought[len(words) :])

    def _find_close(self, *, at_end: bool) -> Iterator[ModelEvent]:
        """No tag was opened: a closing one counts if it is outside of code and followed by a blank or the end."""
        while tag := _TAG.search(self._held):
            before, following = self._held[: tag.start()], self._held[tag.end() : tag.end() + 1]
            if not following and not at_end:
                break
            self._code.read(before)
            if tag[0] == _CLOSE and not self._code.inside and (not following or following.isspace()):
                yield from self._close(before)
                self._held = self._held[tag.end() :]
                return
            if tag[0] == _OPEN and self._state == "unsure":  # an answer about tags: none of them counts
                self._state = "answering"
                return
            yield from self._pass(self._held[: tag.end()])
            self._held = self._held[tag.end() :]
        held = None if at_end else tag or _BEGUN.search(self._held)
        text = self._held[: held.start() if held else None]
        self._held = self._held[len(text) :]
        self._code.read(text)
        yield from self._pass(text)

    def _close(self, before: str) -> Iterator[ModelEvent]:
        yield from self._pass(before)
        if self._state == "unsure":
            yield TextWasThinking()
        elif thought := "".join(self._silent).strip():
            yield ThoughtDelta(thought)
        self._state, self._habit.is_silent = "closed", True

    def _pass(self, text: str) -> Iterator[ModelEvent]:
        if self._state == "silent":
            self._silent.append(text)
        elif text:
            yield TextDelta(text)


class _Code:
    """Whether the text so far ends inside Markdown code: between fences, or in a code span on its line."""

    def __init__(self) -> None:
        self._in_fence = False
        self._begin = ""
        self._backticks = 0

    def read(self, text: str) -> None:
        *ended, last = text.split("\n")
        for part in ended:
            self._go_on(part)
            self._in_fence ^= self._begin.lstrip().startswith("```")
            self._begin, self._backticks = "", 0
        self._go_on(last)

    @property
    def inside(self) -> bool:
        return self._in_fence or self._backticks % 2 == 1

    def _go_on(self, part: str) -> None:
        self._begin = (self._begin + part)[:_FENCE_CHARS]
        self._backticks += part.count("`")
