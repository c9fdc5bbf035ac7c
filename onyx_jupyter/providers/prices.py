"""What a request costs, from LiteLLM's table of prices; an unknown price is None, never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onyx_jupyter.providers.context_window import spellings

# Longer prompts cost more at some providers; the table has a second set of prices for them.
_LONG_TOKENS = 200_000
_LONG = "_above_200k_tokens"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars a token, of the entry for one model in the table."""

    entry: Mapping[str, Any]

    def cost_usd(self, new: int, output: int, *, cached: int = 0, cache_written: int = 0) -> float | None:
        """The cost of a request with that many tokens; `new` ones were neither read from a cache nor written to one."""
        is_long = new + cached + cache_written > _LONG_TOKENS
        rates = [
            self._rate("input_cost_per_token", is_long=is_long),
            self._rate("cache_read_input_token_cost", is_long=is_long),
            self._rate("cache_creation_input_token_cost", is_long=is_long),
            self._rate("output_cost_per_token", is_long=is_long),
        ]
        input_rate, *_, output_rate = rates
        if input_rate is None or (output_rate is None and output):
            return None
        # A provider without a price of its own for cached tokens counts them like others.
        counted = zip((new, cached, cache_written, output), rates, strict=True)
        return sum(tokens * (input_rate if rate is None else rate) for tokens, rate in counted) or None

    def _rate(self, name: str, *, is_long: bool) -> float | None:
        rate = self.entry.get(f"{name}{_LONG}") if is_long else None
        rate = self.entry.get(name) if rate is None else rate
        return float(rate) if isinstance(rate, int | float) else None


UNKNOWN = Price({})


def price_of(table: Mapping[str, Mapping[str, Any]], litellm_name: str) -> Price:
    """The price of a model by LiteLLM's name for it (`anthropic/claude-…`); an unlisted one has none."""
    return Price(next((table[name] for name in spellings(litellm_name) if name in table), {}))
