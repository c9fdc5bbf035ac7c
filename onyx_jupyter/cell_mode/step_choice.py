"""One step of a turn in cell mode: decides between a cell, words, or an action, and produces the words."""

from __future__ import annotations

from collections.abc import Set
from contextlib import aclosing
from dataclasses import replace

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.action_requests import action_request
from onyx_jupyter.cell_mode.action_step import ActionStep
from onyx_jupyter.cell_mode.actions import READ_SKILL, is_action
from onyx_jupyter.cell_mode.answers.numbers import Numbers
from onyx_jupyter.cell_mode.answers.output_text import output_of
from onyx_jupyter.cell_mode.cell_step import CellStep, shown
from onyx_jupyter.cell_mode.kind_of_request import kind_of, names_data, remembered
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts
from onyx_jupyter.cell_mode.notebook_text import for_code, for_words
from onyx_jupyter.cell_mode.small_model import Events, Inner
from onyx_jupyter.cell_mode.turn import CREATE, INSERT, REMEMBER, RUN_ALL, Turn, refusal_reason
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import Guidance, TextDelta, TextWasThinking

_WORDS_TOKENS = 400
_OPEN_NUMBER = "0123456789.,%-\u2212\u202f\u00a0"
_CUT = " …\n\n*The answer reached its limit here; ask for the rest.*"
_NOT_DONE = "Not done, as you wished."


class Step:
    """The next step of a turn. `offered` are the tools that may be called."""

    def __init__(self, turn: Turn, facts: NotebookFacts, inner: Inner, offered: Set[str]) -> None:
        instructions = (step.result for step in turn.steps if step.call.name == READ_SKILL and step.status == "ok")
        self._turn = replace(turn, context="\n\n".join(filter(None, (turn.context, *instructions))))
        self._facts = facts
        self._inner = inner
        self._offered = offered

    @property
    def _cell(self) -> CellStep:
        return CellStep(self._turn, self._facts, self._inner, can_run=self._can_run)

    def events(self) -> Events:
        """Ends with one ModelDone: a call, or the end of the answer. Raises: ModelError."""
        turn, last = self._turn, self._turn.last
        if last is None or last.call.name == RUN_ALL:
            return self._first()
        if is_action(last.call.name):
            return self._action()
        if last.status == "denied":
            return self._after_no(refusal_reason(last.result))
        if last.call.name == CREATE and turn.made is None:
            return self._inner.answer_text(
                shown(f"No notebook could be made for it: {last.result}", last.source, self._facts)
            )
        if last.call.name == REMEMBER:
            return self._inner.answer_text("Noted." if last.status == "ok" else f"It could not be noted: {last.result}")
        if last.status == "ok":
            return self._cell.answer(output_of(last.result))
        if self._cell.can_repair:
            return self._cell.repair()
        return self._cell.answer_failed()

    @property
    def _can_run(self) -> bool:
        return INSERT in self._offered and (self._facts.path or self._facts.new_path) is not None

    def _first(self) -> Events:
        kind = kind_of(self._turn.request, self._facts, follows=bool(self._turn.earlier))
        if kind == "remember" and REMEMBER in self._offered:
            return self._inner.call(ToolCall("", REMEMBER, {"content": remembered(self._turn.request)}))
        if kind == "action":
            return self._action()
        if kind == "words":
            return self._words()
        if self._facts.unrun and self._turn.last is None and self._can_run:
            # The cells' results don't exist yet: nothing can be computed from them, and no column is known.
            return self._inner.call(ToolCall("", RUN_ALL, {"path": self._facts.path}))
        return self._cell.write()

    def _action(self) -> Events:
        """An action on the memory, a skill or a text file. What a skill instructs to do is done in a cell."""
        turn, last = self._turn, self._turn.last
        if last is not None and last.call.name == READ_SKILL and last.status == "ok":
            return self._cell.write()
        wanted = action_request(turn.request, self._facts, names_data=names_data(turn.request, self._facts))
        if wanted is None:  # the skill no longer exists
            return self._cell.write()
        return ActionStep(wanted, turn, self._facts, self._inner, self._offered, self._cell.write).events()

    async def _words(self) -> Events:
        """Shown as they arrive, up to a number that occurs nowhere: then a cell is written instead."""
        known, prompt = Numbers(self._texts()), prompts.text_prompt(self._facts, self._turn)
        shown = held = ""
        async with aclosing(self._inner.ask(prompt, Guidance(), max_tokens=_WORDS_TOKENS)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, TextDelta):
                    shown, held = ("", "") if isinstance(piece, TextWasThinking) else (shown, held)
                    yield piece
                    continue
                held += piece.text
                ready = _without_open_number(held)
                if known.unfounded(shown + ready) is not None:
                    break
                shown, held = shown + ready, held[len(ready) :]
                if ready:
                    yield TextDelta(ready)
        number = known.unfounded(shown + held)
        if number is None:
            if held or self._inner.is_cut:
                yield TextDelta(f"{held}{_CUT}" if self._inner.is_cut else held)
            yield self._inner.end()
            return
        if not self._can_run:
            yield TextDelta(f"{held}\n\n*Not verified: {number} stands in nothing that I can see here.*")
            yield self._inner.end()
            return
        if shown.strip():
            yield TextDelta("…\n\n")
        async with aclosing(self._cell.write()) as events:
            async for event in events:
                yield event

    def _after_no(self, reason: str) -> Events:
        if not reason or not self._can_run:
            return self._inner.answer_text(_NOT_DONE)
        wish = f"{self._turn.request}\nThe first cell for it was declined: {reason}"
        self._turn = replace(self._turn, request=wish)
        return self._cell.write()

    def _texts(self) -> list[str]:
        """All texts that a number said without a cell may come from."""
        before = [text for one in self._turn.earlier for text in (one.request, one.answer, one.cell)]
        code = [cell.source for cell in self._facts.cells]
        return [for_words(self._facts), for_code(self._facts), *code, self._turn.request, self._turn.context, *before]


def _without_open_number(text: str) -> str:
    """The text without a number at its end, which may be incomplete."""
    ended = text.rstrip(_OPEN_NUMBER)
    return ended if any(character.isdigit() for character in text[len(ended) :]) else text
