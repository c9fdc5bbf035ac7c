"""What a request that a person is still writing will begin with. It asks no model."""

from __future__ import annotations

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.kind_of_request import kind_of
from onyx_jupyter.cell_mode.turn import Turn

# Fewer words do not tell whether it will be about a cell or be answered in words.
_TELLING_WORDS = 3


def tells_enough(turn: Turn) -> bool:
    """Whether the notebook is worth looking at; before that, only the instructions are known."""
    return len(turn.request.split()) >= _TELLING_WORDS


def known_beginning(facts: NotebookFacts, turn: Turn) -> str | None:
    """As far as it is known before the request is; empty where only the instructions are, None where nothing is asked.

    `turn.request` is the draft, which tells enough.
    """
    match kind_of(turn.request, facts, follows=bool(turn.earlier)):
        case "words":
            return prompts.before_words(facts, turn)
        case "cell":
            # A notebook that has not run is run first, and is another one then.
            return "" if facts.unrun else prompts.before_cell(facts, turn)
        case "remember" | "action":  # done without the model's words
            return None
