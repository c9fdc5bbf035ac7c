"""The agent's plan as a cell shows it, read from its newest `plan_update`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.magics.tool_words import escaped

PLAN_TOOL = "plan_update"
_MARKS = {"done": "✓", "doing": "▸", "pending": "○", "dropped": "–"}


@dataclass(frozen=True)
class PlanStep:
    """`status`: pending, doing, done or dropped."""

    text: str
    status: str


@dataclass
class Plan:
    """All of its steps; a later plan replaces the earlier one."""

    steps: tuple[PlanStep, ...]

    @property
    def markdown(self) -> str:
        """How many are done, and a list."""
        kept = [step for step in self.steps if step.status != "dropped"]
        done = sum(step.status == "done" for step in kept)
        return "\n".join([f"**Plan** · {done} of {len(kept)}", "", *(_line(step) for step in self.steps)])


def plan_of(arguments: Mapping[str, Any]) -> Plan | None:
    """None if nothing in it can be read as a step."""
    given = arguments.get("steps")
    found = (_step(one) for one in (given if isinstance(given, list) else []))
    steps = tuple(step for step in found if step is not None)
    return Plan(steps) if steps else None


def _step(given: Any) -> PlanStep | None:
    if not isinstance(given, Mapping):
        return None
    text, status = given.get("text"), given.get("status")
    return PlanStep(text, status) if isinstance(text, str) and isinstance(status, str) and status in _MARKS else None


def _line(step: PlanStep) -> str:
    text = escaped(" ".join(step.text.split()))
    return f"- {_MARKS[step.status]} {f'**{text}**' if step.status == 'doing' else text}"
