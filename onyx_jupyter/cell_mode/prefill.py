"""What a request that a person is still writing will begin with. It asks no model."""

from __future__ import annotations

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.kind_of_request import kind_of
from onyx_jupyter.cell_mode.turn import Turn

# Fewer words do not tell whether it will be about a cell or be answered in words.
_TELLING_WORDS = 3


def known_beginnings(facts: NotebookFacts, turn: Turn) -> list[str]:
    """How the request may begin, as far as it is known; empty texts where only the instructions are.

    `turn.request` is the draft. Where it does not tell enough, what is likelier comes first: a conversation begins with
    a question about the notebook, and goes on with cells. None where no model will be asked.
    """
    if not _tells_enough(turn):
        words = prompts.before_words(facts, turn)
        if facts.unrun:  # it is run first, and is another one then
            return [words]
        cell = prompts.before_cell(facts, turn)
        return [cell, words] if turn.earlier else [words, cell]
    match kind_of(turn.request, facts, follows=bool(turn.earlier)):
        case "words":
            return [prompts.before_words(facts, turn)]
        case "cell":
            return ["" if facts.unrun else prompts.before_cell(facts, turn)]
        case "remember" | "action":  # done without the model's words
            return []


def _tells_enough(turn: Turn) -> bool:
    return len(turn.request.split()) >= _TELLING_WORDS
