"""The prompts of each request to the model. Each is short and built anew: a small model gets lost in a long one.

The wording was found by experiment; after a change, run the benchmark of data questions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from onyx_jupyter.cell_mode.answers.extremes import extremes_of
from onyx_jupyter.cell_mode.notebook_facts import NotebookFacts
from onyx_jupyter.cell_mode.notebook_text import cells_named, for_code, for_words
from onyx_jupyter.cell_mode.plots import wants_plot
from onyx_jupyter.cell_mode.recipes import recipes_for
from onyx_jupyter.cell_mode.turn import AnsweredRequest, Turn

_EXCHANGES = 2
_CELL_CHARS = 700
_ANSWER_CHARS = 300
_OUTPUT_CHARS = 3_000
_HOW_TO_EXPLAIN = "Answer in a few plain sentences from what stands above."
_OF_A_NOTEBOOK = " Of a notebook, say first whose data it is about."
# As pandas writes the groups of pd.cut: models took half of it for the whole.
_INTERVAL = re.compile(r"[(\[](-?\d[\d.]*), (-?\d[\d.]*)[)\]](?=\s)")
# Requests for words or values in addition to a plot.
_ASKS = re.compile(
    r"\b(?:calculat\w+|comput\w+|determin\w+|find|tell|print|give|report|list|what|which|where|how|why|is|are|does|do)\b",
    re.IGNORECASE,
)
FENCE_END = "\n```"
NO_CODE = "root ::= [^`]+"


def before_cell(facts: NotebookFacts, turn: Turn) -> str:
    """The beginning of each request for a cell: all that is known before the user's words.

    For a wide table, earlier requests decide which columns are included.
    """
    return _cell_prompt_prefix(facts, turn, _all_asked(turn))


def text_prompt_prefix(facts: NotebookFacts, turn: Turn) -> str:
    """The beginning of each request for words."""
    return _joined(for_words(facts, turn.request), _before(turn.earlier, facts.language))


def write_cell(facts: NotebookFacts, turn: Turn) -> str:
    return _joined(
        before_cell(facts, turn),
        _request(turn),
        recipes_for(turn.request, facts),
        f"Now write only the cell that {_to_do(turn.request)}, as one ```{facts.language} block; "
        f"{_to_print(turn.request)}. The answer comes in a later step.",
    )


def _to_do(request: str) -> str:
    """Otherwise a request for a plot was answered with a cell that computes and prints, and vice versa."""
    if not wants_plot(request):
        return "computes and prints what is needed"
    return "draws the plot, and computes and prints what else is asked" if _ASKS.search(request) else "draws the plot"


def _to_print(request: str) -> str:
    if wants_plot(request) and not _ASKS.search(request):
        return "print nothing beside it"
    return "print each value with its name"


def change_cell(facts: NotebookFacts, turn: Turn, source: str) -> str:
    return _joined(
        before_cell(facts, turn),
        f"The cell to change:\n```{facts.language}\n{source}\n```",
        _request(turn),
        recipes_for(turn.request, facts),
        f"Now write the whole changed cell, as one ```{facts.language} block; {_to_print(turn.request)}. "
        "The answer comes in a later step.",
    )


def repair_cell(facts: NotebookFacts, turn: Turn, failed: str, error: str, hint: str, *, show: bool) -> str:
    """`show` False omits the failed cell: seeing it, a small model writes it again."""
    tried = f"This cell was tried:\n```{facts.language}\n{failed}\n```\n" if show else ""
    return _joined(
        _cell_prompt_prefix(facts, turn, f"{_all_asked(turn)}\n{failed}"),
        _request(turn),
        recipes_for(turn.request, facts),
        f"{tried}A cell for it failed: {error}{f' {hint}' if hint else ''}\n"
        f"Write the whole corrected cell, as one ```{facts.language} block; the answer comes in a later step.",
    )


def answer_from(turn: Turn, printed: str) -> str:
    """The output comes last: if the request follows it, the requested form is lost."""
    output = _INTERVAL.sub(r"\1 to \2", printed)
    return _joined(
        f"The request was: {turn.request}",
        "Write the final answer now, in a few words, from the output below, without code. "
        "Where the request gives a form, copy that form and put the values into it.",
        f"The output of the cell that was run for it:\n{_cut(output, _OUTPUT_CHARS)}",
        extremes_of(output, turn.request),
    )


def text_prompt(facts: NotebookFacts, turn: Turn) -> str:
    return _joined(
        text_prompt_prefix(facts, turn),
        f"[Sent along: {turn.context}]" if turn.context else "",
        turn.request,
        _explanation_hint(facts, turn.request) if facts.path else "",
    )


def _explanation_hint(facts: NotebookFacts, request: str) -> str:
    return _HOW_TO_EXPLAIN if cells_named(facts, request) else _HOW_TO_EXPLAIN + _OF_A_NOTEBOOK


def _cell_prompt_prefix(facts: NotebookFacts, turn: Turn, asked: str) -> str:
    shown = [one.cell for one in turn.earlier[-_EXCHANGES:] if len(one.cell) <= _CELL_CHARS]
    known = for_code(facts, asked, request=turn.request, shown=shown)
    return _joined(known, _before(turn.earlier, facts.language))


def _request(turn: Turn) -> str:
    along = f"\n[Sent along: {turn.context}]" if turn.context else ""
    return f"The request: {turn.request}{along}"


def _all_asked(turn: Turn) -> str:
    """All texts in which a column may have been named."""
    before = [text for one in turn.earlier[-_EXCHANGES:] for text in (one.request, one.cell)]
    return "\n".join([*before, turn.request, turn.context])


def _before(earlier: Sequence[AnsweredRequest], language: str) -> str:
    lines = []
    for one in earlier[-_EXCHANGES:]:
        lines.append(f"Asked before: {_cut(one.request, _ANSWER_CHARS)}")
        if one.cell:
            lines.append(f"Its cell:\n```{language}\n{_cut(one.cell, _CELL_CHARS)}\n```")
        if one.answer:
            lines.append(f"Its answer: {_cut(one.answer, _ANSWER_CHARS)}")
    return "\n".join(lines)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[…]\n{text[-limit // 2 :]}"
