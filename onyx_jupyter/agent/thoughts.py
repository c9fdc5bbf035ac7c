"""A model's thoughts before it answers: streamed, and stored with the reply, but never sent in a later request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onyx_jupyter.agent.processor import TextFilter
from onyx_jupyter.clock import Clock
from onyx_jupyter.events import ChatThought, RunEvent

MAX_KEPT_CHARS = 20_000
_APART = "\n\n"


class Thoughts:
    """The thoughts of one model call, passed through the same filters as its answer.

    They may come in several parts: before an answer, and again when a failed call is retried.
    """

    def __init__(
        self,
        run_id: str,
        new_filter: Callable[[], TextFilter],
        emit: Callable[[RunEvent], None],
        clock: Clock,
    ) -> None:
        self._run_id = run_id
        self._new_filter = new_filter
        self._emit = emit
        self._clock = clock
        self._shown: list[str] = []
        self._filter: TextFilter | None = None
        self._lead = ""
        self._began_at: float | None = None
        self._first_word_at: float | None = None
        self._seconds = 0.0

    def add(self, text: str) -> None:
        """Adds a piece of thought; an empty one means that thinking has begun."""
        begins = self._began_at is None
        if self._began_at is None:
            self._began_at = self._clock.monotonic()
        self._filter = self._filter or self._new_filter()
        shown = self._filter.feed(text)
        if shown or begins:
            self._show(shown)

    def part(self) -> None:
        """What follows is another thought, although no answer text came in between."""
        if rest := self._rest():
            self._show(rest)
        self._lead = _APART if self._shown else ""

    def word(self) -> None:
        """Called when answer text arrives."""
        if self._first_word_at is None:
            self._first_word_at = self._clock.monotonic()
        self.end()

    def end(self) -> None:
        """Completes the current thought."""
        if self._began_at is not None:
            self._end(self._rest(), self._began_at)

    def take_back(self, lead: str, sent: str, held: str) -> None:
        """The answer so far was thought: `sent` has been shown as answer, `held` is what a filter still held back."""
        if sent:
            self._shown.append(sent)
            self._emit(ChatThought(self._run_id, lead + sent, was_said=True))
        if self._first_word_at is not None:
            self._end(held, self._first_word_at)

    def meta(self) -> dict[str, Any]:
        """For the reply's entry; a long thought keeps only its beginning and end."""
        text = "".join(self._shown).strip()
        if not text:
            return {}
        if len(text) > MAX_KEPT_CHARS:
            half = MAX_KEPT_CHARS // 2
            left_out = f"[… {len(text) - 2 * half:,} characters are not kept …]"
            text = f"{text[:half].rstrip()}{_APART}{left_out}{_APART}{text[-half:].lstrip()}"
        return {"thought": {"text": text, "seconds": round(self._seconds, 1)}}

    def _rest(self) -> str:
        text_filter, self._filter = self._filter, None
        return text_filter.finish() if text_filter is not None else ""

    def _end(self, rest: str, began_at: float) -> None:
        seconds = max(0.0, self._clock.monotonic() - began_at)
        self._seconds += seconds
        self._show(rest, round(seconds, 1))
        self._began_at = None
        self._lead = _APART if self._shown else ""

    def _show(self, text: str, seconds: float | None = None) -> None:
        if text:
            text, self._lead = self._lead + text, ""
            self._shown.append(text)
        self._emit(ChatThought(self._run_id, text, seconds))
