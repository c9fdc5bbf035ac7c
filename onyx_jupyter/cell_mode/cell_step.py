"""The cell of a turn: proposed, repaired, and the answer from what it printed. Tools run it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import aclosing
from itertools import pairwise
from typing import Any

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.answers.figures import describe_figures, figures_of
from onyx_jupyter.cell_mode.answers.numbers import Numbers
from onyx_jupyter.cell_mode.answers.output_text import (
    cell_id_of,
    contains_output,
    only_repeats,
    quoted,
    without_pictures,
)
from onyx_jupyter.cell_mode.cell_source import cell_of, drafted, has_whole_block, is_code, opening_lines, problem_in
from onyx_jupyter.cell_mode.error_hints import error_of, hint_for, missing_modules
from onyx_jupyter.cell_mode.fixes.automatic_fixes import fix_cell
from onyx_jupyter.cell_mode.fixes.finished_cell import finished
from onyx_jupyter.cell_mode.fixes.imports import uses_module
from onyx_jupyter.cell_mode.made_up_data import fabricates_data, mentions_table, only_claims
from onyx_jupyter.cell_mode.notebook_facts import PYTHON, CellFact, NotebookFacts
from onyx_jupyter.cell_mode.plots import draws, wants_plot
from onyx_jupyter.cell_mode.small_model import BOLD, CALM, HOT, Events, Inner
from onyx_jupyter.cell_mode.turn import CREATE, EDIT, INSERT, Step, Turn
from onyx_jupyter.messages import ToolCall
from onyx_jupyter.protocols import Guidance, ModelProgress, TextDelta

# A third or fourth repair never saved a cell that two had not: it only took minutes.
_REPAIRS = 2
_WRITES = 3
# At lower temperatures, a repair is often the failed cell again, word for word, three times over.
_TEMPERATURES = (CALM, BOLD, HOT)
_CELL_TOKENS = 700
_ANSWER_TOKENS = 300
_NO_CELL = "I could not write a cell for this. Say it in other words, or choose a larger model."
_TOO_LONG = "The cell for this became too long to be written to its end. Ask for it in smaller steps."
_GIVEN_UP = (
    "I did not get this to work; the last try failed with `{error}`.\n\n"
    "Say how it should be done, or choose a larger model."
)
_ONLY_SHOWN = "This cell would do it; asked in the chat, in Agent mode, I can insert and run it:"
_ONLY_A_PICTURE = "Done: the picture stands below the cell."
_NOTHING_PRINTED = "Done: the cell ran and printed nothing."
_LONG_OUTPUT = "Done: what came out stands below the cell."
_CHANGES = r"(?:change|edit|fix|update|rewrite|modify|correct|extend|improve|simplify|refactor|in)"
_SAME = re.compile(rf"\b{_CHANGES}\b[^.?!\n]*\b(?:the same|that|this|the last|the previous|your) cell\b", re.IGNORECASE)
_NUMBERED = re.compile(rf"\b{_CHANGES} (?:the )?cell (?P<number>\d+)\b", re.IGNORECASE)


class CellStep:
    """The next step of a request for a cell; if none can be run, the cell is only shown."""

    def __init__(self, turn: Turn, facts: NotebookFacts, inner: Inner, *, can_run: bool) -> None:
        self._turn = turn
        self._facts = facts
        self._inner = inner
        self._can_run = can_run

    def write(self) -> Events:
        """The first cell for the request, or the one that it wants changed."""
        if (cell := cell_to_change(self._turn, self._facts)) is not None:
            prompt = prompts.change_cell(self._facts, self._turn, cell.source)
            return self._propose([prompt], cell_id=cell.id, unlike=cell.source)
        ways = [prompts.write_cell(self._facts, self._turn)]
        if self._turn.earlier and (before := self._turn.earlier[-1].cell):
            ways.append(prompts.change_cell(self._facts, self._turn, before))
        return self._propose(ways)

    @property
    def can_repair(self) -> bool:
        """Whether another try may help. Repairs from the error alone don't count as tries of the model."""
        failures = self._turn.failures
        written = sum(self._repaired(before) != after.source for before, after in pairwise(failures))
        return self._can_run and bool(failures) and (written < _REPAIRS or self._repair() is not None)

    def repair(self) -> Events:
        """Repairs the cell from its error alone, else asks for a new one; every other try omits the failed cell."""
        failed, tried = self._turn.failures[-1], len(self._turn.failures)
        cell_id = cell_id_of(failed.result)
        if (source := self._repair()) is not None:
            return self._run(source, cell_id)
        error = error_of(failed.result)
        body = failed.source.removeprefix(self._opening).strip("\n")
        hint = hint_for(error, self._facts) if self._is_python else ""
        if self._missing and not any(name in error for name in self._missing):
            hint = f"{hint} Not installed here: {', '.join(self._missing)}.".lstrip()
        ways = [
            prompts.repair_cell(self._facts, self._turn, body, error, hint, show=show)
            for show in (tried % 2 == 1, tried % 2 == 0)
        ]
        return self._propose(ways, tried=tried, cell_id=cell_id)

    def answer_failed(self) -> Events:
        """Says how the last cell failed, if one did."""
        return self._inner.answer_text(self._no_cell)

    @property
    def _no_cell(self) -> str:
        if self._turn.failures:
            return _GIVEN_UP.format(error=error_of(self._turn.failures[-1].result))
        return _TOO_LONG if self._inner.is_cut else _NO_CELL

    def _repair(self) -> str | None:
        """The last cell repaired, unless that version has failed before."""
        source = self._repaired(self._turn.failures[-1])
        return None if source in {step.source for step in self._turn.failures} else source

    def _repaired(self, failed: Step) -> str | None:
        source = fix_cell(failed.source, failed.result, self._facts) if self._is_python else None
        return None if source is None else self._finished(source)

    async def _propose(
        self, ways: Sequence[str], *, tried: int = 0, cell_id: str | None = None, unlike: str = ""
    ) -> Events:
        """Proposes one cell as a call; if it is no Python, or failed before, asks for it in the next way."""
        begun, source = self._opening, ""
        failed = {unlike, *(step.source for step in self._turn.failures)}
        opening = f"```{self._facts.language}\n" + (f"{begun}\n" if begun else "")
        for attempt in range(_WRITES):
            yield ModelProgress("Writing a cell…")
            guidance = Guidance(opening, (prompts.FENCE_END,), seed=1 + tried * _WRITES + attempt)
            temperature = _TEMPERATURES[min(bool(tried) + attempt, 2)]
            prompt = ways[attempt % len(ways)]
            asking = self._inner.ask_for_cell(prompt, guidance, max_tokens=_CELL_TOKENS, temperature=temperature)
            async with aclosing(drafted(asking, begun)) as events:
                async for event in events:
                    yield event
            is_part = self._inner.is_cut and not has_whole_block(self._inner.text)
            source = "" if is_part else self._finished(cell_of(self._inner.text, begun))
            if source and source not in failed and self._is_worth_running(source, attempt):
                break
            source = ""
        if not source or not self._can_run:
            yield TextDelta(shown(_ONLY_SHOWN, source, self._facts) if source else self._no_cell)
            yield self._inner.end()
            return
        async with aclosing(self._run(source, cell_id)) as events:
            async for event in events:
                yield event

    def _run(self, source: str, cell_id: str | None) -> Events:
        """Puts the cell in place of the failed one, or at the end; creates a notebook for it if there is none."""
        cell = {"cellType": "code", "source": source}
        if self._facts.path is None:
            return self._inner.call(ToolCall("", CREATE, {"path": self._facts.new_path, "cells": [cell], "run": True}))
        where: dict[str, Any] = {"cellId": cell_id, "source": source} if cell_id else cell
        return self._inner.call(
            ToolCall("", EDIT if cell_id else INSERT, {"path": self._facts.path, **where, "run": True})
        )

    def _is_worth_running(self, source: str, attempt: int) -> bool:
        """The first tries must also draw, differ from earlier cells, and import only installed packages."""
        request, is_first = self._turn.request, attempt < _WRITES - 1
        if is_first and any(one.cell == source and one.request != request for one in self._turn.earlier):
            return False
        if not self._is_python:
            return True
        unasked = [name for name in self._facts.lacking if name not in request.lower()]
        if is_first and uses_module(source, unasked):
            return False
        if problem_in(source) is not None or uses_module(source, self._missing):
            return False
        written = source.removeprefix(self._opening)
        if only_claims(written, request):
            return False
        if (is_first or mentions_table(self._facts, request)) and fabricates_data(written, self._facts, request):
            return False
        return attempt > 0 or draws(source) or not wants_plot(request)

    @property
    def _missing(self) -> tuple[str, ...]:
        return missing_modules(step.result for step in self._turn.failures)

    @property
    def _opening(self) -> str:
        return opening_lines(self._facts, self._turn.request)

    @property
    def _is_python(self) -> bool:
        return self._facts.language == PYTHON

    def _finished(self, source: str) -> str:
        if not source or not self._is_python:
            return source
        return finished(source, self._turn, self._facts, begun=self._opening)

    async def answer(self, output: str) -> Events:
        """Words from the output, with a short output quoted below. Numbers that it doesn't contain are not said."""
        printed, drawn = without_pictures(output), describe_figures(figures_of(output))
        if not printed:
            yield TextDelta(drawn or (_NOTHING_PRINTED if not output.strip() else _ONLY_A_PICTURE))
            yield self._inner.end()
            return
        known, words = Numbers([printed, self._turn.request]), ""
        prompt = prompts.answer_from(self._turn, printed)
        for attempt, temperature in enumerate((CALM, BOLD), 1):
            guidance = Guidance(grammar=prompts.NO_CODE, seed=attempt)
            asking = self._inner.gather(prompt, guidance, max_tokens=_ANSWER_TOKENS, temperature=temperature)
            async with aclosing(asking) as events:
                async for event in events:
                    yield event
            if known.unfounded(self._inner.text, strict=True) is None and not is_code(self._inner.text):
                words = f"{self._inner.text.rstrip()} …" if self._inner.is_cut else self._inner.text
                break
        below = "" if contains_output(words, printed) else quoted(printed)
        words = "" if below and only_repeats(words, printed) else words
        yield TextDelta("\n\n".join(part for part in (words.strip(), below, drawn) if part) or _LONG_OUTPUT)
        yield self._inner.end()


def shown(words: str, source: str, facts: NotebookFacts) -> str:
    """The cell in an answer, if it cannot go into a notebook."""
    return f"{words}\n\n```{facts.language}\n{source}\n```"


def cell_to_change(turn: Turn, facts: NotebookFacts) -> CellFact | None:
    """The cell with that number, or the last one that was run for the user; None if a new cell is wanted."""
    code = [cell for cell in facts.cells if cell.type == "code"]
    if (numbered := _NUMBERED.search(turn.request)) is not None:
        return next((cell for cell in code if cell.number == int(numbered["number"])), None)
    if not _SAME.search(turn.request):
        return None
    made = next((one.cell for one in reversed(turn.earlier) if one.cell), None)
    return next((cell for cell in reversed(code) if cell.source.strip() == (made or "").strip()), None)
