"""The likely beginning of the prompt for a request that the user is still writing."""

from __future__ import annotations

from onyx_jupyter.cell_mode import prompts
from onyx_jupyter.cell_mode.facts import NotebookFacts
from onyx_jupyter.cell_mode.kind_of_request import kind_of
from onyx_jupyter.cell_mode.turn import Turn

# Fewer words don't tell whether it needs a cell or words.
_MIN_WORDS = 3


def known_prefixes(facts: NotebookFacts, turn: Turn) -> list[str]:
    """The likely beginnings of the prompt, as far as known; empty texts if only the instructions are.

    `turn.request` is the draft. If it doesn't tell enough, the likelier one comes first: a conversation begins with a
    question about the notebook, and continues with cells. Empty if no model will be asked.
    """
    if not _is_long_enough(turn):
        words = prompts.text_prompt_prefix(facts, turn)
        if facts.unrun:  # it is run first, which changes it
            return [words]
        cell = prompts.before_cell(facts, turn)
        return [cell, words] if turn.earlier else [words, cell]
    match kind_of(turn.request, facts, follows=bool(turn.earlier)):
        case "words":
            return [prompts.text_prompt_prefix(facts, turn)]
        case "cell":
            return ["" if facts.unrun else prompts.before_cell(facts, turn)]
        case "remember" | "action":  # done without the model
            return []


def _is_long_enough(turn: Turn) -> bool:
    return len(turn.request.split()) >= _MIN_WORDS
