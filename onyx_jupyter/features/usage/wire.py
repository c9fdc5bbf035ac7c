"""Usage on the socket."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from onyx_jupyter.operations.wire import Wire


class UsageGetParams(Wire):
    """With `sessionKey`, also that conversation's total and its newest turns."""

    days: int = Field(default=30, ge=1, le=366)
    session_key: str | None = None


class UsageSum(Wire):
    """Cached tokens are part of the input, reasoning tokens of the output.

    `cost_usd` adds the known prices; `unpriced_calls` may have cost more. A subscription paid for `plan_calls`, and
    `free_calls` were answered by models on this machine. Of `estimated_calls` the provider gave no figures, or not all.
    """

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: float
    unpriced_calls: int
    plan_calls: int
    free_calls: int
    estimated_calls: int


class UsageDay(Wire):
    """`day` is an ISO date, in the user's time zone."""

    day: str
    total: UsageSum


class UsageCell(Wire):
    """What one model used in one role, over all the days."""

    role: str
    model: str
    total: UsageSum


class UsageStep(Wire):
    """One model call."""

    at: str
    role: str
    model: str
    total: UsageSum


class UsageTurn(Wire):
    """One run with all its model calls."""

    run_id: str
    total: UsageSum
    steps: list[UsageStep]


class UsageSession(Wire):
    """One conversation; `turns` are the newest, in order."""

    total: UsageSum
    turns: list[UsageTurn]


class UsageBudget(Wire):
    """`used` and `limit` are dollars or tokens, by the name. `resets_at` is null for a conversation's limit.

    `unpriced_calls` may have cost something that is not part of `used`.
    """

    name: Literal["dayUsd", "sessionUsd", "dayTokens", "sessionTokens"]
    limit: float
    used: float
    percent: float
    resets_at: str | None = None
    unpriced_calls: int


class UsageReport(Wire):
    """`days` are those with calls, oldest first; `today` is an ISO date."""

    today: str
    days: list[UsageDay]
    cells: list[UsageCell]
    session: UsageSession | None = None
    budget: list[UsageBudget]


class UsageChangedData(Wire):
    pass
