"""One model call as the ledger records it: a line of JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from onyx_jupyter.clock import timestamp
from onyx_jupyter.messages import Usage

SCHEMA_VERSION = 1
# Larger figures are no tokens and no dollars: the line is damaged.
_MOST = 10**12
Terms = Literal["paid", "plan", "free"]
"""How a call is paid for: by its tokens, by a subscription, or not at all (the model runs on this machine)."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """`step` counts the calls of the run from 1; 0 outside of one. `usage.cost_usd` is None if the price is unknown."""

    at: datetime
    model: str
    role: str
    usage: Usage
    terms: Terms = "paid"
    session_key: str | None = None
    run_id: str | None = None
    step: int = 0

    @property
    def tokens(self) -> int:
        return self.usage.input_tokens + self.usage.output_tokens

    @property
    def is_unpriced(self) -> bool:
        """Whether it may have cost something, and nobody knows how much."""
        return self.terms == "paid" and self.usage.cost_usd is None


def settled(usage: Usage, terms: Terms) -> Usage:
    """The usage with the cost that follows from the terms."""
    cost_usd = 0.0 if terms == "free" else None if terms == "plan" else usage.cost_usd
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        cost_usd,
        usage.reasoning_tokens,
        plan=True if terms == "plan" else None,
        estimated=usage.estimated,
    )


def call_to_json(call: ModelCall) -> dict[str, Any]:
    """`costUsd` is always there: null says that the price is unknown, or that a subscription pays."""
    line = {
        "v": SCHEMA_VERSION,
        "ts": timestamp(call.at),
        "model": call.model,
        "provider": call.model.partition("/")[0],
        "role": call.role,
        "session": call.session_key,
        "run": call.run_id,
        "step": call.step,
        "inputTokens": call.usage.input_tokens,
        "outputTokens": call.usage.output_tokens,
        "cachedTokens": call.usage.cached_tokens or 0,
        "reasoningTokens": call.usage.reasoning_tokens or 0,
        "costUsd": call.usage.cost_usd,
    }
    flags = {call.terms: call.terms != "paid", "estimated": bool(call.usage.estimated)}
    return line | {name: True for name, is_set in flags.items() if is_set}


def call_from_json(line: Mapping[str, Any]) -> ModelCall | None:
    """None if the line is not a call: a person or a newer version may have written it."""
    texts = [line.get(name) for name in ("ts", "model", "role")]
    counts = [line.get(name, 0) for name in ("inputTokens", "outputTokens", "cachedTokens", "reasoningTokens", "step")]
    cost_usd = line.get("costUsd")
    if not all(isinstance(text, str) for text in texts) or not all(map(_is_count, counts)):
        return None
    if cost_usd is not None and not (_is_number(cost_usd) and 0 <= cost_usd <= _MOST):
        return None
    at, model, role = cast(list[str], texts)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    terms: Terms = "plan" if line.get("plan") is True else "free" if line.get("free") is True else "paid"
    usage = Usage(
        counts[0],
        counts[1],
        counts[2],
        cost_usd,
        counts[3] or None,
        plan=terms == "plan" or None,
        estimated=line.get("estimated") is True or None,
    )
    session_key, run_id = (_text(line.get(name)) for name in ("session", "run"))
    is_dated = moment.tzinfo is not None and 1970 <= moment.year < 9999  # others have no day in every zone
    return ModelCall(moment, model, role, usage, terms, session_key, run_id, counts[4]) if is_dated else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
