"""One step of a turn in cell mode: a cell, its repair, the answer from its output, or words. It decides which."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence, Set
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.action_requests import action_request
from onyx_jupyter.cell_mode.action_step import ActionStep
from onyx_jupyter.cell_mode.actions import READ_SKILL, is_action
from onyx_jupyter.cell_mode.cell_draft import drafted
from onyx_jupyter.cell_mode.cell_source import cell_of, problem_in, reading_lines
from onyx_jupyter.cell_mode.column_names import with_exact_columns
from onyx_jupyter.cell_mode.error_hints import error_of, hint_for
from onyx_jupyter.cell_mode.facts import PYTHON, NotebookFacts, for_code, for_words
from onyx_jupyter.cell_mode.figures import figures_of, in_sentences
from onyx_jupyter.cell_mode.imports import missing_imports
from onyx_jupyter.cell_mode.inner import BOLD, CALM, Inner
from onyx_jupyter.cell_mode.kind_of_request import kind_of, names_data, remembered
from onyx_jupyter.cell_mode.mends import mended
from onyx_jupyter.cell_mode.numbers import Numbers
from onyx_jupyter.cell_mode.output_text import cell_id_of, output_of, quoted, says_all, without_pictures
from onyx_jupyter.cell_mode.turn import CREATE, EDIT, INSERT, REMEMBER, RUN_ALL, Turn, refusal_reason
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import Guidance, ModelDone, ModelEvent, ModelProgress, TextDelta, TextWasThought

MAX_REPAIRS = 4
_WRITES = 3
_CELL_TOKENS = 700
_ANSWER_TOKENS = 300
_WORDS_TOKENS = 400
_OPEN_NUMBER = "0123456789.,%-\u2212\u202f\u00a0"
_NO_CELL = "I could not write a cell for this. Say it in other words, or choose a larger model."
_ONLY_SHOWN = "This cell would do it; asked in the chat, in Agent mode, I can insert and run it:"
_NOT_DONE = "Not done, as you wished."
_ONLY_A_PICTURE = "Done: the picture stands below the cell."
_NOTHING_PRINTED = "Done: the cell ran and printed nothing."

Events = AsyncGenerator[ModelEvent, None]


class Step:
    """What comes next in a turn. `offered` are the tools that may be called."""

    def __init__(self, turn: Turn, facts: NotebookFacts, inner: Inner, offered: Set[str]) -> None:
        instructions = (step.result for step in turn.steps if step.call.name == READ_SKILL and step.status == "ok")
        self._turn = replace(turn, context="\n\n".join(filter(None, (turn.context, *instructions))))
        self._facts = facts
        self._inner = inner
        self._offered = offered

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
            return self._say(_shown(f"No notebook could be made for it: {last.result}", last.source, self._facts))
        if last.call.name == REMEMBER:
            return self._say("Noted." if last.status == "ok" else f"It could not be noted: {last.result}")
        if last.status == "ok":
            return self._answer(output_of(last.result))
        if self._can_run and len(turn.failures) <= MAX_REPAIRS:
            return self._repair()
        return self._say(
            f"I did not get this to work; the last try failed with `{error_of(last.result)}`.\n\n"
            "Say how it should be done, or choose a larger model."
        )

    @property
    def _can_run(self) -> bool:
        return INSERT in self._offered and (self._facts.path or self._facts.new_path) is not None

    def _first(self) -> Events:
        kind = kind_of(self._turn.request, self._facts, follows=bool(self._turn.earlier))
        if kind == "remember" and REMEMBER in self._offered:
            return self._call(REMEMBER, {"content": remembered(self._turn.request)})
        if kind == "action":
            return self._action()
        if kind == "words":
            return self._words()
        if self._facts.unrun and self._turn.last is None and self._can_run:
            # What the cells make is not there yet: nothing can be computed from it, and no column is known.
            return self._call(RUN_ALL, {"path": self._facts.path})
        return self._write()

    def _action(self) -> Events:
        """What is about the memory, a skill or a file of text. What a skill instructs to do is done in a cell."""
        turn, last = self._turn, self._turn.last
        if last is not None and last.call.name == READ_SKILL and last.status == "ok":
            return self._write()
        wanted = action_request(turn.request, self._facts, names_data=names_data(turn.request, self._facts))
        if wanted is None:  # a skill that is not there any more
            return self._write()
        return ActionStep(wanted, turn, self._facts, self._inner, self._offered, self._write).events()

    async def _words(self) -> Events:
        """Shown as it comes, up to a number that stands nowhere: then the request goes the way of a cell."""
        known, prompt = Numbers(self._texts()), prompts.in_words(self._facts, self._turn)
        shown = held = ""
        async with aclosing(self._inner.ask(prompt, Guidance(), max_tokens=_WORDS_TOKENS)) as pieces:
            async for piece in pieces:
                if not isinstance(piece, TextDelta):
                    shown, held = ("", "") if isinstance(piece, TextWasThought) else (shown, held)
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
            if held:
                yield TextDelta(held)
            yield self._done()
            return
        if not self._can_run:
            yield TextDelta(f"{held}\n\n*Not verified: {number} stands in nothing that I can see here.*")
            yield self._done()
            return
        if shown.strip():
            yield TextDelta("…\n\n")
        async with aclosing(self._write()) as events:
            async for event in events:
                yield event

    def _write(self) -> Events:
        return self._propose([prompts.write_cell(self._facts, self._turn)])

    def _repair(self) -> Events:
        """Mended by what the error alone tells, else written anew; every other try does not see the failed cell."""
        failed, tried = self._turn.failures[-1], len(self._turn.failures)
        cell_id = cell_id_of(failed.result)
        if self._is_python and (source := mended(failed.source, failed.result, self._facts)) is not None:
            source = self._finished(source)
            if source not in {step.source for step in self._turn.failures}:
                return self._run(source, cell_id)
        error = error_of(failed.result)
        body = failed.source.removeprefix(reading_lines(self._facts)).strip("\n")
        hint = hint_for(error, self._facts) if self._is_python else ""
        ways = [
            prompts.repair_cell(self._facts, self._turn, body, error, hint, show=show)
            for show in (tried % 2 == 1, tried % 2 == 0)
        ]
        return self._propose(ways, tried=tried, cell_id=cell_id)

    async def _propose(self, ways: Sequence[str], *, tried: int = 0, cell_id: str | None = None) -> Events:
        """One cell as a call; where what comes is no Python, or failed before, it is asked for in the next way."""
        begun, source = reading_lines(self._facts), ""
        failed = {step.source for step in self._turn.failures}
        opening = f"```{self._facts.language}\n" + (f"{begun}\n" if begun else "")
        for attempt in range(_WRITES):
            yield ModelProgress("Writing a cell…")
            guidance = Guidance(opening, (prompts.FENCE_END,), seed=1 + tried * _WRITES + attempt)
            temperature = BOLD if tried or attempt else CALM
            prompt = ways[attempt % len(ways)]
            asking = self._inner.ask(prompt, guidance, max_tokens=_CELL_TOKENS, temperature=temperature)
            async with aclosing(drafted(asking, begun)) as events:
                async for event in events:
                    yield event
            source = self._finished(cell_of(self._inner.text, begun))
            if source and source not in failed and (not self._is_python or problem_in(source) is None):
                break
            source = ""
        if not source or not self._can_run:
            yield TextDelta(_shown(_ONLY_SHOWN, source, self._facts) if source else _NO_CELL)
            yield self._done()
            return
        async with aclosing(self._run(source, cell_id)) as events:
            async for event in events:
                yield event

    def _run(self, source: str, cell_id: str | None) -> Events:
        """The cell in the place of the failed one, or at the end; where there is no notebook, one is made for it."""
        cell = {"cellType": "code", "source": source}
        if self._facts.path is None:
            return self._call(CREATE, {"path": self._facts.new_path, "cells": [cell], "run": True})
        where: dict[str, Any] = {"cellId": cell_id, "source": source} if cell_id else cell
        return self._call(EDIT if cell_id else INSERT, {"path": self._facts.path, **where, "run": True})

    @property
    def _is_python(self) -> bool:
        return self._facts.language == PYTHON

    def _finished(self, source: str) -> str:
        """With the names of columns as they are, and the imports that it forgot."""
        if not source or not self._is_python:
            return source
        exact, begun = with_exact_columns(source, self._facts), reading_lines(self._facts)
        known = self._facts.known_names()
        lines = [begun, *missing_imports(exact, known), exact.removeprefix(begun).lstrip("\n")]
        return "\n".join(line for line in lines if line)

    async def _answer(self, output: str) -> Events:
        """Words from the output, and a short output below them word for word. A number that it has not is not said."""
        printed, drawn = without_pictures(output), in_sentences(figures_of(output))
        if not printed:
            yield TextDelta(drawn or (_NOTHING_PRINTED if not output.strip() else _ONLY_A_PICTURE))
            yield self._done()
            return
        known, words = Numbers([printed, self._turn.request]), ""
        prompt = prompts.answer_from(self._turn, printed)
        for attempt, temperature in enumerate((CALM, BOLD), 1):
            guidance = Guidance(grammar=prompts.NO_CODE, seed=attempt)
            asking = self._inner.gather(prompt, guidance, max_tokens=_ANSWER_TOKENS, temperature=temperature)
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            if known.unfounded(self._inner.text, strict=True) is None:
                words = self._inner.text
                break
        below = "" if says_all(words, printed) else quoted(printed)
        yield TextDelta("\n\n".join(part for part in (words.strip(), below, drawn) if part) or _LONG_OUTPUT)
        yield self._done()

    def _after_no(self, reason: str) -> Events:
        if not reason or not self._can_run:
            return self._say(_NOT_DONE)
        wish = f"{self._turn.request}\nThe first cell for it was declined: {reason}"
        self._turn = replace(self._turn, request=wish)
        return self._write()

    async def _say(self, text: str) -> Events:
        yield TextDelta(text)
        yield self._done()

    async def _call(self, name: str, arguments: dict[str, Any]) -> Events:
        yield ModelDone((ToolCall("", name, arguments),), self._inner.usage, "tool_calls")

    def _done(self) -> ModelDone:
        return ModelDone((), self._inner.usage)

    def _texts(self) -> list[str]:
        """All in which a number may stand that is said without a cell."""
        before = [text for one in self._turn.earlier for text in (one.request, one.answer, one.cell)]
        return [for_words(self._facts), for_code(self._facts), self._turn.request, self._turn.context, *before]


_LONG_OUTPUT = "Done: what came out stands below the cell."


def _shown(words: str, source: str, facts: NotebookFacts) -> str:
    return f"{words}\n\n```{facts.language}\n{source}\n```"


def _without_open_number(text: str) -> str:
    """All of the text but a number at its end, which may go on."""
    ended = text.rstrip(_OPEN_NUMBER)
    return ended if any(character.isdigit() for character in text[len(ended) :]) else text
