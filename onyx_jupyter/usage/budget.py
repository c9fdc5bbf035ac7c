"""The budget: what paid models may use up a day and in a conversation, and what to say when it is reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from onyx_jupyter.clock import timestamp
from onyx_jupyter.errors import ModelError
from onyx_jupyter.usage.model_call import Terms
from onyx_jupyter.usage.totals import Sum

WARNING_SHARE = 0.8
BudgetName = Literal["dayUsd", "sessionUsd", "dayTokens", "sessionTokens"]


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """None is no limit, 0 no paid call."""

    day_usd: float | None = None
    session_usd: float | None = None
    day_tokens: int | None = None
    session_tokens: int | None = None

    @property
    def is_set(self) -> bool:
        return self != BudgetLimits()


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One limit and what counts towards it; `resets_at` is None if it lasts as long as the conversation.

    `unpriced_calls` may have cost something that is not part of `used`, in US dollars.
    """

    name: BudgetName
    limit: float
    used: float
    resets_at: datetime | None = None
    unpriced_calls: int = 0

    @property
    def percent(self) -> float:
        """100 or more if it is reached."""
        return 100.0 * self.used / self.limit if self.limit else 100.0

    @property
    def is_reached(self) -> bool:
        return self.used >= self.limit

    @property
    def is_near(self) -> bool:
        return self.used >= WARNING_SHARE * self.limit

    @property
    def in_dollars(self) -> bool:
        return self.name.endswith("Usd")

    def limits(self, terms: Terms) -> bool:
        """Whether it applies to calls on these terms: a subscription is not paid by the call."""
        return terms == "paid" or (terms == "plan" and not self.in_dollars)


def budget_states(limits: BudgetLimits, day: Sum, session: Sum | None, resets_at: datetime) -> list[BudgetState]:
    """The limits that are set; those of a conversation only with its sum."""
    states = []
    if limits.day_usd is not None:
        states.append(BudgetState("dayUsd", limits.day_usd, day.cost_usd, resets_at, day.unpriced_calls))
    if limits.day_tokens is not None:
        states.append(BudgetState("dayTokens", limits.day_tokens, day.budget_tokens, resets_at))
    if session is not None and limits.session_usd is not None:
        used = session.cost_usd
        states.append(BudgetState("sessionUsd", limits.session_usd, used, None, session.unpriced_calls))
    if session is not None and limits.session_tokens is not None:
        states.append(BudgetState("sessionTokens", limits.session_tokens, session.budget_tokens))
    return states


def check_budget(states: Sequence[BudgetState], terms: Terms) -> None:
    """Raises: ModelError (budget) if one that applies is reached."""
    for state in states:
        if state.limits(terms) and state.is_reached:
            raise ModelError("budget", _reached(state), hint=_hint(state), permanent=True)


def warning(state: BudgetState) -> str:
    """For a budget that is nearly used up."""
    stops = f"At the limit, Onyx stops using paid models{_until(state)}."
    return f"{_whose(state)} is nearly used up: {_used(state)}. {stops}"


def _reached(state: BudgetState) -> str:
    if state.limit == 0:
        return f"Paid models are turned off: `security.budget.{state.name}` is 0."
    return f"{_whose(state)} is used up: {_used(state)}."


def _hint(state: BudgetState) -> str:
    ways = [f"raise `security.budget.{state.name}` in onyx.json", "choose a model that runs on this machine (local/…)"]
    if state.limit == 0:
        return f"To continue, {' or '.join(ways)}."
    if state.resets_at is None:
        return f"To continue, start a new conversation, {', or '.join(ways)}."
    return f"Paid models can be used again from {_moment(state.resets_at)}. To continue now, {' or '.join(ways)}."


def _whose(state: BudgetState) -> str:
    return "This conversation's budget" if state.resets_at is None else "Today's budget"


def _used(state: BudgetState) -> str:
    if state.in_dollars:
        return f"${state.used:.2f} of ${state.limit:.2f}"
    return f"{state.used:,} of {state.limit:,} tokens"


def _until(state: BudgetState) -> str:
    return f" until {_moment(state.resets_at)}" if state.resets_at is not None else ""


def _moment(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"


def state_to_json(state: BudgetState) -> dict[str, object]:
    """The state in wire format."""
    return {
        "name": state.name,
        "limit": state.limit,
        "used": state.used,
        "percent": round(state.percent, 1),
        "resetsAt": timestamp(state.resets_at) if state.resets_at is not None else None,
        "unpricedCalls": state.unpriced_calls,
    }
