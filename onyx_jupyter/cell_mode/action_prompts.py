"""The prompts of actions: example turns that show how a request becomes JSON, and a result an answer.

Small models follow examples rather than rules. They may repeat an example as if it were a finding, so the examples use
names that answers are checked for. After a change, run `--set actions`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onyx_jupyter.cell_mode.notebook_facts import SkillFact
from onyx_jupyter.messages import Message

_SKILLS = "\n\nSkills:\n"
_PLAN = "Trip to the sea.\nOmar brings the tent, Ilse the food.\nWe leave on Friday."
_ACTIONS: tuple[tuple[str, Mapping[str, Any], str, str], ...] = (
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
        _PLAN,
        "Omar and Ilse are coming.",
    ),
)
_ANSWERS: tuple[tuple[str, str, str], ...] = (
    (
        "What do you know about my work?",
        "- The team meets on Tuesdays.\n- Writes reports on churn for Ilse.",
        "Your team meets on Tuesdays, and you write reports on churn for Ilse.",
    ),
    ("Read plan.txt and tell me who is coming.", _PLAN, "Omar and Ilse are coming."),
    ("What does plan.txt say about hotels?", _PLAN, "plan.txt says nothing about hotels."),
)
_RESULT_CHARS = 3_000


def shown_actions() -> list[Message]:
    """Example requests with their actions, results and answers."""
    turns = []
    for request, action, result, answer in _ACTIONS:
        turns += [Message("user", request), Message("assistant", json.dumps(dict(action)))]
        turns += [Message("user", f"The result:\n{result}"), Message("assistant", answer)]
    return turns


def shown_answers() -> list[Message]:
    """Example results with their answers."""
    turns = []
    for request, result, answer in _ANSWERS:
        turns += [Message("user", answer_from(result, request)), Message("assistant", answer)]
    return turns


def choose(request: str, skills: Sequence[SkillFact]) -> str:
    """The request, with the skills to choose from."""
    lines = [_skill(skill) for skill in skills]
    return f"{request}{_SKILLS}{chr(10).join(lines)}" if lines else request


def answer_from(text: str, request: str) -> str:
    """The beginning of a long result; the request comes last, or else it is forgotten."""
    return f"The result:\n{_cut(text)}\n\n{request}\nAnswer briefly, only from this result."


def continuation_prompt(text: str, request: str) -> str:
    """The content that was read, for the next action."""
    return f"The result:\n{_cut(text)}\n\n{request}\nThe file is read; now write the other one."


def _skill(skill: SkillFact) -> str:
    parameters = ", ".join(f"{name} ({kind})" for name, kind in skill.parameters.items())
    return f"- {skill.name}: {skill.description}{f' Parameters: {parameters}' if parameters else ''}"


def _cut(text: str) -> str:
    return text if len(text) <= _RESULT_CHARS else f"{text[:_RESULT_CHARS].rstrip()}\n[…]"
