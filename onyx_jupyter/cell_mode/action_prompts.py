"""The words around one action: turns that show how a request becomes JSON, its result, and an answer from the result.

Small models follow turns that they see rather than rules that they read. After a change, run `--set actions`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.cell_mode.facts import SkillFact
from onyx_jupyter.messages import Message

_SKILLS = "\n\nSkills:\n"
_SHOWN: tuple[tuple[str, Mapping[str, Any], str, str], ...] = (
    (
        "What do you know about my work?",
        {"action": "search_notes", "query": "my work"},
        "- The team meets on Tuesdays.\n- Writes reports on churn for Anna.",
        "Your team meets on Tuesdays, and you write reports on churn for Anna.",
    ),
    (
        "Make a file party.md with two ideas for a party.",
        {"action": "write_file", "path": "party.md", "content": "- A picnic in the park\n- A quiz about films\n"},
        "Wrote the new file party.md: 2 lines, 43 B.",
        "party.md is written: a picnic in the park, and a quiz about films.",
    ),
    (
        f"Run the skill monthly-bill for May{_SKILLS}- monthly-bill: Adds up a bill. Parameters: month (string)",
        {"action": "run_skill", "name": "monthly-bill", "parameters": {"month": "May"}},
        "Total of May: 310.20",
        "The bill of May comes to 310.20.",
    ),
    (
        "Read plan.txt and tell me who is coming.",
        {"action": "read_file", "path": "plan.txt"},
        "Trip to the sea.\nBen brings the tent, Ada the food.\nWe leave on Friday.",
        "Ben and Ada are coming.",
    ),
)
_RESULT_CHARS = 3_000


def shown_turns() -> list[Message]:
    """Requests with their actions, results and answers."""
    turns = []
    for request, action, result, answer in _SHOWN:
        turns += [Message("user", request), Message("assistant", json.dumps(dict(action)))]
        turns += [Message("user", result_of(result, request)), Message("assistant", answer)]
    return turns


def choose(request: str, skills: Sequence[SkillFact]) -> str:
    """The request, with the skills among which one is meant."""
    lines = [_skill(skill) for skill in skills]
    return f"{request}{_SKILLS}{chr(10).join(lines)}" if lines else request


def result_of(text: str, request: str) -> str:
    """The beginning of it, where it is long, and the request once more: far above, a small model forgets it."""
    return f"The result:\n{_cut(text)}\n\n{request.partition(_SKILLS)[0]}\nAnswer briefly, only from this result."


def go_on_with(text: str, request: str) -> str:
    """What was read, for the action that comes next."""
    return f"The result:\n{_cut(text)}\n\n{request}\nThe file is read; now write the other one."


def _skill(skill: SkillFact) -> str:
    parameters = ", ".join(f"{name} ({kind})" for name, kind in skill.parameters.items())
    return f"- {skill.name}: {skill.description}{f' Parameters: {parameters}' if parameters else ''}"


def _cut(text: str) -> str:
    return text if len(text) <= _RESULT_CHARS else f"{text[:_RESULT_CHARS].rstrip()}\n[…]"
